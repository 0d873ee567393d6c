// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers shared with other devices and other clients by dma-buf, in both
 * directions. vgem is the other device.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <linux/dma-buf.h>
#include "../kselftest_harness.h"
#include <drm_mode.h>
#include "rkmm_test.h"

#define PAGE	4096

/* A buffer of vgem. */
struct foreign {
	int fd;
	uint32_t handle;
	uint64_t size;
	uint8_t *map;
};

static int vgem_open(void)
{
	int fd = node_open("vgem", "card");

	if (fd < 0 && !system("modprobe -q vgem >/dev/null 2>&1"))
		fd = node_open("vgem", "card");
	return fd;
}

static int foreign_create(int fd, uint64_t size, struct foreign *f)
{
	struct drm_mode_create_dumb dumb = {
		.width = PAGE, .height = (size + PAGE - 1) / PAGE, .bpp = 8,
	};
	struct drm_mode_map_dumb map = { 0 };
	int ret = xioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb);

	if (ret)
		return ret;
	map.handle = dumb.handle;
	ret = xioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map);
	if (ret)
		return ret;
	*f = (struct foreign) { .fd = fd, .handle = dumb.handle, .size = dumb.size };
	f->map = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map.offset);
	return f->map == MAP_FAILED ? -errno : 0;
}

static void foreign_free(struct foreign *f)
{
	munmap(f->map, f->size);
	gem_close(f->fd, f->handle);
}

static int export(int fd, uint32_t handle, uint32_t flags)
{
	struct drm_prime_handle p = { .handle = handle, .flags = flags | DRM_CLOEXEC };
	int ret = xioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p);

	return ret ? ret : p.fd;
}

static int import(int fd, int dmabuf, uint32_t *handle)
{
	struct drm_prime_handle p = { .fd = dmabuf };
	int ret = xioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p);

	*handle = p.handle;
	return ret;
}

static int bracket(int dmabuf, uint64_t flags)
{
	struct dma_buf_sync s = { .flags = flags };

	return xioctl(dmabuf, DMA_BUF_IOCTL_SYNC, &s);
}

static void scribble(uint8_t *p, uint64_t size, uint64_t seed)
{
	struct rnd r;

	rnd_seed(&r, seed);
	while (size--)
		*p++ = rnd_next(&r) >> 56;
}

static uint64_t first_wrong(const uint8_t *p, uint64_t size, uint64_t seed)
{
	struct rnd r;
	uint64_t i;

	rnd_seed(&r, seed);
	for (i = 0; i < size; i++)
		if (p[i] != (uint8_t)(rnd_next(&r) >> 56))
			break;
	return i;
}

static int run_op(int fd, const struct drm_rkmm_op *op)
{
	struct drm_rkmm_submit s;
	int ret;

	submit_init(&s, op, 1);
	ret = rk_submit(fd, &s);
	return ret ? ret : rk_result(fd, s.seqno);
}

FIXTURE(prime) {
	int fd, vgem;
	struct mm mm;
};

FIXTURE_SETUP(prime)
{
	self->fd = rk_open();
	ASSERT_LE(0, self->fd);
	self->mm = (struct mm) { .types = DRM_RKMM_I8I32, .m = 9, .k = 70, .n = 75 };
	ASSERT_EQ(0, mm_init(&self->mm, self->fd, 11));
	self->vgem = vgem_open();
}

FIXTURE_TEARDOWN(prime)
{
	mm_free(&self->mm);
	if (self->vgem >= 0)
		close(self->vgem);
	close(self->fd);
}

/* --- exported ------------------------------------------------------------------ */

TEST_F(prime, export_and_import_in_one_client)
{
	struct mm *mm = &self->mm;
	uint32_t handle;
	int dmabuf;

	dmabuf = export(self->fd, mm->a.handle, DRM_RDWR);
	ASSERT_LE(0, dmabuf);
	ASSERT_EQ(0, import(self->fd, dmabuf, &handle));
	EXPECT_EQ(mm->a.handle, handle);
	EXPECT_EQ((off_t)mm->a.size, lseek(dmabuf, 0, SEEK_END));
	close(dmabuf);
	EXPECT_EQ(0, mm_run(mm)) {
		TH_LOG("%s", mm->msg);
	}
}

/* The other client's submission reads and writes the same memory. */
TEST_F(prime, between_clients)
{
	struct mm *mm = &self->mm, other;
	struct drm_rkmm_op op;
	uint32_t a, b, c;
	int fd, dmabuf[3], i;

	fd = rk_open();
	ASSERT_LE(0, fd);
	other = (struct mm) { .types = mm->types, .m = mm->m, .k = mm->k, .n = mm->n };
	ASSERT_EQ(0, mm_plan(&other, fd));
	dmabuf[0] = export(self->fd, mm->a.handle, DRM_RDWR);
	dmabuf[1] = export(self->fd, mm->b.handle, DRM_RDWR);
	dmabuf[2] = export(self->fd, mm->c.handle, DRM_RDWR);
	for (i = 0; i < 3; i++)
		ASSERT_LE(0, dmabuf[i]);
	ASSERT_EQ(0, import(fd, dmabuf[0], &a));
	ASSERT_EQ(0, import(fd, dmabuf[1], &b));
	ASSERT_EQ(0, import(fd, dmabuf[2], &c));
	for (i = 0; i < 3; i++)
		close(dmabuf[i]);

	op = mm_op(mm);
	op.plan = other.plan.plan;
	op.a.handle = a;
	op.b.handle = b;
	op.c.handle = c;
	for (i = 0; i < 3; i++) {
		mm_new_a(mm);
		ASSERT_EQ(0, buf_end_write(&mm->a));
		ASSERT_EQ(0, mm_new_c(mm));
		ASSERT_EQ(0, run_op(fd, &op));
		EXPECT_EQ(0, mm_check(mm)) {
			TH_LOG("%s", mm->msg);
		}
	}
	/* still there for the one when the other is gone */
	close(fd);
	EXPECT_EQ(0, mm_run(mm)) {
		TH_LOG("%s", mm->msg);
	}
}

/* Only the brackets of dma-buf, none of ours. */
TEST_F(prime, dma_buf_brackets)
{
	struct mm *mm = &self->mm;
	struct drm_rkmm_op op = mm_op(mm);
	int a, c, i;
	uint8_t *map;

	a = export(self->fd, mm->a.handle, DRM_RDWR);
	c = export(self->fd, mm->c.handle, DRM_RDWR);
	ASSERT_LE(0, a);
	ASSERT_LE(0, c);
	map = mmap(NULL, mm->c.size, PROT_READ, MAP_SHARED, c, 0);
	ASSERT_NE(MAP_FAILED, map);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, bracket(a, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE));
		mm_new_a(mm);
		ASSERT_EQ(0, bracket(a, DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE));
		ASSERT_EQ(0, bracket(c, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
		scribble(mm->c.map, mm->c.size, i);
		memcpy(mm->fill, mm->c.map, mm->c.size);
		ASSERT_EQ(0, bracket(c, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
		ASSERT_EQ(0, run_op(self->fd, &op));
		ASSERT_EQ(0, bracket(c, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
		EXPECT_EQ(0, mm_compare(mm)) {
			TH_LOG("%s", mm->msg);
		}
		EXPECT_EQ(0, memcmp(map, mm->c.map, mm->c.size));
		ASSERT_EQ(0, bracket(c, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ));
	}
	munmap(map, mm->c.size);
	close(a);
	close(c);
}

/* The bracket waits for the job by itself, and it waits before it fetches. */
TEST_F(prime, bracket_waits_for_the_job)
{
	struct mm *mm = &self->mm;
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int c, i;

	c = export(self->fd, mm->c.handle, DRM_RDWR);
	ASSERT_LE(0, c);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, mm_new_c(mm));
		submit_init(&s, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, bracket(c, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
		EXPECT_EQ(0, mm_compare(mm)) {
			TH_LOG("%s", mm->msg);
		}
		ASSERT_EQ(0, bracket(c, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ));
	}
	close(c);
}

/* A begin that came before the job's end does not spoil the one after it. */
TEST_F(prime, begin_during_a_job)
{
	struct mm *mm = &self->mm;
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, mm_new_c(mm));
		submit_init(&s, &op, 1);
		ASSERT_EQ(0, rk_submit(self->fd, &s));
		ASSERT_EQ(0, bo_sync(self->fd, mm->c.handle, DRM_RKMM_SYNC_READ, 0, mm->c.size));
		ASSERT_EQ(0, rk_result(self->fd, s.seqno));
		EXPECT_EQ(0, mm_check(mm)) {
			TH_LOG("%s", mm->msg);
		}
	}
}

TEST_F(prime, export_outlives_the_client)
{
	struct buf buf;
	uint32_t handle;
	uint8_t *map;
	int fd, dmabuf;

	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, buf_create(fd, 3 * PAGE, &buf));
	scribble(buf.map, buf.size, 5);
	dmabuf = export(fd, buf.handle, DRM_RDWR);
	ASSERT_LE(0, dmabuf);
	buf_free(&buf);
	close(fd);

	map = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(3 * PAGE, first_wrong(map, 3 * PAGE, 5));
	scribble(map, 3 * PAGE, 6);
	munmap(map, 3 * PAGE);
	ASSERT_EQ(0, import(self->fd, dmabuf, &handle));
	close(dmabuf);
	/* nobody but the handle holds it now */
	dmabuf = export(self->fd, handle, DRM_RDWR);
	ASSERT_LE(0, dmabuf);
	map = mmap(NULL, 3 * PAGE, PROT_READ, MAP_SHARED, dmabuf, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(3 * PAGE, first_wrong(map, 3 * PAGE, 6));
	munmap(map, 3 * PAGE);
	close(dmabuf);
	EXPECT_EQ(0, gem_close(self->fd, handle));
}

/* From the middle of a buffer, and what is left of an area after holes were made in it. */
TEST_F(prime, mmap_offsets)
{
	uint64_t size = 40 * PAGE, i;
	struct buf buf;
	uint8_t *map;
	int dmabuf;

	ASSERT_EQ(0, buf_create(self->fd, size, &buf));
	scribble(buf.map, size, 21);
	dmabuf = export(self->fd, buf.handle, DRM_RDWR);
	ASSERT_LE(0, dmabuf);
	for (i = 0; i < 40; i += 13) {
		map = mmap(NULL, size - i * PAGE, PROT_READ, MAP_SHARED, dmabuf, i * PAGE);
		ASSERT_NE(MAP_FAILED, map);
		EXPECT_EQ(0, memcmp(map, buf.map + i * PAGE, size - i * PAGE)) {
			TH_LOG("from page %llu", (unsigned long long)i);
		}
		munmap(map, size - i * PAGE);
	}
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, dmabuf, size - PAGE));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size + PAGE, PROT_READ, MAP_SHARED, dmabuf, 0));

	/* nothing touched yet: the pages come in behind the holes */
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, self->fd, buf.offset);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, munmap(map, PAGE));
	ASSERT_EQ(0, munmap(map + 17 * PAGE, 3 * PAGE));
	EXPECT_EQ(0, memcmp(map + PAGE, buf.map + PAGE, 16 * PAGE));
	EXPECT_EQ(0, memcmp(map + 20 * PAGE, buf.map + 20 * PAGE, 20 * PAGE));
	munmap(map, size);
	close(dmabuf);
	buf_free(&buf);
}

/* vgem attaches, maps and lets go again while jobs run on the buffer. */
TEST_F(prime, imported_by_vgem)
{
	struct mm *mm = &self->mm;
	uint32_t a, c;
	int dmabuf[2], i;

	if (self->vgem < 0)
		SKIP(return, "no vgem");
	dmabuf[0] = export(self->fd, mm->a.handle, DRM_RDWR);
	dmabuf[1] = export(self->fd, mm->c.handle, DRM_RDWR);
	ASSERT_LE(0, dmabuf[0]);
	ASSERT_LE(0, dmabuf[1]);
	for (i = 0; i < 4; i++) {
		/* what was written and shown is not lost by another device's mappings */
		mm_new_a(mm);
		ASSERT_EQ(0, buf_end_write(&mm->a));
		ASSERT_EQ(0, mm_new_c(mm));
		ASSERT_EQ(0, import(self->vgem, dmabuf[0], &a));
		ASSERT_EQ(0, import(self->vgem, dmabuf[1], &c));
		if (i & 1)
			ASSERT_EQ(0, gem_close(self->vgem, a));
		EXPECT_EQ(0, mm_run(mm)) {
			TH_LOG("%s", mm->msg);
		}
		ASSERT_EQ(0, bracket(dmabuf[1], DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
		ASSERT_EQ(0, bracket(dmabuf[1], DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ));
		EXPECT_EQ(0, mm_compare(mm)) {
			TH_LOG("%s", mm->msg);
		}
		if (!(i & 1))
			ASSERT_EQ(0, gem_close(self->vgem, a));
		ASSERT_EQ(0, gem_close(self->vgem, c));
	}
	/* vgem is the last holder */
	ASSERT_EQ(0, import(self->vgem, dmabuf[0], &a));
	close(dmabuf[0]);
	close(dmabuf[1]);
}

/* --- imported ------------------------------------------------------------------- */

/* Operands at the places that mm has them, in memory of vgem. */
TEST_F(prime, operands_in_vgem)
{
	struct mm *mm = &self->mm;
	struct drm_rkmm_op op = mm_op(mm);
	struct foreign f[3];
	struct buf *own[3] = { &mm->a, &mm->b, &mm->c };
	uint32_t handle[3], again;
	int i, round, dmabuf[3];

	if (self->vgem < 0)
		SKIP(return, "no vgem");
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, foreign_create(self->vgem, own[i]->size, &f[i]));
		memcpy(f[i].map, own[i]->map, own[i]->size);
		dmabuf[i] = export(self->vgem, f[i].handle, DRM_RDWR);
		ASSERT_LE(0, dmabuf[i]);
		ASSERT_EQ(0, import(self->fd, dmabuf[i], &handle[i]));
		/* the same dma-buf is the same buffer */
		ASSERT_EQ(0, import(self->fd, dmabuf[i], &again));
		EXPECT_EQ(handle[i], again);
	}
	op.a.handle = handle[0];
	op.b.handle = handle[1];
	op.c.handle = handle[2];
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, run_op(self->fd, &op));
		ASSERT_EQ(0, bo_sync(self->fd, handle[2], DRM_RKMM_SYNC_READ, 0, mm->c.size));
		memcpy(mm->c.map, f[2].map, mm->c.size);
		EXPECT_EQ(0, mm_compare(mm)) {
			TH_LOG("%s", mm->msg);
		}
		ASSERT_EQ(0, bo_sync(self->fd, handle[2],
				     DRM_RKMM_SYNC_READ | DRM_RKMM_SYNC_END, 0, mm->c.size));
		/* the next round's values */
		mm_new_a(mm);
		ASSERT_EQ(0, mm_new_c(mm));
		for (i = 0; i < 3; i += 2) {
			ASSERT_EQ(0, bo_sync(self->fd, handle[i], DRM_RKMM_SYNC_WRITE, 0,
					     own[i]->size));
			memcpy(f[i].map, own[i]->map, own[i]->size);
			ASSERT_EQ(0, bo_sync(self->fd, handle[i],
					     DRM_RKMM_SYNC_WRITE | DRM_RKMM_SYNC_END, 0,
					     own[i]->size));
		}
	}
	for (i = 0; i < 3; i++) {
		close(dmabuf[i]);
		/* one lets go before, one after the exporter */
		if (i)
			EXPECT_EQ(0, gem_close(self->fd, handle[i]));
		foreign_free(&f[i]);
		if (!i)
			EXPECT_EQ(0, gem_close(self->fd, handle[i]));
	}
}

/* One client's output in foreign memory is the next client's input, no CPU between. */
TEST_F(prime, relay_through_vgem)
{
	struct mm *mm = &self->mm, next;
	struct drm_rkmm_op op;
	struct foreign f;
	uint32_t here, there;
	int fd, dmabuf;

	if (self->vgem < 0)
		SKIP(return, "no vgem");
	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, foreign_create(self->vgem, mm->c.size, &f));
	dmabuf = export(self->vgem, f.handle, DRM_RDWR);
	ASSERT_LE(0, dmabuf);
	ASSERT_EQ(0, import(self->fd, dmabuf, &here));

	/* C = int32 of the first is read as int8 rows by the second */
	next = (struct mm) { .types = DRM_RKMM_I8I32, .m = 4, .k = 128, .n = 40 };
	ASSERT_EQ(0, mm_init(&next, fd, 12));
	ASSERT_LE(next.a_off + next.plan.a.size, f.size);
	op = mm_op(mm);
	op.c.handle = here;
	op.c.offset = 0;
	ASSERT_EQ(0, run_op(self->fd, &op));
	ASSERT_EQ(0, import(fd, dmabuf, &there));
	op = mm_op(&next);
	op.a.handle = there;
	op.a.offset = 0;
	ASSERT_EQ(0, run_op(fd, &op));

	ASSERT_EQ(0, bo_sync(self->fd, here, DRM_RKMM_SYNC_READ, 0, f.size));
	if (next.plan.a.layout == DRM_RKMM_LAYOUT_ROWS) {
		uint32_t i;

		for (i = 0; i < next.m * next.k; i++)
			next.av[i] = (int8_t)f.map[element_bit(&next.plan.a, i / next.k,
							       i % next.k) / 8];
		EXPECT_EQ(0, mm_check(&next)) {
			TH_LOG("%s", next.msg);
		}
	}
	mm_free(&next);
	close(dmabuf);
	close(fd);
	foreign_free(&f);
}

/* A dma-buf that may not be written: an input, never an output. */
TEST_F(prime, read_only_import)
{
	struct mm *mm = &self->mm;
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_submit s;
	struct foreign a, c;
	uint32_t ha, hc;
	int dmabuf;

	if (self->vgem < 0)
		SKIP(return, "no vgem");
	ASSERT_EQ(0, foreign_create(self->vgem, mm->a.size, &a));
	ASSERT_EQ(0, foreign_create(self->vgem, mm->c.size, &c));
	memcpy(a.map, mm->a.map, mm->a.size);
	dmabuf = export(self->vgem, a.handle, 0);
	ASSERT_LE(0, dmabuf);
	EXPECT_EQ(O_RDONLY, fcntl(dmabuf, F_GETFL) & O_ACCMODE);
	ASSERT_EQ(0, import(self->fd, dmabuf, &ha));
	close(dmabuf);
	dmabuf = export(self->vgem, c.handle, 0);
	ASSERT_LE(0, dmabuf);
	ASSERT_EQ(0, import(self->fd, dmabuf, &hc));
	close(dmabuf);

	op.a.handle = ha;
	ASSERT_EQ(0, mm_new_c(mm));
	ASSERT_EQ(0, run_op(self->fd, &op));
	EXPECT_EQ(0, mm_check(mm)) {
		TH_LOG("%s", mm->msg);
	}
	op.c.handle = hc;
	submit_init(&s, &op, 1);
	EXPECT_EQ(-EINVAL, rk_submit(self->fd, &s));
	foreign_free(&a);
	foreign_free(&c);
}

TEST_F(prime, bad_imports)
{
	uint32_t handle;
	int fd[2];

	EXPECT_NE(0, import(self->fd, -1, &handle));
	ASSERT_EQ(0, pipe(fd));
	EXPECT_NE(0, import(self->fd, fd[0], &handle));
	close(fd[0]);
	close(fd[1]);
	EXPECT_NE(0, import(self->fd, self->fd, &handle));
	EXPECT_EQ(-ENOENT, export(self->fd, 0x7fffffff, DRM_RDWR));
}

/* An import cannot be mapped through our node, whatever offset is guessed. */
TEST_F(prime, imports_are_not_mapped_here)
{
	struct foreign f;
	struct buf buf;
	uint32_t handle;
	uint64_t i;
	int fd, dmabuf;

	if (self->vgem < 0)
		SKIP(return, "no vgem");
	fd = rk_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, foreign_create(self->vgem, 2 * PAGE, &f));
	ASSERT_EQ(0, buf_create(fd, PAGE, &buf));
	dmabuf = export(self->vgem, f.handle, DRM_RDWR);
	ASSERT_LE(0, dmabuf);
	ASSERT_EQ(0, import(fd, dmabuf, &handle));
	for (i = 0; i < 64; i++)
		EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd,
					   buf.offset + (i - 32) * PAGE));
	close(dmabuf);
	buf_free(&buf);
	close(fd);
	foreign_free(&f);
}

/* --- the device goes ---------------------------------------------------------------- */

#define DRIVER	"/sys/bus/platform/drivers/rkmm/"

/* Imports, exports and mappings of a device that is gone, let go in either order. */
TEST_F(prime, outlives_the_device)
{
	struct mm *mm = &self->mm;
	struct drm_rkmm_op op = mm_op(mm);
	struct drm_rkmm_bo_sync bs;
	uint32_t in[2], out, again;
	struct foreign f[2];
	int i, dmabuf[2], own;

	if (self->vgem < 0)
		SKIP(return, "no vgem");
	if (access(DRIVER "rkmm-npu", F_OK))
		SKIP(return, "not the software NPU");
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, foreign_create(self->vgem, mm->c.size, &f[i]));
		scribble(f[i].map, f[i].size, i);
		dmabuf[i] = export(self->vgem, f[i].handle, DRM_RDWR);
		ASSERT_LE(0, dmabuf[i]);
		ASSERT_EQ(0, import(self->fd, dmabuf[i], &in[i]));
	}
	own = export(self->fd, mm->a.handle, DRM_RDWR);
	ASSERT_LE(0, own);
	ASSERT_EQ(0, import(self->vgem, own, &out));
	op.c.handle = in[0];
	ASSERT_EQ(0, run_op(self->fd, &op));
	memcpy(mm->fill, f[0].map, f[0].size);
	ASSERT_EQ(0, bo_sync(self->fd, in[0], DRM_RKMM_SYNC_READ, 0, mm->c.size));
	memcpy(mm->c.map, f[0].map, mm->c.size);
	EXPECT_EQ(0, mm_compare(mm)) {
		TH_LOG("%s", mm->msg);
	}
	/* one result not fetched by anybody: it is there when the device is gone */
	ASSERT_EQ(0, mm_new_c(mm));
	op.c.handle = mm->c.handle;
	ASSERT_EQ(0, run_op(self->fd, &op));

	ASSERT_EQ(0, file_write(DRIVER "unbind", "rkmm-npu"));
	EXPECT_EQ(0, mm_compare(mm)) {
		TH_LOG("%s", mm->msg);
	}
	bs = (struct drm_rkmm_bo_sync) {
		.handle = in[0], .flags = DRM_RKMM_SYNC_READ, .size = 1,
	};
	EXPECT_EQ(-ENODEV, xioctl(self->fd, DRM_IOCTL_RKMM_BO_SYNC, &bs));
	EXPECT_EQ(-ENODEV, import(self->fd, dmabuf[1], &again));
	/* the exported buffer still is a dma-buf */
	EXPECT_EQ(0, bracket(own, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, bracket(own, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, gem_close(self->vgem, out));
	EXPECT_EQ(0, import(self->vgem, own, &out));
	EXPECT_EQ(0, gem_close(self->vgem, out));
	EXPECT_EQ(f[1].size, first_wrong(f[1].map, f[1].size, 1));
	foreign_free(&f[0]);
	ASSERT_EQ(0, file_write(DRIVER "bind", "rkmm-npu"));
	close(own);
	close(dmabuf[0]);
	foreign_free(&f[1]);
	close(dmabuf[1]);
}

RKMM_TEST_MAIN
