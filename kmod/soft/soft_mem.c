// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a core see at an NPU address: through the attached window to a
 * physical page, and of that page what the driver has synchronised.
 */
#include <linux/minmax.h>
#include <linux/sizes.h>

#include "soft.h"

static int soft_mem_access(struct soft_core *core, u32 addr, void *buf, u32 len, bool write,
			   u32 *fault)
{
	while (len) {
		u32 n = min_t(u32, len, SZ_4K - (addr & (SZ_4K - 1)));
		phys_addr_t phys;

		if (READ_ONCE(core->blind) ||
		    !soft_iommu_translate(core->npu, addr, write, &phys)) {
			*fault = addr;
			return -1;
		}
		if (!soft_view_access(phys, buf, n, write)) {
			soft_error(SOFT_ERR_VIEW_MISSING,
				   "core%u: page of 0x%08x is in the window but not mapped for DMA",
				   core->index, addr);
			*fault = addr;
			return -1;
		}
		buf += n;
		len -= n;
		/* past the end of the address space comes its start */
		addr += n;
	}
	return 0;
}

int soft_mem_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
{
	return soft_mem_access(ctx, addr, dst, len, false, fault);
}

/* Behind every buffer lies a page that is not mapped: that is how a core tells them apart. */
u32 soft_mem_buffer(void *ctx, u32 addr)
{
	struct soft_core *core = ctx;

	return soft_iommu_run(core->npu, addr);
}

int soft_mem_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
{
	return soft_mem_access(ctx, addr, (void *)src, len, true, fault);
}
