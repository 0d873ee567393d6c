# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="interrupts"
does="counts interrupts while products run"
expect="one for each kick, none lost, none left over"
hang="a lost interrupt is found by the watchdog and counted"

interrupts()
{
	awk '/rkmm|npu/ { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts
}

run()
{
	load clock_mhz=1 || return 1
	before=$(interrupts)
	lost=$(total lost_irqs)
	right -c 1 -r "$(often 200 20)" || return 1
	answer interrupts $(($(interrupts) - before))
	answer lost $(($(total lost_irqs) - lost))
	[ "$(total lost_irqs)" = "$lost" ]
}
