/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The laws of hw 02 §3-6 and hw 03 §1.2, read from the sheets once more and
 * applied to emitted register words. Shares nothing with kmod/prog.
 */
#ifndef PROG_LAWS_H
#define PROG_LAWS_H

#include <stdbool.h>
#include <stdint.h>

/* Register file of a program: value per offset / 4, later write wins. */
struct regs {
	uint32_t value[0x4200 / 4];
};

static inline uint32_t reg(const struct regs *r, uint32_t offset)
{
	return r->value[offset / 4];
}

static inline uint32_t bits(const struct regs *r, uint32_t offset, int hi, int lo)
{
	return (uint32_t)((((uint64_t)reg(r, offset)) >> lo) & ((2ull << (hi - lo)) - 1));
}

static inline void regs_load(struct regs *r, const uint64_t *words, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		uint32_t offset = words[i] & 0xffff;

		if (offset < 0x4200)
			r->value[offset / 4] = (uint32_t)(words[i] >> 16);
	}
}

static inline uint32_t in_bits(const struct regs *r)
{
	uint32_t code = bits(r, 0x100c, 6, 4);

	return code == 2 ? 16 : code == 6 ? 4 : 8;
}

static inline uint32_t group_of(const struct regs *r)
{
	uint32_t code = bits(r, 0x4010, 2, 0);

	return code == 2 ? 16 : code == 6 ? 64 : 32;
}

static inline uint32_t out_bytes(const struct regs *r)
{
	static const uint32_t bytes[] = { 1, 2, 2, 2, 4, 4, 0, 4 };

	return bytes[bits(r, 0x4010, 31, 29)];
}

/* hw 02 §3.4; byte of channel @c of line @h, absolute */
static inline uint64_t read_addr(const struct regs *r, uint32_t h, uint32_t c)
{
	uint32_t per_atom = 128 / in_bits(r), w = bits(r, 0x1020, 26, 16);
	int64_t line = bits(r, 0x107c, 27, 0), surf = bits(r, 0x1080, 27, 0), atom;

	if (surf >= 1 << 27)
		surf -= 1 << 28;
	if (bits(r, 0x100c, 29, 29))
		atom = h * line + (c / per_atom) * (w + surf);
	else
		atom = (h / 4) * line + (h % 4) * w + (c / per_atom) * (4 * w + surf);
	return reg(r, 0x1070) + 16 * atom + (c % per_atom) * in_bits(r) / 8;
}

/* hw 02 §3.5; byte of kernel @n of line @h, absolute */
static inline uint64_t write_addr(const struct regs *r, uint32_t h, uint32_t n)
{
	uint32_t group = group_of(r), ob = out_bytes(r), q = n % group * ob;
	uint64_t add = bits(r, 0x40c0, 31, 4) * 16ull, step = bits(r, 0x4024, 31, 4) * 16ull;
	uint64_t addr = reg(r, 0x4020) + q / 16 * step + q % 16;
	uint32_t lines = bits(r, 0x4034, 12, 0) + 1;

	/* a 1x1 write rectangle below a taller cube: every pixel a slot */
	if (reg(r, 0x405c) == 0 && lines > 1)
		return addr + ((uint64_t)(n / group) * lines + h) * add;
	addr += (uint64_t)(n / group) * add;
	if (h)
		addr += 16ull * (1 + bits(r, 0x4038, 12, 0)) +
			(h - 1) * 16ull * (1 + bits(r, 0x4038, 28, 16));
	return addr;
}

static inline uint32_t table_h(uint32_t k)
{
	/* smaller of hw 02 §6.3 and hw 03 §1.2 */
	switch (k) {
	case 256: return 64;
	case 512: return 32;
	case 768: return 22;
	case 1024: return 16;
	case 1536: return 11;
	case 2048: return 8;
	case 2560: case 3072: case 3584: case 4096: return 4;
	case 5120: case 6144: return 3;
	case 8192: return 2;
	default: return 12288 / k < 64 ? 12288 / k : 64;
	}
}

/* Name of the first law that a program breaks, NULL for none. */
static inline const char *broken_law(const struct regs *r, uint32_t m)
{
	uint32_t lines = bits(r, 0x1020, 10, 0), k = bits(r, 0x1088, 15, 0);
	uint32_t n = bits(r, 0x1038, 13, 0), in = in_bits(r), group = group_of(r);
	uint32_t d = bits(r, 0x1040, 3, 0), w = bits(r, 0x1040, 7, 4);
	uint64_t feature = (uint64_t)lines * ((k * in / 8 + 63) / 64) * 64;
	bool batch = in == 4 && reg(r, 0x405c) == 0 && lines > 1;
	uint32_t surfaces = group * out_bytes(r) / 16;

	if (d < 1 || d > 11)
		return "1 <= DATA_BANK <= 11";
	if (w < 1)
		return "WEIGHT_BANK >= 1";
	if (d + w > 12)
		return "12 banks";
	if (batch)
		feature = (4ull * (m - 1) + 1) * ((k + 127) / 128) * 64;
	if (feature > d * 32768ull)
		return "feature fits the data banks";
	if (in == 8 && feature * 100 >= 97 * d * 32768ull && feature != d * 32768ull)
		return "int8 data banks 97..99 % full";
	if (w * 32768u < 32 * k)
		return "one kernel group fits the weight banks";
	if (w < k / 1024 + 1)
		return "K/1024 + 1 weight banks";
	if (n <= 32 && w < 2)
		return "two weight banks for narrow N";
	if (k < 32 || k % 32 || k > 10752)
		return "K";
	if (!n || n % group || n > 8192)
		return "N";
	if (m < 1 || lines > 1023 || bits(r, 0x1010, 13, 4) == 0)
		return "rows and grains";
	if (bits(r, 0x1010, 13, 4) > lines + 1)
		return "grains above lines + 1";
	if (bits(r, 0x1040, 12, 12) || bits(r, 0x1040, 10, 8))
		return "DATA_REUSE, FC_DATA_BANK";
	if (bits(r, 0x1040, 13, 13) && (uint64_t)n * k * in / 8 > w * 32768ull)
		return "reused weight fits the weight banks";
	if (bits(r, 0x1044, 13, 0) != (k * in / 8 + 63) / 64)
		return "DATA_ENTRIES";
	if (bits(r, 0x4050, 4, 2) + 1 != surfaces || bits(r, 0x4050, 7, 5) + 1 != surfaces ||
	    bits(r, 0x4050, 10, 8) + 1 != surfaces)
		return "SIZE_E";
	if (bits(r, 0x40c0, 31, 4) != surfaces * bits(r, 0x4024, 31, 4))
		return "SURFACE_ADD";
	if (bits(r, 0x405c, 12, 0))
		return "row-0 trap";
	if (in == 16 && n <= 32 && k == 1024 && m > 128)
		return "hw 03 G10";
	if (in == 16 && k == 128 && m > 256)
		return "hw 03 G9";
	if (in == 16 && (uint64_t)m * k > 180224)
		return "hw 03 G8";
	if (in == 8 && ((k == 512 && m > 704) || (k == 1024 && m > 320) ||
			(k == 2048 && m > 128) || (k == 3072 && m > 64) || (k == 4096 && m > 64)))
		return "hw 03 G11";
	if (in == 8 && out_bytes(r) == 1 && k < 512)
		return "hw 03 G26";
	if (in == 4 && k >= 4096 && (reg(r, 0x1040) & 0xff) != 0xb1)
		return "hw 03 G20, split";
	if (batch && k >= 4096 && n > 64)
		return "hw 03 G20, columns";
	if (batch && k == 2048 && d == 4) {
		/* hw 03 §6.3 points 6, 8: these rows; §1.2: a bank to spare */
		if (m != 32)
			return "hw 03 G18";
		if (n > 256 || (uint64_t)n * k / 2 > (w - 1) * 32768ull)
			return "a spare weight bank";
	} else if (batch && (m > table_h(k) || (k == 1024 && m < 16) || d != 1)) {
		return "hw 02 §6.3, hw 03 G17";
	}
	if (batch && d == 1 && n > 64 && k >= 2048)
		return "hw 03 G19";
	if (batch && lines != 4 * m)
		return "four lines for every batch row";
	if (!batch && lines != m)
		return "a line for every row";
	return 0;
}

#endif
