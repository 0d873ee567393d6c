// SPDX-License-Identifier: GPL-2.0-only
/*
 * Program images: the programs of a step with addresses in place, synthesised once
 * per list of (plan, rows, addresses, repetitions) and kept under a byte budget per
 * client.
 *
 * An image holds numbers only, no references to buffers: a job that finds it
 * has mapped its own buffers at exactly these addresses.
 */
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "rkmm_job.h"

static uint image_budget_kib = 16384;
module_param(image_budget_kib, uint, 0644);
MODULE_PARM_DESC(image_budget_kib, "Idle program images kept per client, KiB (default 16384)");

static int light = -1;
module_param(light, int, 0644);
MODULE_PARM_DESC(light,
		 "Programs of a chain write only what differs: 1, 0, or -1: not on silicon (default)");

/* The vendor's chains have light tasks (hw 02 §7.4); ours were never seen to run on a board. */
static bool rkmm_image_light(struct rkmm_device *rdev)
{
	int wanted = READ_ONCE(light);

	return wanted < 0 ? rdev->soft : wanted;
}

#define RKMM_IMAGE_HASHED	6	/* words */

static u32 rkmm_image_hash(const struct rkmm_bound *bound, u32 n)
{
	u32 hash = 0, i;

	for (i = 0; i < n; i++)
		hash = jhash2((const u32 *)&bound[i].key, RKMM_IMAGE_HASHED, hash);
	return hash;
}

static bool rkmm_image_is(const struct rkmm_image *image, const struct rkmm_bound *bound, u32 n)
{
	u32 i;

	if (image->nkeys != n)
		return false;
	for (i = 0; i < n; i++)
		if (memcmp(&image->keys[i], &bound[i].key, sizeof(bound[i].key)))
			return false;
	return true;
}

u64 rkmm_image_memory(const struct rkmm_image *image)
{
	return image->mem->size + (image->scratch ? image->scratch->size : 0);
}

static void rkmm_image_free(struct rkmm_images *images, struct rkmm_image *image)
{
	hash_del(&image->hash);
	images->bytes -= rkmm_image_memory(image);
	if (image->scratch)
		rkmm_progmem_free(image->scratch);
	rkmm_progmem_free(image->mem);
	kvfree(image);
}

static void rkmm_images_trim(struct rkmm_images *images, u64 budget)
{
	while (images->bytes > budget && !list_empty(&images->idle)) {
		struct rkmm_image *image = list_first_entry(&images->idle, struct rkmm_image, lru);

		list_del(&image->lru);
		rkmm_image_free(images, image);
	}
}

static struct rkmm_image *rkmm_image_find(struct rkmm_images *images,
					  const struct rkmm_bound *bound, u32 n, u32 hash)
{
	struct rkmm_image *image;

	hash_for_each_possible(images->table, image, hash, hash)
		if (rkmm_image_is(image, bound, n))
			return image;
	return NULL;
}

/* Kicks lie lane by lane: note where each lane begins. */
static void rkmm_image_lanes(struct rkmm_image *image)
{
	u32 i;

	for (i = 0; i < image->nkicks; i++)
		image->lane[image->kicks[i].lane + 1] = i + 1;
	image->nlanes = image->kicks[image->nkicks - 1].lane + 1;
}

/* Room for an image of @nkicks starts and @nkeys operations, and for its programs. */
static struct rkmm_image *rkmm_image_alloc(struct rkmm_client *client, u32 nkeys,
					   const struct rkmm_extent *extent,
					   const struct rkmm_opgeom *op)
{
	size_t kicks = struct_size((struct rkmm_image *)NULL, kicks, extent->kicks);
	struct rkmm_image *image;

	image = kvzalloc(kicks + nkeys * sizeof(*image->keys), GFP_KERNEL_ACCOUNT);
	if (!image)
		return ERR_PTR(-ENOMEM);
	image->mem = rkmm_progmem_alloc(client->window,
					extent->bytes + (op ? op->const_bytes : 0));
	if (IS_ERR(image->mem)) {
		int ret = PTR_ERR(image->mem);

		kvfree(image);
		return ERR_PTR(ret);
	}
	if (op && op->temp_bytes)
		image->scratch = rkmm_scratch_alloc(client->window, op->temp_bytes);
	if (IS_ERR(image->scratch)) {
		int ret = PTR_ERR(image->scratch);

		rkmm_progmem_free(image->mem);
		kvfree(image);
		return ERR_PTR(ret);
	}
	image->keys = (void *)image + kicks;
	image->nkeys = nkeys;
	image->nkicks = extent->kicks;
	image->tasks = extent->tasks;
	return image;
}

static void rkmm_image_member(const struct rkmm_bound *bound, struct rkmm_member *member)
{
	const struct rkmm_image_key *key = &bound->key;

	*member = (struct rkmm_member){
		.geom = bound->plan->op ? NULL : &bound->plan->geom,
		.op = bound->plan->op,
		.rows = key->rows,
		.count = key->count,
		.a = key->a,
		.b = key->b,
		.c = key->c,
		.a_stride = key->a_stride,
		.b_stride = key->b_stride,
		.c_stride = key->c_stride,
		.weights = key->weights,
		.d = key->d,
	};
}

static struct rkmm_image *rkmm_image_make(struct rkmm_client *client,
					  const struct rkmm_bound *bound, u32 n)
{
	/* An operation that is no matmul is a step of its own. */
	const struct rkmm_opgeom *op = n == 1 ? bound->plan->op : NULL;
	struct rkmm_limits limits = *client->rdev->soc->limits;
	struct rkmm_member one, *members = &one;
	struct rkmm_extent extent;
	struct rkmm_image *image;
	u32 i;

	if (n > 1)
		members = kvmalloc_array(n, sizeof(*members), GFP_KERNEL);
	if (!members)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < n; i++)
		rkmm_image_member(&bound[i], &members[i]);
	limits.light &= rkmm_image_light(client->rdev);
	rkmm_image_measure(&limits, members, n, &extent);
	image = rkmm_image_alloc(client, n, &extent, op);
	if (!IS_ERR(image)) {
		one.consts = image->mem->iova + extent.bytes;
		one.temp = image->scratch ? image->scratch->iova : 0;
		for (i = 0; i < n; i++)
			image->keys[i] = bound[i].key;
		rkmm_image_emit(&limits, members, n, image->mem->iova, image->mem->vaddr,
				image->kicks);
		if (op)
			rkmm_op_fill(op, image->mem->vaddr + extent.bytes);
		rkmm_image_lanes(image);
	}
	if (members != &one)
		kvfree(members);
	return image;
}

struct rkmm_image *rkmm_image_get(struct rkmm_client *client, const struct rkmm_bound *bound,
				  u32 n)
{
	struct rkmm_images *images = client->images;
	u32 hash = rkmm_image_hash(bound, n);
	struct rkmm_image *image;

	/* no padding: it is hashed and compared as bytes */
	BUILD_BUG_ON(sizeof(bound->key) != 48);
	BUILD_BUG_ON(offsetof(struct rkmm_image_key, count) !=
		     RKMM_IMAGE_HASHED * sizeof(u32));

	mutex_lock(&images->lock);
	image = rkmm_image_find(images, bound, n, hash);
	if (image) {
		images->hits++;
		if (!image->users++)
			list_del_init(&image->lru);
		goto out;
	}
	image = rkmm_image_make(client, bound, n);
	if (IS_ERR(image)) {
		/* Make room and try once more. */
		rkmm_images_trim(images, 0);
		image = rkmm_image_make(client, bound, n);
	}
	if (IS_ERR(image))
		goto out;
	image->users = 1;
	INIT_LIST_HEAD(&image->lru);
	hash_add(images->table, &image->hash, hash);
	images->bytes += rkmm_image_memory(image);
	images->emitted += image->tasks;
out:
	mutex_unlock(&images->lock);
	return image;
}

void rkmm_image_put(struct rkmm_client *client, struct rkmm_image *image)
{
	struct rkmm_images *images = client->images;

	mutex_lock(&images->lock);
	if (!--image->users) {
		if (image->stale) {
			rkmm_image_free(images, image);
		} else {
			list_add_tail(&image->lru, &images->idle);
			rkmm_images_trim(images, (u64)READ_ONCE(image_budget_kib) << 10);
		}
	}
	mutex_unlock(&images->lock);
}

static bool rkmm_image_uses(const struct rkmm_image *image, u64 plan)
{
	u32 i;

	for (i = 0; i < image->nkeys; i++)
		if (image->keys[i].plan == plan)
			return true;
	return false;
}

void rkmm_images_drop_plan(struct rkmm_client *client, u64 plan)
{
	struct rkmm_images *images = client->images;
	struct hlist_node *next;
	struct rkmm_image *image;
	u32 i;

	mutex_lock(&images->lock);
	hash_for_each_safe(images->table, i, next, image, hash) {
		if (!rkmm_image_uses(image, plan))
			continue;
		if (image->users) {
			image->stale = true;
			continue;
		}
		list_del(&image->lru);
		rkmm_image_free(images, image);
	}
	mutex_unlock(&images->lock);
}

int rkmm_images_init(struct rkmm_client *client)
{
	struct rkmm_images *images = kzalloc(sizeof(*images), GFP_KERNEL);

	if (!images)
		return -ENOMEM;
	mutex_init(&images->lock);
	hash_init(images->table);
	INIT_LIST_HEAD(&images->idle);
	client->images = images;
	return 0;
}

void rkmm_images_fini(struct rkmm_client *client)
{
	struct rkmm_images *images = client->images;

	mutex_lock(&images->lock);
	rkmm_images_trim(images, 0);
	mutex_unlock(&images->lock);
	mutex_destroy(&images->lock);
	kfree(images);
}
