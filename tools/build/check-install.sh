#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What is installed must be usable: by C and C++, shared and static, through pkg-config.

set -eu
cd "$(dirname "$0")/../.."
top=$PWD
dest=$top/build/check/install
rm -rf "$dest"
make --no-print-directory install selftests-install install-dkms DESTDIR="$dest" PREFIX=/usr
find "$dest" ! -type d -printf '%P\n' | sort

cat > "$dest/use.c" <<-END
	#include <rkmm.h>
	#include <rkmm_drm.h>
	#include <stdio.h>

	int main(void)
	{
		printf("%u\\n", (unsigned)DRM_IOCTL_RKMM_QUERY);
		return !rkmm_version_string();
	}
END
cp "$dest/use.c" "$dest/use.cc"
system=$(pkg-config --variable pc_path pkg-config)
PKG_CONFIG_LIBDIR=$dest/usr/lib/pkgconfig:$system
export PKG_CONFIG_SYSROOT_DIR=$dest PKG_CONFIG_LIBDIR
flags=$(pkg-config --cflags librkmm)
libs=$(pkg-config --libs librkmm)
static=$(pkg-config --libs --static librkmm)
drm="-isystem $top/build/include"
set -x
# shellcheck disable=SC2086 # lists of flags
{
	gcc -Wall -Wextra -Werror -pedantic -std=c11 $drm $flags -o "$dest/shared" "$dest/use.c" $libs
	g++ -Wall -Wextra -Werror -std=c++11 $drm $flags -o "$dest/shared-cc" "$dest/use.cc" $libs
	gcc -Wall -Wextra -Werror $drm $flags -o "$dest/static" "$dest/use.c" "$dest/usr/lib/librkmm.a" ${static//-lrkmm/}
}
LD_LIBRARY_PATH=$dest/usr/lib "$dest/shared"
LD_LIBRARY_PATH=$dest/usr/lib "$dest/shared-cc"
"$dest/static"
readelf -d "$dest"/usr/lib/librkmm.so.*.*.* | grep -q 'SONAME.*librkmm\.so\.[0-9]*\]'
[ "$(wc -l < "$dest/kselftest/kselftest-list.txt")" -gt 0 ]
"$dest/kselftest/run_kselftest.sh" -l | sort | cmp - "$dest/kselftest/kselftest-list.txt"
