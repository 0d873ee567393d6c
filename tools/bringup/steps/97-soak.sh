# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="a short soak"
does="all types in turn, many buffers, all cores"
expect="all right, no hang, no lost interrupt"
hang="counted; the log names it"
seconds=1800

run()
{
	load || return 1
	right -t i8i32,f16f32,i4i16,f16f16 -s 33x512x257 -b 9 -r "$(often 100000 48)" || return 1
	answer resets "$(total resets)"
	answer lost "$(total lost_irqs)"
	[ "$(total resets)" = 0 ] && [ "$(total lost_irqs)" = 0 ]
}
