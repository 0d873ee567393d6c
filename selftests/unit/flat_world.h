/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a software NPU that is flat: DATA bytes at D_BASE, programs at P_BASE. P_BASE,
 * DATA and SEED are the test's.
 */
#ifndef FLAT_WORLD_H
#define FLAT_WORLD_H

#define D_BASE	0x10000000u

static uint64_t seed = SEED;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

static uint8_t *data, *image;
static uint64_t image_bytes;

static uint8_t *memory(u32 addr, u32 len, bool write)
{
	if (addr >= D_BASE && (uint64_t)addr - D_BASE + len <= DATA)
		return data + (addr - D_BASE);
	if (!write && addr >= P_BASE && (uint64_t)addr - P_BASE + len <= image_bytes)
		return image + (addr - P_BASE);
	return NULL;
}

static int mem_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
{
	uint8_t *from = memory(addr, len, false);

	(void)ctx;
	*fault = addr;
	if (from)
		memcpy(dst, from, len);
	return from ? 0 : -1;
}

static int mem_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
{
	uint8_t *to = memory(addr, len, true);

	(void)ctx;
	*fault = addr;
	if (to)
		memcpy(to, src, len);
	return to ? 0 : -1;
}

static struct npu_env env = { .read = mem_read, .write = mem_write };

#endif
