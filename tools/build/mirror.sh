#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mirror.sh OUT FOLDER...: copy the sources of the folders below OUT where they are newer, and remove
# copies whose source is gone. Timestamps are kept, so make there rebuilds only what changed.

set -eu
out=$1
shift

mkdir -p "$out"
find "$@" -type f \( -name '*.[ch]' -o -name '*.sh' -o -name Kbuild -o -name Makefile \) ! -name '.*' |
	LC_ALL=C sort > "$out/.sources.new"
if [ -e "$out/.sources" ]; then
	LC_ALL=C comm -13 "$out/.sources.new" "$out/.sources" | while read -r gone; do
		rm -f "$out/$gone"
	done
fi
xargs -a "$out/.sources.new" cp -up --parents -t "$out"
mv "$out/.sources.new" "$out/.sources"
