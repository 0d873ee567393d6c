# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="is narrow output late?"
does="products with int4 and int8 results, read as soon as the driver says so (hw 03 O12, O13)"
expect="right with a wait; with less nobody knows: the answer is the cheapest that is right"
hang="none was seen"
seconds=300

run()
{
	for way in off trailer both; do
		load landing=$way || return 1
		if right -t i4i16 -s 9x256x130 -b 5 -r "$(often 5000 20)" &&
			right -t f16f16 -s 9x256x130 -b 5 -r "$(often 5000 20)"; then
			answer landing $way
			gate landing=$way
			return 0
		fi
	done
	answer landing "wrong even with a wait"
	return 1
}
