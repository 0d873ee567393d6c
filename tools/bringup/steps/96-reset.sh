# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="a reset, asked for"
does="resets all cores by their lines, and compares products after each (hw 01 §4)"
expect="right after each, the power left on"
hang="the reset lines do not reach all of a core: the driver cycles the power"
seconds=300

run()
{
	load || return 1
	for i in $(seq "$(often 50 3)"); do
		echo 1 > "$(device)/rkmm/reset" || return 1
		right -t i8i32,f16f32,i4i16 -s 33x512x257 -r 9 || { answer reset "wrong after reset $i"; return 1; }
	done
	answer resets "$(total resets_forced)"
	answer power_cycles "$(total power_cycles)"
	[ "$(total power_cycles)" = 0 ]
}
