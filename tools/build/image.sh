#!/bin/bash
# SPDX-License-Identifier: MIT
#
# image.sh OUT: make the virtual board's initramfs from what is in build/arm64 and build/deb.
# Equal contents give an equal file: sorted names, no owners, one timestamp.

set -eu
cd "$(dirname "$0")/../.."
out=$1
deb=build/deb/root
arm64=build/arm64
rel=$(cat build/deb/board)
strip="strip"
libc=/lib/aarch64-linux-gnu
root=
loader=/lib/ld-linux-aarch64.so.1
if [ "$(dpkg --print-architecture)" != arm64 ]; then
	strip=aarch64-linux-gnu-strip
	libc=/usr/aarch64-linux-gnu/lib
	root=$deb
	loader=$libc/ld-linux-aarch64.so.1
fi

stage=$(mktemp -d build/vboard/stage.XXXXXX)
trap 'rm -rf "$stage"' EXIT
mods=$stage/lib/modules/$rel
mkdir -p "$stage"/{bin,dev,etc/vboard,lib,usr/bin,usr/lib,root,selftests} "$mods/kernel" "$mods/extra"

cp tools/board/init "$stage/init"
cp "$deb/bin/busybox" "$stage/bin/"
ln -s busybox "$stage/bin/sh"
cp -L "$loader" "$stage/lib/"
for l in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1; do
	if [ -e "$libc/$l" ]; then
		cp -L "$libc/$l" "$stage/usr/lib/"
	fi
done

cp -L "$root/usr/lib/aarch64-linux-gnu/libdrm.so.2" "$root/lib/aarch64-linux-gnu/libz.so.1" "$stage/usr/lib/"

cp -L "$root"/{usr/,}lib/aarch64-linux-gnu/lib{ncurses,tinfo}.so.6 "$stage/usr/lib/" 2> /dev/null ||
	[ -e "$stage/usr/lib/libncurses.so.6" ]
# every Debian machine has them
for t in l/linux v/vt100 v/vt220 x/xterm; do
	install -D -m 644 "/lib/terminfo/$t" "$stage/lib/terminfo/$t"
done

# list NAME MODULE...: copy modules with all they need; the order to load them in goes to NAME.modules
[ -e "$deb/lib/modules/$rel/modules.dep" ] || PATH=$PATH:/sbin:/usr/sbin depmod -b "$deb" "$rel"
list()
{
	local name=$1 m dep path

	shift
	for m in "$@"; do
		dep=$(grep -E "/${m//[-_]/[-_]}\.ko:" "$deb/lib/modules/$rel/modules.dep") || {
			# built into this kernel
			grep -qE "/${m//[-_]/[-_]}\.ko" "$deb/lib/modules/$rel/modules.builtin" && continue
			echo "image.sh: kernel $rel has no module $m" >&2
			exit 1
		}
		for path in $(echo "$dep" | tr -d : | tr ' ' '\n' | tac); do
			[ -e "$mods/$path" ] || install -D -m 644 "$deb/lib/modules/$rel/$path" "$mods/$path"
			grep -qsx "$path" "$stage/etc/vboard/$name.modules" ||
				echo "$path" >> "$stage/etc/vboard/$name.modules"
		done
	done
}
list virtio virtio_mmio virtio_console
list 9p 9pnet_virtio 9p
list drm drm drm_shmem_helper
list extra vgem
cp "$deb/lib/modules/$rel"/modules.{order,builtin,builtin.modinfo} "$mods/"

for f in "$arm64"/modules/*.ko; do
	[ -e "$f" ] || continue
	"$strip" -g -o "$mods/extra/${f##*/}" "$f"
done
PATH=$PATH:/sbin:/usr/sbin depmod -b "$stage" "$rel"

for f in "$arm64"/bin/* "$arm64"/selftests/*; do
	[ -f "$f" ] || continue
	case $f in
	*/bin/*) to=$stage/usr/bin ;;
	*)	to=$stage/selftests ;;
	esac
	"$strip" -o "$to/${f##*/}" "$f" 2> /dev/null || cp "$f" "$to/"
done
for f in "$arm64"/lib/*.so.*; do
	[ -e "$f" ] || continue
	"$strip" -o "$stage/usr/lib/${f##*/}" "$f"
done
install -m 755 tools/bringup/rkmm-bringup "$stage/usr/bin/"
install -D -m 644 -t "$stage/usr/share/rkmm/bringup" tools/bringup/steps/*.sh
install -D -m 644 build/deb/digits.csv.gz "$stage/usr/share/rkmm/digits.csv.gz"
chmod -R a+rX,u+w,go-w "$stage"

find "$stage" -exec touch -h -d @0 {} +
(cd "$stage" && find . -mindepth 1 | LC_ALL=C sort |
	cpio -o -H newc --reproducible -R 0:0 --quiet) > "$out.tmp"
mv "$out.tmp" "$out"
