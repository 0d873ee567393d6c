/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the software NPU takes from its surroundings: memcpy and friends, words
 * that two CPUs may touch, compile-time checks.
 */
#ifndef NPU_SHIM_H
#define NPU_SHIM_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

struct npu_word {
	atomic_t v;
};

static inline u32 npu_word_get(const struct npu_word *w)
{
	return (u32)atomic_read(&w->v);
}

/* Everything written before is visible to whoever sees the new value. */
static inline void npu_word_set(struct npu_word *w, u32 value)
{
	atomic_set_release(&w->v, (int)value);
}

static inline void npu_word_or(struct npu_word *w, u32 bits)
{
	atomic_fetch_or_release((int)bits, &w->v);
}

static inline void npu_word_clear(struct npu_word *w, u32 bits)
{
	atomic_andnot((int)bits, &w->v);
}

/* True for the one caller that moved the word from @from to @to. */
static inline bool npu_word_move(struct npu_word *w, u32 from, u32 to)
{
	return atomic_cmpxchg(&w->v, (int)from, (int)to) == (int)from;
}
#else
#include <assert.h>
#include <string.h>
#include "npu_model.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct npu_word {
	u32 v;
};

static inline u32 npu_word_get(const struct npu_word *w)
{
	return __atomic_load_n(&w->v, __ATOMIC_ACQUIRE);
}

static inline void npu_word_set(struct npu_word *w, u32 value)
{
	__atomic_store_n(&w->v, value, __ATOMIC_RELEASE);
}

static inline void npu_word_or(struct npu_word *w, u32 bits)
{
	__atomic_fetch_or(&w->v, bits, __ATOMIC_RELEASE);
}

static inline void npu_word_clear(struct npu_word *w, u32 bits)
{
	__atomic_fetch_and(&w->v, ~bits, __ATOMIC_ACQ_REL);
}

static inline bool npu_word_move(struct npu_word *w, u32 from, u32 to)
{
	return __atomic_compare_exchange_n(&w->v, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}
#endif

static inline u32 npu_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 npu_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u32 npu_div_up(u32 a, u32 b)
{
	return (a + b - 1) / b;
}

/* The value of the field of @v between bits @hi and @lo. */
static inline u32 npu_bits(u32 v, u32 hi, u32 lo)
{
	return (v >> lo) & (0xffffffffu >> (31 - (hi - lo)));
}

#endif
