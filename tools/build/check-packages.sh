#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The packages for a board: built, looked at by lintian, a program compiled against them, then
# installed, used and purged in a small Debian on the virtual board. rkmm-dkms: check-dkms.sh.

set -eu
cd "$(dirname "$0")/../.."
share=build/check/packages
rm -rf "$share"
mkdir -p "$share/debs" "$share/dev"
make --no-print-directory deb ARCH=arm64
lintian --fail-on error build/packages/arm64/*.changes
tools/build/deb.sh minimal

find build/packages/arm64 -name '*.deb' ! -name '*-dbgsym*' -exec cp -t "$share/debs" {} +
for p in librkmm1 librkmm-dev; do
	dpkg -x "$share/debs/$p"_*.deb "$share/dev"
done
cross=aarch64-linux-gnu-
[ "$(dpkg --print-architecture)" != arm64 ] || cross=
${cross}gcc -Wall -Wextra -Werror -isystem build/include -I"$share/dev/usr/include/rkmm" -o "$share/use" lib/example.c \
	-L"$share/dev/usr/lib/aarch64-linux-gnu" -lrkmm \
	-Wl,-rpath-link,build/deb/root/usr/lib/aarch64-linux-gnu:build/deb/root/lib/aarch64-linux-gnu
ln build/deb/minimal.tar "$share/"
cp tools/build/packages-guest.sh "$share/run"
VBOARD_NO_BUILD=1 tools/vboard run -m 2G --share "$share" -- sh /share/run
rm -rf "$share"
