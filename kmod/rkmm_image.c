// SPDX-License-Identifier: GPL-2.0-only
/*
 * Program images: a plan's programs with addresses in place, synthesised once
 * per (plan, rows, addresses) and kept under a byte budget per client.
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

static u32 rkmm_image_hash(const struct rkmm_image_key *key)
{
	return jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0);
}

static void rkmm_image_free(struct rkmm_images *images, struct rkmm_image *image)
{
	hash_del(&image->hash);
	images->bytes -= image->mem->size;
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
					  const struct rkmm_image_key *key)
{
	struct rkmm_image *image;

	hash_for_each_possible(images->table, image, hash, rkmm_image_hash(key))
		if (!memcmp(&image->key, key, sizeof(*key)))
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

static struct rkmm_image *rkmm_image_make(struct rkmm_client *client, struct rkmm_plan *plan,
					  const struct rkmm_image_key *key)
{
	struct rkmm_member one = rkmm_member_of(&plan->geom, key->rows, key->a, key->b, key->c);
	struct rkmm_limits limits = *client->rdev->soc->limits;
	struct rkmm_extent extent;
	struct rkmm_image *image;

	limits.light &= rkmm_image_light(client->rdev);
	rkmm_image_measure(&limits, &one, 1, &extent);
	image = kvzalloc(struct_size(image, kicks, extent.kicks), GFP_KERNEL_ACCOUNT);
	if (!image)
		return ERR_PTR(-ENOMEM);
	image->mem = rkmm_progmem_alloc(client->window, extent.bytes);
	if (IS_ERR(image->mem)) {
		int ret = PTR_ERR(image->mem);

		kvfree(image);
		return ERR_PTR(ret);
	}
	image->key = *key;
	image->nkicks = extent.kicks;
	image->tasks = extent.tasks;
	rkmm_image_emit(&limits, &one, 1, image->mem->iova, image->mem->vaddr, image->kicks);
	rkmm_image_lanes(image);
	return image;
}

struct rkmm_image *rkmm_image_get(struct rkmm_client *client, struct rkmm_plan *plan, u32 rows,
				  u32 a, u32 b, u32 c)
{
	struct rkmm_image_key key = { .plan = plan->uid, .rows = rows, .a = a, .b = b, .c = c };
	struct rkmm_images *images = client->images;
	struct rkmm_image *image;

	BUILD_BUG_ON(sizeof(key) != 24);	/* no padding: it is hashed and compared as bytes */

	mutex_lock(&images->lock);
	image = rkmm_image_find(images, &key);
	if (image) {
		images->hits++;
		if (!image->users++)
			list_del_init(&image->lru);
		goto out;
	}
	image = rkmm_image_make(client, plan, &key);
	if (IS_ERR(image)) {
		/* Make room and try once more. */
		rkmm_images_trim(images, 0);
		image = rkmm_image_make(client, plan, &key);
	}
	if (IS_ERR(image))
		goto out;
	image->users = 1;
	INIT_LIST_HEAD(&image->lru);
	hash_add(images->table, &image->hash, rkmm_image_hash(&key));
	images->bytes += image->mem->size;
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

void rkmm_images_drop_plan(struct rkmm_client *client, u64 plan)
{
	struct rkmm_images *images = client->images;
	struct hlist_node *next;
	struct rkmm_image *image;
	u32 i;

	mutex_lock(&images->lock);
	hash_for_each_safe(images->table, i, next, image, hash) {
		if (image->key.plan != plan)
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
