#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# probe.sh OUT RELEASE PROBE.c... -- COMPILER FLAGS...
#
# Writes OUT: "#define HAVE_NAME 1" for every probe NAME.c that compiles without a warning. What the
# compiler said goes beside it, into OUT with .log for .h. Kbuild runs this again when the kernel, the
# compiler's command line, this script or a probe has changed, and keeps OUT otherwise.

out=$1
release=$2
shift 2
probes=
while [ "$1" != -- ]; do
	probes="$probes $1"
	shift
done
shift

log=${out%.h}.log
mkdir -p "$(dirname "$out")"
: > "$log"
{
	echo "/* SPDX-License-Identifier: GPL-2.0-only */"
	echo "/* What kernel $release has, found by probe.sh. */"
	for p in $probes; do
		name=HAVE_$(basename "$p" .c | tr a-z A-Z)
		echo "== $p" >> "$log"
		if "$@" -Werror -Wno-unused -c -o "$out.o" "$p" >> "$log" 2>&1; then
			echo "#define $name 1"
		else
			echo "/* $name is not set */"
		fi
	done
} > "$out.tmp"
rm -f "$out.o"

if ! grep -q '^#define HAVE_OK 1' "$out.tmp"; then
	cat "$log" >&2
	echo "probe.sh: not even an empty module compiles, see above" >&2
	rm -f "$out.tmp"
	exit 1
fi
mv "$out.tmp" "$out"
