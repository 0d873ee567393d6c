/* SPDX-License-Identifier: MIT */
#ifndef RKMM_POOL_H
#define RKMM_POOL_H

#include <stddef.h>
#include <stdint.h>

/* Does items first .. first + count - 1. */
typedef void (*rkmm_piece_fn)(void *arg, uint32_t first, uint32_t count);

/*
 * Work that touches fewer bytes is done by the caller alone: waking others costs
 * more. Tests lower it.
 */
extern size_t rkmm_parallel_min;

/*
 * All items, in pieces of step, by the caller and the threads of the pool; each
 * takes the next piece when it is done with its last, so that slow cores do less.
 * By the caller alone while the pool works for somebody else.
 */
void rkmm_parallel(size_t bytes, uint32_t items, uint32_t step, rkmm_piece_fn fn, void *arg);

/* Open devices hold the pool; the last one ends its threads. */
void rkmm_pool_get(void);
void rkmm_pool_put(void);

#endif
