#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A whole life of rkmm-dkms: its files are unpacked, its scripts add, build, install and remove the
# module. They run where /var/lib/dkms, /usr/src and /lib/modules are folders of the project's own (a
# private mount namespace), so dkms works as on a user's machine and the machine keeps nothing of it.

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
[ -e build/packages ] || make --no-print-directory deb
deb=$(find build/packages -name "rkmm-dkms_${version}_all.deb" | head -n 1)
dpkg -x "$deb" "$root/staged"
dpkg -e "$deb" "$root/scripts"
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

status ''
"$root/scripts/postinst" configure 2>&1 | tee "$root/dkms.log"
[ "${PIPESTATUS[0]}" = 0 ] || { cat /var/lib/dkms/rkmm/"$version"/build/make.log; exit 1; }
status installed
ko=$(find /lib/modules/"$rel"/updates -name 'rkmm.ko*')
modinfo "$ko"
modinfo -F version "$ko" | grep -qx "$version"
[ -z "$(find /lib/modules/ -name 'rkmm_soft.ko*')" ]
modprobe -n -S "$rel" rkmm 2> /dev/null || modinfo -k "$rel" rkmm > /dev/null
"$root/scripts/prerm" remove 2>&1 | tee -a "$root/dkms.log"
[ -z "$(dkms status)" ]
[ -z "$(find /lib/modules/ -name 'rkmm*.ko*')" ]
if grep -iE 'deprecat|warning|error!|bad exit' "$root/dkms.log"; then
	exit 1
fi
