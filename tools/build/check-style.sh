#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-style.sh checkpatch|kernel-doc: the kernel's own style checks, on every C file.

set -u
cd "$(dirname "$0")/../.." || exit 1
tools/build/deb.sh ktools || exit 1
scripts=build/ktools/scripts
sources()
{
	git ls-files -co --exclude-standard -- kmod uapi lib tools selftests | grep -E "$1" |
		while read -r f; do [ -f "$f" ] && echo "$f"; done
}

case ${1-} in
checkpatch)
	# one process per file, so that both processors work
	out=$(sources '\.[ch]$' | xargs -r -P "$(nproc)" -n 1 \
		perl $scripts/checkpatch.pl --no-tree --strict --terse --no-summary --show-types --max-line-length=100 -f 2>&1)
	;;
kernel-doc)
	out=$(sources '\.[ch]$' | xargs -r -P "$(nproc)" -n 4 perl $scripts/kernel-doc -none -Werror 2>&1)
	;;
*)
	echo "usage: check-style.sh checkpatch|kernel-doc" >&2
	exit 1
	;;
esac
[ -z "$out" ] && exit 0
sort <<< "$out"
exit 1
