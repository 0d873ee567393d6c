// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of many GiB on little memory.
 *
 * The weights of a large model do not fit a test machine, but what they do to address
 * windows can be seen without them: such a dma-buf has some MiB of pages, and has them
 * again and again until it is as large as was asked for. To a driver it is a buffer like
 * any other; offsets that differ by a multiple of those MiB are the same bytes. The device
 * view is kept by physical page, so it is the same for all of them too.
 *
 * Only the facade of the software NPU may attach: nobody else expects such a thing.
 */
#include <linux/debugfs.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/rkmm_compat.h"
#include "soft.h"

RKMM_IMPORT_NS(DMA_BUF);

#define ALIAS_CHUNK	SZ_2M
#define ALIAS_CHUNKS	32
#define ALIAS_MOST	((u64)SZ_1G * 64)

/* What is asked of the file "alias"; in Documentation/soft-npu.rst. */
struct soft_alias_request {
	__u64 size;
	__u64 memory;
	__s32 fd;
	__u32 pad;
};

#define SOFT_IOC_ALIAS	_IOWR('S', 1, struct soft_alias_request)

struct soft_alias {
	u64 size;
	u32 n;
	/** @lock: @mapped */
	struct mutex lock;
	/** @mapped: attachments that are */
	struct list_head mapped;
	/** @chunk: the memory, each of ALIAS_CHUNK bytes */
	struct page *chunk[ALIAS_CHUNKS];
};

struct soft_alias_attachment {
	struct device *dev;
	struct sg_table sgt;
	struct list_head node;
};

static void alias_free(struct soft_alias *alias)
{
	while (alias->n)
		__free_pages(alias->chunk[--alias->n], get_order(ALIAS_CHUNK));
	mutex_destroy(&alias->lock);
	kfree(alias);
}

static struct soft_alias *alias_new(u64 size, u64 memory)
{
	struct soft_alias *alias = kzalloc(sizeof(*alias), GFP_KERNEL);
	u32 n = memory / ALIAS_CHUNK;

	if (!alias)
		return NULL;
	mutex_init(&alias->lock);
	INIT_LIST_HEAD(&alias->mapped);
	alias->size = size;
	for (; alias->n < n; alias->n++) {
		alias->chunk[alias->n] = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN,
						     get_order(ALIAS_CHUNK));
		if (!alias->chunk[alias->n]) {
			alias_free(alias);
			return NULL;
		}
	}
	return alias;
}

static int alias_attach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	struct soft_alias_attachment *att;

	if (!soft_dma_installed(attach->dev))
		return -EOPNOTSUPP;
	att = kzalloc(sizeof(*att), GFP_KERNEL);
	if (!att)
		return -ENOMEM;
	att->dev = attach->dev;
	attach->priv = att;
	return 0;
}

static void alias_detach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	kfree(attach->priv);
}

static struct sg_table *alias_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	struct soft_alias_attachment *att = attach->priv;
	struct soft_alias *alias = attach->dmabuf->priv;
	struct scatterlist *sg;
	u64 left = alias->size;
	u32 i;
	int ret;

	ret = sg_alloc_table(&att->sgt, DIV_ROUND_UP_ULL(left, ALIAS_CHUNK), GFP_KERNEL);
	if (ret)
		return ERR_PTR(ret);
	for_each_sgtable_sg(&att->sgt, sg, i) {
		sg_set_page(sg, alias->chunk[i % alias->n], min_t(u64, left, ALIAS_CHUNK), 0);
		left -= sg->length;
	}
	ret = dma_map_sgtable(att->dev, &att->sgt, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (ret) {
		sg_free_table(&att->sgt);
		return ERR_PTR(ret);
	}
	mutex_lock(&alias->lock);
	list_add(&att->node, &alias->mapped);
	mutex_unlock(&alias->lock);
	return &att->sgt;
}

static void alias_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			enum dma_data_direction dir)
{
	struct soft_alias_attachment *att = attach->priv;
	struct soft_alias *alias = attach->dmabuf->priv;

	mutex_lock(&alias->lock);
	list_del(&att->node);
	mutex_unlock(&alias->lock);
	dma_unmap_sgtable(att->dev, sgt, dir, DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
}

/* All of the memory, once: the rest is the same. */
static void alias_sync(struct soft_alias *alias, bool for_cpu)
{
	struct soft_alias_attachment *att;
	struct scatterlist *sg;
	u32 i;

	mutex_lock(&alias->lock);
	list_for_each_entry(att, &alias->mapped, node) {
		for_each_sgtable_dma_sg(&att->sgt, sg, i) {
			if (i == alias->n)
				break;
			if (for_cpu)
				dma_sync_single_for_cpu(att->dev, sg_dma_address(sg),
							sg_dma_len(sg), DMA_BIDIRECTIONAL);
			else
				dma_sync_single_for_device(att->dev, sg_dma_address(sg),
							   sg_dma_len(sg), DMA_BIDIRECTIONAL);
		}
	}
	mutex_unlock(&alias->lock);
}

static int alias_begin(struct dma_buf *buf, enum dma_data_direction dir)
{
	if (dir != DMA_TO_DEVICE)
		alias_sync(buf->priv, true);
	return 0;
}

static int alias_end(struct dma_buf *buf, enum dma_data_direction dir)
{
	if (dir != DMA_FROM_DEVICE)
		alias_sync(buf->priv, false);
	return 0;
}

static int alias_mmap(struct dma_buf *buf, struct vm_area_struct *vma)
{
	struct soft_alias *alias = buf->priv;
	u64 at = (u64)vma->vm_pgoff << PAGE_SHIFT;
	unsigned long addr = vma->vm_start;
	int ret = 0;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	while (addr < vma->vm_end && !ret) {
		u64 offset = at % ALIAS_CHUNK;
		unsigned long len = min_t(u64, vma->vm_end - addr, ALIAS_CHUNK - offset);
		struct page *chunk = alias->chunk[at / ALIAS_CHUNK % alias->n];

		ret = remap_pfn_range(vma, addr, page_to_pfn(chunk) + (offset >> PAGE_SHIFT), len,
				      vma->vm_page_prot);
		addr += len;
		at += len;
	}
	return ret;
}

static void alias_release(struct dma_buf *buf)
{
	alias_free(buf->priv);
}

static const struct dma_buf_ops alias_ops = {
	.attach = alias_attach,
	.detach = alias_detach,
	.map_dma_buf = alias_map,
	.unmap_dma_buf = alias_unmap,
	.begin_cpu_access = alias_begin,
	.end_cpu_access = alias_end,
	.mmap = alias_mmap,
	.release = alias_release,
};

static int alias_export(const struct soft_alias_request *req)
{
	struct dma_buf_export_info info = {
		.exp_name = "rkmm_soft",
		.owner = THIS_MODULE,
		.ops = &alias_ops,
		.size = req->size,
		.flags = O_RDWR | O_CLOEXEC,
	};
	struct soft_alias *alias;
	struct dma_buf *buf;
	int fd;

	if (req->pad || !req->size || req->size > ALIAS_MOST || !PAGE_ALIGNED(req->size) ||
	    !req->memory || req->memory % ALIAS_CHUNK || req->memory > req->size ||
	    req->memory / ALIAS_CHUNK > ALIAS_CHUNKS)
		return -EINVAL;
	alias = alias_new(req->size, req->memory);
	if (!alias)
		return -ENOMEM;
	info.priv = alias;
	buf = dma_buf_export(&info);
	if (IS_ERR(buf)) {
		alias_free(alias);
		return PTR_ERR(buf);
	}
	fd = dma_buf_fd(buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buf);
	return fd;
}

static long alias_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct soft_alias_request __user *user = (void __user *)arg;
	struct soft_alias_request req;
	int fd;

	if (cmd != SOFT_IOC_ALIAS)
		return -ENOTTY;
	if (copy_from_user(&req, user, sizeof(req)))
		return -EFAULT;
	/* the descriptor is last: whoever cannot be told of it has it until he ends */
	fd = alias_export(&req);
	if (fd < 0)
		return fd;
	return put_user(fd, &user->fd);
}

static const struct file_operations alias_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.unlocked_ioctl = alias_ioctl,
};

void soft_alias_debugfs(struct dentry *dir)
{
	debugfs_create_file("alias", 0600, dir, NULL, &alias_fops);
}
