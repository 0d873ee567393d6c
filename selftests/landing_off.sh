#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The other half of the test "landing": with landing=off the software NPU's wrong results must be
# seen, with trailers alone those that have none. Reloads the driver, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"

[ "$(id -u)" = 0 ] || skip "must be root"
[ -d /sys/module/rkmm_soft ] || skip "no software NPU"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"
if load landing=perhaps; then
	echo "Bail out! rkmm loads with landing=perhaps"
	exit 1
fi
rmmod rkmm 2> /dev/null
ret=0
for way in off trailer; do
	if ! load landing=$way; then
		echo "Bail out! rkmm does not load with landing=$way"
		exit 1
	fi
	"$(dirname "$0")/landing" || ret=1
	rmmod rkmm || ret=1
done
load || ret=1
exit $ret
