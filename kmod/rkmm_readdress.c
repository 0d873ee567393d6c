// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images of operations that differ from those of earlier ones in addresses only: once
 * there are a few, an idle one gets the new addresses instead of being thrown away some
 * day. Nobody runs it, and everything but its address entries stays.
 */
#include <linux/jhash.h>
#include <linux/slab.h>

#include "rkmm_job.h"

/*
 * Images of a kind that are made before one is given other addresses: a ring of a few
 * buffers has an image for each. More buffers than that are found no longer anyway if
 * programs are large, and cost less to patch than to make.
 */
#define RKMM_IMAGES_OF_A_KIND	8

u32 rkmm_image_shape(const struct rkmm_bound *bound, u32 n)
{
	return jhash_3words((u32)bound->key.plan, bound->key.rows, bound->key.count, n);
}

/*
 * Where the step has several operations, weights that change their places change what
 * programs keep, and where chains are cut: those must be the same.
 */
static bool rkmm_image_like(const struct rkmm_image *image, const struct rkmm_bound *bound, u32 n)
{
	struct rkmm_image_key key;
	u32 i;

	if (image->nkeys != n)
		return false;
	for (i = 0; i < n; i++) {
		key = bound[i].key;
		key.a = image->keys[i].a;
		key.c = image->keys[i].c;
		if (n == 1)
			key.b = image->keys[i].b;
		if (memcmp(&key, &image->keys[i], sizeof(key)))
			return false;
	}
	return true;
}

/* The one that was idle longest, NULL while there are few, or with @busy none is idle */
static struct rkmm_image *rkmm_image_oldest(struct rkmm_images *images,
					    const struct rkmm_bound *bound, u32 n, bool *busy)
{
	struct rkmm_image *image, *oldest = NULL;
	u32 count = 0;

	hash_for_each_possible(images->shapes, image, shape, rkmm_image_shape(bound, n)) {
		if (!rkmm_image_like(image, bound, n))
			continue;
		count++;
		if (!image->users && (!oldest || image->used < oldest->used))
			oldest = image;
	}
	*busy = count >= RKMM_IMAGES_OF_A_KIND && !oldest;
	return count < RKMM_IMAGES_OF_A_KIND ? NULL : oldest;
}

static void rkmm_image_patch_to(struct rkmm_client *client, struct rkmm_image *image,
				const struct rkmm_bound *bound, struct rkmm_member *members, u32 n)
{
	struct rkmm_limits limits = *client->rdev->soc->limits;
	u32 which = 0, i;

	for (i = 0; i < n; i++) {
		rkmm_image_expand(&bound[i], &members[i]);
		if (image->keys[i].a != bound[i].key.a)
			which |= RKMM_ADDR_A;
		if (image->keys[i].b != bound[i].key.b)
			which |= RKMM_ADDR_B;
		if (image->keys[i].c != bound[i].key.c)
			which |= RKMM_ADDR_C;
		image->keys[i] = bound[i].key;
	}
	limits.light = image->light;
	limits.land = image->land;
	client->images->patched += rkmm_image_patch(&limits, members, n, which, image->mem->vaddr);
}

struct rkmm_image *rkmm_image_readdress(struct rkmm_client *client,
					const struct rkmm_bound *bound, u32 n, bool *busy)
{
	struct rkmm_images *images = client->images;
	struct rkmm_member one, *members = &one;
	struct rkmm_image *image;
	u32 i;

	lockdep_assert_held(&images->lock);
	*busy = false;
	for (i = 0; i < n; i++)
		if (bound[i].plan->op || bound[i].plan->geom.fused ||
		    rkmm_image_nmembers(&bound[i]) > 1)
			return NULL;
	image = rkmm_image_oldest(images, bound, n, busy);
	if (image && n > 1)
		members = kvmalloc_array(n, sizeof(*members), GFP_KERNEL);
	if (!image || !members)
		return NULL;
	list_del(&image->lru);
	hash_del(&image->hash);
	image->once = false;
	rkmm_image_patch_to(client, image, bound, members, n);
	if (members != &one)
		kvfree(members);
	return image;
}
