// SPDX-License-Identifier: GPL-2.0-only
/*
 * dma_buf_unmap_attachment_unlocked() since 19d6634d8789 ("dma-buf: Move dma_buf_attach() to
 * dynamic locking specification"), 6.2; Debian's 6.1 has it too.
 */
#include <linux/dma-buf.h>

static void __maybe_unused probe(struct dma_buf_attachment *attach, struct sg_table *sgt)
{
	dma_buf_unmap_attachment_unlocked(attach, sgt, DMA_BIDIRECTIONAL);
}
