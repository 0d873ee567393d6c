/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The law of hw 03 §6.2, read from the sheet once more: plain loops over the
 * programs of a tiling, shared in the best way there is.
 */
#ifndef PROG_TIME_H
#define PROG_TIME_H

#include <stdint.h>
#include <stdlib.h>

#include "kmod/prog/rkmm_prog.h"

/**
 * struct way - a way to compute one product
 * @types: of the programs
 * @form: form
 * @m: rows in all
 * @k: of a slice
 * @np: padded columns
 * @rows: per program
 * @cols: per program
 * @slices: of K
 * @cores: that have work
 */
struct way {
	enum rkmm_types types;
	enum rkmm_form form;
	uint32_t m, k, np, rows, cols, slices, cores;
};

/* ns of one program */
static inline double law_program(const struct rkmm_cost *c, const struct way *w, uint32_t rows,
				 uint32_t cols)
{
	double macs = (double)rows * cols * w->k, bytes = (double)cols * w->k, other;

	switch (w->types) {
	case RKMM_T_I4I16:
		if (w->form == RKMM_FORM_FLAT)
			return bytes / 2 / (c->row_rate / 10.0);
		return c->i4_start[w->cores - 1] + macs / c->i4_macs[w->cores - 1];
	case RKMM_T_F16F32:
	case RKMM_T_F16F16:
		bytes = 2 * bytes * w->cores / (c->f16_rate / 10.0);
		other = macs / c->f16_macs;
		break;
	default:
		bytes = bytes * w->cores / (c->i8_rate[w->cores - 1] / 10.0);
		other = macs / c->i8_macs;
		break;
	}
	return bytes > other ? bytes : other;
}

/* ns before the first program of a core */
static inline double law_start(const struct rkmm_cost *c, const struct way *w)
{
	if (w->types == RKMM_T_I4I16)
		return w->form == RKMM_FORM_FLAT ? c->row_start : 0;
	if (w->types == RKMM_T_F16F32 || w->types == RKMM_T_F16F16)
		return c->f16_start;
	return c->i8_start[w->cores - 1];
}

/* ns of the CPU to add the partial results of @n columns */
static inline double law_host(const struct rkmm_cost *c, const struct way *w, uint32_t n)
{
	return w->slices > 1 ? (double)w->m * n * w->slices * c->add_ps / 1000 : 0;
}

/**
 * struct span_ns - programs that follow each other and take equally long
 * @ns: each
 * @count: how many
 */
struct span_ns {
	double ns;
	uint64_t count;
};

/* How many cores programs in order need when none may work longer than @most */
static inline uint32_t law_cores(const struct span_ns *s, uint32_t n, double most)
{
	uint32_t cores = 1, i;
	double used = 0;

	for (i = 0; i < n; i++) {
		uint64_t left = s[i].count, fit;

		while (left) {
			fit = (uint64_t)((most - used) / s[i].ns + 1e-9);
			if (fit >= left) {
				used += (double)left * s[i].ns;
				break;
			}
			left -= fit;
			used = 0;
			if (++cores > RKMM_LANES_MAX)
				return cores;
		}
	}
	return cores;
}

/* ns of the core with most to do, programs in order and shared as well as can be */
static inline double law_longest(const struct span_ns *s, uint32_t n, uint32_t cores)
{
	double all = 0, one = 0, low, high;
	uint32_t i;

	for (i = 0; i < n; i++) {
		all += s[i].ns * (double)s[i].count;
		if (s[i].ns > one)
			one = s[i].ns;
	}
	low = all / cores > one ? all / cores : one;
	high = all / cores + one;
	for (i = 0; i < 30 && high - low > 0.01; i++) {
		double mid = (low + high) / 2;

		if (law_cores(s, n, mid) <= cores)
			high = mid;
		else
			low = mid;
	}
	return high;
}

/* ns from the start to the end of the last core; 0 for ways with fewer programs than cores */
static inline double law_time(const struct rkmm_cost *c, const struct way *w)
{
	uint32_t m_tiles = (w->m + w->rows - 1) / w->rows;
	uint32_t n_tiles = (w->np + w->cols - 1) / w->cols;
	uint32_t last_rows = w->m - (m_tiles - 1) * w->rows;
	uint32_t last_cols = w->np - (n_tiles - 1) * w->cols;
	uint32_t n = 0, slice, chunk;
	struct span_ns *s;
	double ns;

	if ((uint64_t)m_tiles * n_tiles * w->slices < w->cores)
		return 0;
	s = calloc(2ul * n_tiles * w->slices, sizeof(*s));
	for (slice = 0; slice < w->slices; slice++) {
		for (chunk = 0; chunk < n_tiles; chunk++) {
			uint32_t cols = chunk + 1 < n_tiles ? w->cols : last_cols;

			if (m_tiles > 1)
				s[n++] = (struct span_ns){ law_program(c, w, w->rows, cols),
							   m_tiles - 1 };
			s[n++] = (struct span_ns){ law_program(c, w, last_rows, cols), 1 };
		}
	}
	ns = law_start(c, w) + law_longest(s, n, w->cores);
	free(s);
	return ns;
}

static inline struct way way_of(const struct rkmm_geom *g)
{
	return (struct way){
		.types = g->types, .form = g->form, .m = g->a_rows, .k = g->kp, .np = g->np,
		.rows = g->rows, .cols = g->cols, .slices = g->slices, .cores = g->lanes,
	};
}

#endif
