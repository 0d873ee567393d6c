// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The geometry fuzzer without libFuzzer: a seeded loop. */
#define SEEDED_LOOP
#include "fuzz_prog_geometry.c"
