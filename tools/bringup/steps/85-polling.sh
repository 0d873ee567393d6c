# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="looking for the end instead of waiting"
does="small products by interrupt alone, and with looks"
expect="both right; looks are for those who wait for small products"
hang="none"
seconds=120

run()
{
	load poll=off || return 1
	right -s 1x512x512 -c 1 -r "$(often 2000 20)" || return 1
	by_interrupt=$median_us
	load poll=on || return 1
	right -s 1x512x512 -c 1 -r "$(often 2000 20)" || return 1
	answer median_us "interrupt $by_interrupt, looks $median_us"
	if awk "BEGIN { exit !($median_us < 0.9 * $by_interrupt) }"; then
		gate poll=hint
	fi
}
