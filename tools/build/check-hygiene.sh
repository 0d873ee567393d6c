#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Rules about the sources that no compiler knows.

set -u
cd "$(dirname "$0")/../.." || exit 1
rc=0
complain()
{
	echo "$1:"
	sed 's/^/  /'
	rc=1
}

# files of the project: what git knows or would take
files=$(git ls-files -co --exclude-standard 2>/dev/null | while read -r f; do [ -f "$f" ] && echo "$f"; done)
[ -n "$files" ] || files=$(find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%P\n')

# report TEXT: complain about the lines on standard input, if there are any
report()
{
	local text=$1 lines

	lines=$(cat)
	[ -z "$lines" ] || complain "$text" <<< "$lines"
}

report "no SPDX line among the first three" < <(
	for f in $files; do
		case $f in
		LICENSES/*|*.md|*.npy|*.txt|*.words|*.json|*.sample.log|*.bin|*/.gitignore|selftests/settings|*/corpus/*|tools/debian/[!r]*|tools/debian/rkmm-*) continue ;;
		esac
		head -n 3 "$f" | grep -aq 'SPDX-License-Identifier:' || echo "$f"
	done)

spdx() # PATTERN LICENCE
{
	report "licence is not $2" < <(
		for f in $files; do
			# shellcheck disable=SC2053 # a pattern
			[[ $f == $1 && $f == *.[ch] ]] || continue
			head -n 1 "$f" | grep -qE "SPDX-License-Identifier: ($2)" || echo "$f"
		done)
}
spdx 'kmod/*' 'GPL-2.0-only'
spdx 'uapi/*' 'MIT'
spdx 'lib/*' 'MIT'
spdx 'tools/*' 'MIT'
spdx 'selftests/*' 'GPL-2.0|MIT'

c_files=$(grep -E '\.[ch]$' <<< "$files")
kmod_files=$(grep -E '^kmod/.*\.[ch]$' <<< "$files")
[ -n "$kmod_files" ] || kmod_files=/dev/null

report "kernel version tested outside kmod/compat" < <(
	# shellcheck disable=SC2086
	grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION\(' $kmod_files | grep -v '^kmod/compat/')
report "the software NPU reads the emitter's headers" < <(
	grep -rnE '#include .*(prog/|rkmm_prog|rkmm_regs|rkmm_fields)' kmod/soft --include='*.[ch]' 2>/dev/null)
report "the emitter reads the software NPU's headers" < <(
	grep -rnE '#include .*(soft/|npu_model)' kmod/prog --include='*.[ch]' 2>/dev/null)
report "trailing blanks" < <(
	# shellcheck disable=SC2046
	grep -nE '[[:blank:]]+$' $(grep -vE '^LICENSES/|\.npy$|\.bin$|/corpus/' <<< "$files") /dev/null | grep -v '^Binary' | cut -c1-120)
report "no newline at the end" < <(
	for f in $c_files Makefile dkms.conf; do
		[ -z "$(tail -c1 "$f")" ] || echo "$f"
	done)
report "unfinished" < <(
	# shellcheck disable=SC2086
	grep -nE '\b(TODO|FIXME|XXX)\b' $c_files /dev/null)

v=$(sed -n 's/^VERSION := //p' Makefile)
report "versions differ from the Makefile's $v" < <(
	grep -H '^PACKAGE_VERSION=' dkms.conf | grep -v "\"$v\""
	# shellcheck disable=SC2086
	grep -H 'MODULE_VERSION("' $kmod_files | grep -v "\"$v\""
	grep -HE '^	return "[0-9.]+";$' lib/error.c | grep -v "\"$v\""
	grep -H '^version=' tools/bringup/rkmm-bringup | grep -v "=$v$"
	head -n 1 tools/debian/changelog | grep -v "^rkmm ($v)")

if command -v shellcheck > /dev/null; then
	# shellcheck disable=SC2046
	shellcheck -x -P SCRIPTDIR -S warning $(for f in $files; do
		[ -f "$f" ] && head -c 64 "$f" | grep -aqE '^#!/bin/(ba)?sh' && echo "$f"; done) || rc=1
fi

[ $rc = 0 ] && echo "clean"
exit $rc
