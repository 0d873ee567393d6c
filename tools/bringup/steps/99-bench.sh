# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="how fast"
does="rkmm-bench, each result compared"
expect="times for Documentation/performance.rst; please report them"
hang="none"
seconds=1800

run()
{
	load || return 1
	if [ "$quick" = 1 ]; then
		rkmm-bench --set quick --repeat 2 -q
	else
		rkmm-bench --csv
	fi
}
