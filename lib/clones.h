/* SPDX-License-Identifier: MIT */
/*
 * Loops in plain C that the compiler turns into vector code: NEON on arm64, SSE2
 * or, chosen when the library is loaded, AVX2 on amd64. No contraction into fused
 * operations, so all give the same bits. The choice happens before a sanitizer is
 * ready for it.
 */
#ifndef RKMM_CLONES_H
#define RKMM_CLONES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__)
#define RKMM_VECTOR	__attribute__((target_clones("avx2", "default")))
#else
#define RKMM_VECTOR
#endif

#endif
