#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The other half of the tests "stage" and "stage_ops": with feature=direct the software NPU's wrong
# results must be seen. Reloads the driver, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"

[ "$(id -u)" = 0 ] || skip "must be root"
[ -d /sys/module/rkmm_soft ] || skip "no software NPU"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"
if ! load feature=direct timeout_factor=1 golden=N suspect=N fallback=N; then
	echo "Bail out! rkmm does not load with feature=direct"
	exit 1
fi
"$(dirname "$0")/stage"
ret=$?
"$(dirname "$0")/stage_ops" || ret=1
rmmod rkmm && load || ret=1
exit $ret
