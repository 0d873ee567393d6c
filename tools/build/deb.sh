#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Unpack Debian packages below build/deb/, so that kernels, headers and programs of another
# architecture can be used without installing anything. apt reaches the archive by the machine's own
# sources, but with a state directory of the project's own: no dpkg database is read or changed.

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
deb=$top/build/deb
root=$deb/root
state=$top/build/apt

usage()
{
	cat <<-END
	usage: tools/build/deb.sh COMMAND
	  kdir ARCH SERIES    unpack kernel headers and print the directory for KDIR=
	                      (ARCH amd64 or arm64, SERIES 6.1 or 6.12)
	  board               unpack the arm64 kernel and busybox for the virtual board
	  digits              unpack the pictures of handwritten digits of python3-sklearn
	  cross               unpack the arm64 libdrm, zlib and ncurses that programs for arm64 are linked with
	  minimal             unpack a small Debian for arm64 into build/deb/minimal.tar
	  ktools              take checkpatch and the kselftest files from the kernel source
	  ksource DIR         unpack all of the kernel source, as DIR
	  need [PACKAGE]...   install missing packages of the build machine (all when none is named)
	END
}

die()
{
	echo "deb.sh: $*" >&2
	exit 1
}

native=$(dpkg --print-architecture 2>/dev/null) || die "dpkg is missing: this needs a Debian machine"

say()
{
	printf '  %-7s %s\n' "$1" "$2" >&2
}

apt_opts=(
	-o Dir::State="$state/state" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status"
	-o Dir::Cache="$state/cache" -o APT::Architecture="$native" -o APT::Sandbox::User=root
	-o Acquire::Retries=3 -o Acquire::Languages=none
)
for a in "$native" amd64 arm64; do
	apt_opts+=(-o "APT::Architectures::=$a")
done

apt_update()
{
	[ -e "$state/updated" ] && return
	mkdir -p "$state"/{state,lists/partial,cache/archives/partial}
	: > "$state/status"
	say APT "package lists"
	apt-get "${apt_opts[@]}" update -qq || die "apt-get update failed: are the apt sources reachable?"
	: > "$state/updated"
}

# depend PACKAGE PATTERN: the package that a metapackage stands for today
depend()
{
	local d

	apt_update
	d=$(apt-cache "${apt_opts[@]}" depends --important "$1" |
		sed -n 's/^ *|\{0,1\}Depends: *<\{0,1\}\([^ <>:]*\).*/\1/p' | grep -E -m1 "$2") ||
		die "$1: not in the apt sources (no dependency like $2)"
	echo "$d"
}

# download PACKAGE:ARCH: into a new directory, $tmp
download()
{
	apt_update
	say DEB "$1"
	tmp=$(mktemp -d "$state/get.XXXXXX")
	if ! (cd "$tmp" && apt-get "${apt_opts[@]}" download -qq "$1"); then
		# the lists may be older than the archive: once more with fresh ones
		rm -f "$state/updated"
		apt_update
		(cd "$tmp" && apt-get "${apt_opts[@]}" download -qq "$1") || die "$1: cannot be downloaded"
	fi
}

# unpack PACKAGE:ARCH...: download and unpack, once
unpack()
{
	local p f tmp

	for p in "$@"; do
		[ -e "$deb/.$p" ] && continue
		download "$p"
		mkdir -p "$root"
		for f in "$tmp"/*.deb; do
			dpkg -x "$f" "$root"
		done
		rm -rf "$tmp"
		: > "$deb/.$p"
	done
}

kdir()
{
	local arch=$1 series=$2 link=$deb/kdir-$1-$2 meta kbuild headers common

	if [ ! -e "$link" ]; then
		case $series in
		6.1)	meta=linux-headers-$arch ;;
		*)	meta=linux-headers-$series-$arch ;;
		esac
		headers=$(depend "$meta:$arch" '^linux-headers-[0-9]')
		common=$(depend "$headers:$arch" '^linux-headers-.*-common$')
		kbuild=$(depend "$headers:$arch" '^linux-kbuild-')
		# the programs that kbuild runs must be the build machine's
		unpack "$headers:$arch" "$common:all" "$kbuild:$native"
		echo "include \$(dir \$(lastword \$(MAKEFILE_LIST)))../$common/Makefile" \
			> "$root/usr/src/$headers/Makefile"
		ln -sfn "root/usr/src/$headers" "$link"
	fi
	echo "$link"
}

board()
{
	local image link=$deb/board

	[ -e "$link" ] && return
	image=$(depend linux-image-arm64:arm64 '^linux-image-[0-9]')
	unpack "$image:arm64" busybox-static:arm64
	echo "${image#linux-image-}" > "$deb/board.tmp"
	mv "$deb/board.tmp" "$link"
}

# one file of 56 KiB; the package is large
digits()
{
	local tmp f=usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz

	[ -e "$deb/digits.csv.gz" ] && return
	download python3-sklearn:all
	dpkg --fsys-tarfile "$tmp"/*.deb | tar -xO "./$f" > "$deb/digits.tmp" || die "python3-sklearn: no $f"
	rm -rf "$tmp"
	mv "$deb/digits.tmp" "$deb/digits.csv.gz"
}

cross()
{
	unpack libdrm2:arm64 libdrm-dev:arm64 zlib1g:arm64 zlib1g-dev:arm64 \
		libncurses6:arm64 libtinfo6:arm64 libncurses-dev:arm64
	# their own links are absolute ones
	ln -sfn ../../../lib/aarch64-linux-gnu/libz.so.1 "$root/usr/lib/aarch64-linux-gnu/libz.so"
	ln -sfn ../../../lib/aarch64-linux-gnu/libtinfo.so.6 "$root/usr/lib/aarch64-linux-gnu/libtinfo.so"
}

ktools()
{
	local out=$top/build/ktools src sub=tools/testing/selftests

	[ -e "$out/.done" ] && return
	unpack linux-source-6.1:all
	src=$root/usr/src/linux-source-6.1.tar.xz
	say XZ "checkpatch, kernel-doc, kselftest"
	rm -rf "$out"
	mkdir -p "$out"
	# listed paths only, and tar stops reading when it has found them all
	tar -xJf "$src" -C "$out" --strip-components=1 --occurrence=1 \
		linux-source-6.1/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch,kernel-doc} \
		linux-source-6.1/$sub/{kselftest.h,kselftest_harness.h,lib.mk,run_kselftest.sh} \
		linux-source-6.1/$sub/kselftest/{runner.sh,module.sh,prefix.pl}
	mv "$out/$sub" "$out/selftests"
	rm -r "$out/tools"
	# so that "../kselftest_harness.h" is found as in a kernel tree
	mkdir "$out/selftests/rkmm"
	# 139 MB that nothing else needs
	rm -f "$src" "$deb/.linux-source-6.1:all"
	: > "$out/.done"
}

ksource()
{
	local out=$1 src=$root/usr/src/linux-source-6.1.tar.xz

	[ -e "$out/.done" ] && return
	unpack linux-source-6.1:all
	say XZ "linux-source-6.1"
	rm -rf "$out"
	mkdir -p "$out"
	tar -xJf "$src" -C "$out" --strip-components=1
	rm -f "$src" "$deb/.linux-source-6.1:all"
	: > "$out/.done"
}

# A clean Debian for arm64 in which packages can be installed and used, as build/deb/minimal.tar: its
# packages are unpacked, and dpkg knows them as installed; none of their scripts has run.
minimal()
{
	local root=$state/minimal f p list

	[ -e "$deb/minimal.tar" ] && return
	apt_update
	say DEB "a small Debian for arm64"
	rm -rf "$root" "$state/cache/archives"
	mkdir -p "$root/var/lib/dpkg"/{info,updates} "$state/cache/archives/partial"
	apt-get "${apt_opts[@]}" -o APT::Architecture=arm64 -qq -y -d --no-install-recommends install \
		base-files base-passwd bash coreutils dash debianutils diffutils dpkg findutils grep gzip \
		init-system-helpers libc-bin mawk perl-base sed tar util-linux \
		libdrm2 libncurses6 zlib1g python3 python3-numpy > /dev/null ||
		die "the packages of a small Debian cannot be downloaded"
	for f in "$state"/cache/archives/*.deb; do
		dpkg -x "$f" "$root"
		p=$(dpkg-deb -f "$f" Package)
		[ "$(dpkg-deb -f "$f" Multi-Arch)" != same ] || p+=:arm64
		list=$root/var/lib/dpkg/info/$p.list
		dpkg-deb --fsys-tarfile "$f" | tar -t | sed 's|^\.||; s|/$||; s|^$|/.|' > "$list"
		{ dpkg-deb -f "$f" | sed '1a Status: install ok installed'; echo; } >> "$root/var/lib/dpkg/status"
	done
	# what those scripts would have done
	cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
	cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
	ln -sf bash "$root/bin/sh"
	ln -sf mawk "$root/usr/bin/awk"
	ln -sf blas/libblas.so.3 lapack/liblapack.so.3 "$root/usr/lib/aarch64-linux-gnu/"
	find "$root/usr/share/doc" "$root/usr/share/man" "$root/usr/share/locale" -type f -delete
	tar -C "$root" --owner=0 --group=0 -cf "$deb/minimal.tmp" .
	rm -rf "$root" "$state/cache/archives"
	mv "$deb/minimal.tmp" "$deb/minimal.tar"
}

# What the build machine itself must have, as "program-or-file package".
needs()
{
	cat <<-END
	make make
	gcc gcc
	g++ g++
	xz xz-utils
	flex flex
	bison bison
	bc bc
	cpio cpio
	depmod kmod
	dkms dkms
	dh_dkms dh-dkms
	dh debhelper
	dh_python3 dh-python
	lintian lintian
	rst2html5 python3-docutils
	sparse sparse
	ccache ccache
	perl perl
	dtc device-tree-compiler
	pkg-config pkg-config
	qemu-system-aarch64 qemu-system-arm
	/usr/include/cmocka.h libcmocka-dev
	/usr/include/libdrm/drm.h libdrm-dev
	/usr/include/zlib.h zlib1g-dev
	/usr/include/jansson.h libjansson-dev
	/usr/include/curses.h libncurses-dev
	/usr/bin/python3 python3
	/usr/lib/python3/dist-packages/numpy python3-numpy
	END
	if [ "$native" != arm64 ]; then
		echo aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
		echo aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
		echo /usr/aarch64-linux-gnu/include/stdio.h libc6-dev-arm64-cross
	fi
}

need()
{
	local what pkg missing=()

	while read -r what pkg; do
		if [ $# -gt 0 ] && [[ " $* " != *" $pkg "* ]]; then
			continue
		fi
		# dkms and depmod live in sbin, which a user's PATH may lack
		[ -e "$what" ] || PATH=$PATH:/usr/sbin:/sbin command -v "$what" > /dev/null || missing+=("$pkg")
	done < <(needs)
	[ ${#missing[@]} -eq 0 ] && return

	if [ "$(id -u)" != 0 ]; then
		die "missing packages; install them with: sudo apt-get install ${missing[*]}"
	fi
	say APT "${missing[*]}"
	mkdir -p "$top/build"
	apt-get update -qq || true
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
		> "$top/build/apt-install.log" 2>&1 ||
		die "apt-get install ${missing[*]} failed: see build/apt-install.log"
}

mkdir -p "$deb"
# one fetch at a time, whoever asks
exec 9> "$deb/.lock"
flock 9

case ${1-} in
kdir)	[ $# -eq 3 ] || { usage >&2; exit 1; }
	kdir "$2" "$3" ;;
board)	board ;;
digits)	digits ;;
cross)	cross ;;
ktools)	ktools ;;
ksource) [ $# -eq 2 ] || { usage >&2; exit 1; }
	ksource "$2" ;;
minimal) minimal ;;
need)	shift; need "$@" ;;
-h|--help) usage ;;
*)	usage >&2; exit 1 ;;
esac
