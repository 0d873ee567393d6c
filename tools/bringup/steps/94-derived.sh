# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="operations that nobody saw run"
does="operations and epilogues of evidence 'derived' (hw 04), and int8 results"
expect="some right, some not: the test says which"
hang="the driver resets the NPU; the others still run"
seconds=1800

run()
{
	load derived=on || return 1
	right -t i8i8 -s 33x96x65 -r "$(often 50 3)" || { answer derived "int8 results are wrong"; return 1; }
	selftest ops
	rc=$?
	[ $rc != 77 ] || return 77
	[ $rc = 0 ] || { answer derived "the test ops fails: see the log"; return 1; }
	answer derived right
	gate derived=on
}
