#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every symbol that rkmm.ko takes from the kernel must be in Documentation/symbols.rst, which says for
# the vendor kernel where it is exported. check-symbols.sh -l prints the symbols instead.

set -u
cd "$(dirname "$0")/../.." || exit 1
doc=Documentation/symbols.rst
make -s --no-print-directory module ARCH=arm64 || exit 1
ko=build/arm64/modules/rkmm.ko
used=$(nm -u $ko | awk '{ print $2 }' | LC_ALL=C sort -u)
if [ "${1-}" = -l ]; then
	echo "$used"
	exit
fi
if [ ! -e $doc ]; then
	echo "$doc is not there to compare with"
	exit 4
fi
missing=$(for s in $used; do grep -qwF -- "$s" $doc || echo "$s"; done)
[ -z "$missing" ] && exit 0
echo "imported, but not in $doc:"
echo "$missing"
exit 1
