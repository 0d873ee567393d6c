#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make-deb.sh ARCH: the Debian packages for ARCH, in build/packages/ARCH. They are built in a copy of
# the sources with what the build needs of build/ beside it, so nothing is downloaded on the way.

set -eu
cd "$(dirname "$0")/../.."
top=$PWD
arch=$1
version=$(sed -n 's/^VERSION := //p' Makefile)
dir=$top/build/packages/$arch
src=$dir/rkmm-$version

# in the copy nothing of the caller's make holds
unset MAKEFLAGS MFLAGS MAKELEVEL RKMM_LOCKED
tools/build/deb.sh need debhelper dh-dkms dh-python
make -s --no-print-directory prepared ARCH="$arch"
rm -rf "$src" "$dir"/*.*
mkdir -p "$src/build"
cp -a Makefile Kbuild dkms.conf README.md LICENSES kmod uapi lib tools selftests Documentation "$src/"
mv "$src/tools/debian" "$src/debian"
for f in deb include ktools; do
	ln -s "$top/build/$f" "$src/build/$f"
done

# -d: what is linked for another architecture is not installed
cd "$src"
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp) DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" \
	dpkg-buildpackage -a"$arch" -b -d -us -uc 2>&1 | sed 's/^/    /' > "$dir/build.log" ||
	{ tail -n 40 "$dir/build.log" >&2; exit 1; }
cd "$dir"
rm -rf "$src"
sha256sum ./*.deb > SHA256SUMS
ls -- *.deb
