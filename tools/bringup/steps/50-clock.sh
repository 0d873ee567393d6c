# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="rated clock"
does="loads the driver with the rated clock; the supplies rise first"
expect="the same results, and faster"
hang="a voltage too low: go on with clock_mhz=800 in /etc/modprobe.d, and report"
seconds=120

run()
{
	load clock_mhz=1 || return 1
	right -s 64x512x512 -c 1 -r "$(often 200 5)" || return 1
	slow=$median_us
	load || return 1
	answer clock_hz "$(total clock_hz)"
	right -s 64x512x512 -c 1 -r "$(often 200 5)" || return 1
	answer median_us "$slow then $median_us"
	right -t i8i32,f16f32,i4i16 -s 33x512x257 -b 2 -r "$(often 3000 12)"
}
