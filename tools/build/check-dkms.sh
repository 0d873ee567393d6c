#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A whole life under DKMS: add, build, install, remove. It runs where /var/lib/dkms, /usr/src and
# /lib/modules are folders of the project's own (a private mount namespace), so dkms works as on a
# user's machine and the machine keeps nothing of it.

set -eu
cd "$(dirname "$0")/../.."
top=$PWD
root=$top/build/check/dkms
export PATH=$PATH:/usr/sbin:/sbin

if [ "${1-}" != inside ]; then
	spaces=(-m)
	[ "$(id -u)" = 0 ] || spaces=(-rm)
	if ! unshare "${spaces[@]}" true 2> /dev/null; then
		echo "no mount namespaces here"
		exit 4
	fi
	arch=$(dpkg --print-architecture)
	tools/build/deb.sh kdir "$arch" 6.1 > /dev/null
	rm -rf "$root"
	exec unshare "${spaces[@]}" "$0" inside "$arch"
fi

kdir=$(readlink -f "build/deb/kdir-$2-6.1")
rel=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$kdir/include/generated/utsrelease.h")
version=$(sed -n 's/^VERSION := //p' Makefile)
mkdir -p "$root"/{dkms,src,modules/"$rel"}
make -s --no-print-directory install-dkms DESTDIR="$root/staged"
cp -r "$root/staged/usr/src/rkmm-$version" "$root/src/"
ln -s "$kdir" "$root/modules/$rel/build"
: > "$root/modules/$rel/modules.order"
: > "$root/modules/$rel/modules.builtin"
mount --bind "$root/dkms" /var/lib/dkms
mount --bind "$root/src" /usr/src
mkdir -p /lib/modules
mount --bind "$root/modules" /lib/modules

status()
{
	local s

	s=$(dkms status rkmm/"$version")
	echo "status: $s"
	[[ $s == *"$1"* ]] || { echo "expected: $1" >&2; exit 1; }
}

dkms add -m rkmm -v "$version" 2>&1 | tee "$root/add.log"
status added
dkms build -m rkmm -v "$version" -k "$rel" 2>&1 | tee -a "$root/add.log" ||
	{ cat /var/lib/dkms/rkmm/"$version"/build/make.log; exit 1; }
status built
dkms install -m rkmm -v "$version" -k "$rel" 2>&1 | tee -a "$root/add.log"
status installed
ko=$(find /lib/modules/"$rel"/updates -name 'rkmm.ko*')
modinfo "$ko"
modinfo -F version "$ko" | grep -qx "$version"
[ -z "$(find /lib/modules/ -name 'rkmm_soft.ko*')" ]
modprobe -n -S "$rel" rkmm 2> /dev/null || modinfo -k "$rel" rkmm > /dev/null
dkms remove -m rkmm -v "$version" --all 2>&1 | tee -a "$root/add.log"
[ -z "$(dkms status)" ]
[ -z "$(find /lib/modules/ -name 'rkmm*.ko*')" ]
if grep -iE 'deprecat|warning|error!|bad exit' "$root/add.log"; then
	exit 1
fi
