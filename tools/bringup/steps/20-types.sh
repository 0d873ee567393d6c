# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="each type, core 0, slowest clock"
does="small products of int8, fp16 and int4 on core 0 (hw 02)"
expect="all right; integers bit by bit"
hang="the program of that type: the driver resets the NPU and says so in the log"

run()
{
	ret=0
	load clock_mhz=1 || return 1
	for t in i8i32 f16f32 i4i16 f16f16; do
		if right -t $t -s 33x96x65 -c 1 -r "$(often 20 3)"; then
			answer $t right
		else
			answer $t wrong
			ret=1
		fi
	done
	return $ret
}
