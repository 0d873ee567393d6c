#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the virtual board, from check-packages.sh: /share has a small Debian, the packages, and a program
# compiled against librkmm-dev. They are installed, used and purged; nothing may be left.

set -eu
root=/tmp/debian
debs='librkmm1 rkmm-tools rkmm-selftests python3-rkmm'

say()
{
	echo "# $*"
}

# the board gives half of its memory to /tmp
mount -o remount,size=90% /tmp
mkdir $root
tar -C $root -xf /share/minimal.tar
mount -t proc proc $root/proc
mount -t sysfs sysfs $root/sys
mount -o bind /dev $root/dev
in_root()
{
	chroot $root /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
		DEBIAN_FRONTEND=noninteractive "$@"
}
files()
{
	(cd $root && find . -xdev ! -path './var/lib/dpkg/*' ! -path './var/log/*' ! -path './var/cache/*' \
		! -name __pycache__ ! -name '*.pyc' ! -path './etc/ld.so.cache' ! -path './proc*' | sort)
}

in_root ldconfig
mkdir $root/debs
for p in $debs; do
	cp /share/debs/"$p"_*.deb $root/debs/
done
files > /tmp/before
in_root sh -c 'dpkg --force-unsafe-io -i /debs/*.deb'
say "installed; $(files | wc -l) files, $(wc -l < /tmp/before) before"

cp /share/use $root/debs/use
in_root /debs/use
in_root sh -c 'cd /root && rkmm-matmul --random 33x100 -o a.npy && rkmm-matmul --random 100x51 -o b.npy &&
	rkmm-matmul a.npy b.npy --precision int8 --verify && rm a.npy b.npy'
# the runner wants its own folder
in_root sh -c 'cd /usr/lib/rkmm/kselftest && ./run_kselftest.sh -t rkmm:again' > /tmp/kselftest.log 2>&1 ||
	{ cat /tmp/kselftest.log; exit 1; }
grep -q '^ok 1 selftests: rkmm: again' /tmp/kselftest.log || { cat /tmp/kselftest.log; exit 1; }
in_root python3 /usr/share/rkmm/test_rkmm.py

# shellcheck disable=SC2086 # a list
in_root dpkg --force-unsafe-io --purge $debs
rm $root/debs/use
files > /tmp/after
diff /tmp/before /tmp/after
! in_root dpkg -l $debs 2> /dev/null | grep -q '^[ir]'
say "purged, nothing left"
