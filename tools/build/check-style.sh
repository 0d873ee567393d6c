#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-style.sh checkpatch|kernel-doc [FILE]...: the kernel's own style checks, on every C file or on
# those named.

set -u
cd "$(dirname "$0")/../.." || exit 1
tools/build/deb.sh ktools || exit 1
scripts=build/ktools/scripts
mkdir -p build/check/style
what=${1-}
shift

sources()
{
	if [ $# -gt 0 ]; then
		printf '%s\n' "$@"
	else
		git ls-files -co --exclude-standard -- kmod uapi lib tools selftests | grep -E '\.[ch]$'
	fi | while read -r f; do
		[ -f "$f" ] && echo "$f"
	done
}

# What checkpatch asks for and cannot be had: kernel types and macros in code that is also, or only,
# built outside the kernel; other people's CamelCase (CMUnitTest, _Static_assert); in trace headers the
# form that every trace header has. Tests are checked without --strict, and may use what kselftest's
# macros bring: loops behind ASSERT_x (so braces matter) and returns in macros.
types=PREFER_KERNEL_TYPES,ARRAY_SIZE,BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO
# one process per file, so that all processors work
# shellcheck disable=SC2317 # called through xargs
one()
{
	local ignore=NONE strict=--strict good out

	# what was good stays good until it, or the rules, change
	good=build/check/style/$(cat "$1" tools/build/check-style.sh | sha256sum | cut -c1-32)-${1//\//-}
	[ ! -e "$good" ] || return 0

	case $1 in
	*_trace.h)			ignore=OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT ;;
	kmod/prog/*|kmod/soft/model/*)	ignore=$types ;;
	kmod/*)				;;
	selftests/*)			ignore=$types,CAMELCASE,MSLEEP,ENOSYS,BRACES,MACRO_WITH_FLOW_CONTROL,VOLATILE
					strict= ;;
	*)				ignore=$types,CAMELCASE,MSLEEP,ENOSYS ;;
	esac
	# shellcheck disable=SC2086 # strict may be empty
	out=$(perl $scripts/checkpatch.pl --no-tree $strict --terse --no-summary --show-types \
		--max-line-length=100 --ignore "$ignore" -f "$1" 2>&1)
	[ $? -le 1 ] || out+=" checkpatch failed on $1"
	# it takes the path in __has_include(<a/b>) for arithmetic
	out=$(while IFS=: read -r f n text; do
		[ -n "$f" ] || continue
		[[ $text == *SPACING* ]] && sed -n "${n}p" "$f" | grep -q __has_include && continue
		echo "$f:$n:$text"
	done <<< "$out")
	if [ -n "$out" ]; then
		echo "$out"
	else
		: > "$good"
	fi
}
export -f one
export scripts types

case $what in
checkpatch)
	out=$(sources "$@" | xargs -r -P "$(nproc)" -I{} bash -c 'one {}') ;;
kernel-doc)
	# what others call; tests keep their comments as they like
	out=$(sources "$@" | grep -v ^selftests/ | xargs -r -P "$(nproc)" -n 4 perl $scripts/kernel-doc -none -Werror 2>&1) ;;
*)
	echo "usage: check-style.sh checkpatch|kernel-doc [FILE]..." >&2
	exit 1 ;;
esac
rm -f .checkpatch-camelcase.*
[ -z "$out" ] && exit 0
sort <<< "$out"
exit 1
