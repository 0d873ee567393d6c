#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The Python module: its structures and functions against the headers, then its tests on the
# libraries of build/host with the kernel of the unit tests (fake_kernel.h) in place of lib/sys.c.

set -u
cd "$(dirname "$0")/../.." || exit 1
python=/usr/bin/python3
tools/build/deb.sh need python3 || exit 1
n=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ok() # TEXT, status of the command before
{
	local rc=$?

	n=$((n + 1))
	if [ $rc = 0 ]; then
		echo "ok $n $1"
		return
	fi
	echo "not ok $n $1"
	tail -n 60 "$work/out" | sed 's/^/# /'
}

include=(-Ilib -Iuapi -I. -isystem build/include -isystem build/include/drm)
$python lib/python/tests/check_abi.py c > "$work/abi.c" 2> "$work/out" &&
	gcc -Wall -Werror "${include[@]}" -o "$work/abi" "$work/abi.c" 2> "$work/out" &&
	"$work/abi" > "$work/abi.txt" &&
	$python lib/python/tests/check_abi.py layout < "$work/abi.txt" > "$work/out" 2>&1
ok "structures and numbers are those of the headers"
$python lib/python/tests/check_abi.py functions lib/rkmm.h lib/rkmm_seq.h > "$work/out" 2>&1
ok "functions take what the headers say"
# the check must be able to fail
sed 's/\bflags;/wrong; uint32_t flags;/' lib/rkmm.h > "$work/rkmm.h" &&
	sed 's/int rkmm_wait(struct rkmm_device \*dev, uint64_t seqno,/int rkmm_wait(struct rkmm_device *dev, uint32_t seqno,/' \
		"$work/rkmm.h" > "$work/other.h" &&
	! $python lib/python/tests/check_abi.py functions "$work/other.h" lib/rkmm_seq.h > "$work/out" 2>&1 &&
	grep -q '^rkmm_wait: ipql, the header has ipul' "$work/out" &&
	sed '3s/ [0-9]*$/ 3/' "$work/abi.txt" > "$work/wrong.txt" &&
	! $python lib/python/tests/check_abi.py layout < "$work/wrong.txt" > "$work/out" 2>&1
ok "a header that differs is seen"

# the library, and a kernel that computes; found first, so lib/sys.c is not taken
cat > "$work/start.c" <<-END
	#include <stdlib.h>
	#include "selftests/unit/fake_kernel.h"
	__attribute__((constructor)) static void start(void)
	{
		fake_reset();
		fake.cube = !!getenv("FAKE_CUBE");
	}
END
gcc -O2 -Wall -Werror -std=gnu11 -shared -fPIC "${include[@]}" -o "$work/librkmm.so.1" \
	-Wl,-soname,librkmm.so.1 "$work/start.c" selftests/unit/fake_kernel.c selftests/unit/fake_ops.c \
	-Wl,--allow-multiple-definition -Wl,--whole-archive build/host/lib/librkmm.a \
	-Wl,--no-whole-archive -ldrm -lz -lm -lpthread 2> "$work/out" &&
	gcc -shared -o "$work/librkmm-compute.so.1" -Wl,-soname,librkmm-compute.so.1 \
		-Wl,--whole-archive build/host/lib/librkmm-compute.a -Wl,--no-whole-archive \
		"$work/librkmm.so.1" -lm 2> "$work/out"
ok "libraries with a kernel of their own"

tools/build/deb.sh need python3-numpy > "$work/out" 2>&1 && $python -c 'import numpy' 2> "$work/out"
if [ $? != 0 ]; then
	echo "ok $((n + 1)) the module's tests # SKIP no numpy"
	exit
fi

module() # TEXT CLASS...
{
	local text=$1 line rc

	shift
	RKMM_LIBDIR=$work LD_LIBRARY_PATH=$work PYTHONDONTWRITEBYTECODE=1 \
		$python lib/python/tests/test_rkmm.py "$@" > "$work/out" 2>&1
	rc=$?
	while read -r line; do
		case $line in
		"ok "*)		n=$((n + 1))
				echo "ok $n ${line#ok * }" ;;
		"not ok "*)	n=$((n + 1))
				echo "not ok $n ${line#not ok * }" ;;
		*)		echo "# $line" ;;
		esac
	done < "$work/out"
	[ $rc = 0 ] && grep -q '^ok ' "$work/out"
	ok "$text"
}

module "rows and batches" Facts Matmul Resident ByHand Errors
# sequences are of cubes
FAKE_CUBE=1 module "cubes" Matmul.test_int8 Matmul.test_fp16 Resident.test_contexts Sequences
