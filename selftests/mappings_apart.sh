#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The other half of the test "mappings": without slabs the software NPU must be seen to hang.
# Reloads the driver, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"

[ "$(id -u)" = 0 ] || skip "must be root"
[ -d /sys/module/rkmm_soft ] || skip "no software NPU"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"
if ! load slabs=0 timeout_factor=1 golden=N suspect=N; then
	echo "Bail out! rkmm does not load with slabs=0"
	exit 1
fi
"$(dirname "$0")/mappings"
ret=$?
rmmod rkmm && load || ret=1
exit $ret
