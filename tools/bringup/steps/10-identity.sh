# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="who answers"
does="loads the driver with the clock left where firmware put it, and reads what it found"
expect="three cores, a window, an isolation; no line in the log that names a fault"
hang="a register without power: send the serial log and pm_genpd_summary from before"

run()
{
	load clock_mhz=1 || return 1
	answer clock_hz "$(total clock_hz)"
	answer states "$(total states)"
	[ "$(total resets)" = 0 ]
}
