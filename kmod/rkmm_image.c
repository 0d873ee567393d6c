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
#define RKMM_IMAGE_ALIGN	64u	/* constants and temporary memory of an operation */

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
	hash_del(&image->shape);
	images->bytes -= rkmm_image_memory(image);
	if (image->scratch)
		rkmm_progmem_free(image->scratch);
	if (image->plan)
		rkmm_plan_put(image->plan);
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
void rkmm_image_lanes(struct rkmm_image *image)
{
	u32 i;

	for (i = 0; i < image->nkicks; i++)
		image->lane[image->kicks[i].lane + 1] = i + 1;
	image->nlanes = image->kicks[image->nkicks - 1].lane + 1;
}

/**
 * struct rkmm_image_plan - what an image is made of, before its memory is there
 * @bound: operations
 * @nbound: how many
 * @members: what they become
 * @n: how many
 * @extent: of the programs
 * @const_bytes: of the constants, which lie behind them
 * @temp_bytes: of the temporary memory of all lanes
 */
struct rkmm_image_plan {
	const struct rkmm_bound *bound;
	u32 nbound;
	struct rkmm_member *members;
	u32 n;
	struct rkmm_extent extent;
	u64 const_bytes, temp_bytes;
};

/* Room for an image of @nkeys operations, and for its programs. */
static struct rkmm_image *rkmm_image_alloc(struct rkmm_window *window, u32 nkeys,
					   const struct rkmm_image_plan *ip)
{
	size_t kicks = struct_size((struct rkmm_image *)NULL, kicks, ip->extent.kicks);
	struct rkmm_image *image;

	image = kvzalloc(kicks + nkeys * sizeof(*image->keys), GFP_KERNEL_ACCOUNT);
	if (!image)
		return ERR_PTR(-ENOMEM);
	image->mem = rkmm_progmem_alloc(window, ip->extent.bytes + ip->const_bytes);
	if (IS_ERR(image->mem)) {
		int ret = PTR_ERR(image->mem);

		kvfree(image);
		return ERR_PTR(ret);
	}
	if (ip->temp_bytes)
		image->scratch = rkmm_scratch_alloc(window, ip->temp_bytes);
	if (IS_ERR(image->scratch)) {
		int ret = PTR_ERR(image->scratch);

		rkmm_progmem_free(image->mem);
		kvfree(image);
		return ERR_PTR(ret);
	}
	image->keys = (void *)image + kicks;
	image->nkeys = nkeys;
	image->nkicks = ip->extent.kicks;
	image->tasks = ip->extent.tasks;
	return image;
}

/* Operations behind the matmul of @bound, NULL for none */
static const struct rkmm_epilogue *rkmm_image_epi(const struct rkmm_bound *bound)
{
	const struct rkmm_epilogue *epi = bound->plan->epi;

	return epi && epi->nops ? epi : NULL;
}

/* Members of each share of its rows */
static u32 rkmm_image_each(const struct rkmm_bound *bound)
{
	const struct rkmm_epilogue *epi = rkmm_image_epi(bound);

	return 1 + (epi ? epi->nops : 0);
}

u32 rkmm_image_nmembers(const struct rkmm_bound *bound)
{
	return rkmm_image_each(bound) * max_t(u32, bound->key.shares, 1);
}

u32 rkmm_image_expand(const struct rkmm_bound *bound, struct rkmm_member *members)
{
	const struct rkmm_image_key *key = &bound->key;
	u32 shares = max_t(u32, key->shares, 1), each = rkmm_share_rows(key->rows, shares), i;

	/* Those behind a matmul come with their addresses: rkmm_image_place(). */
	for (i = 0; i < shares; i++)
		members[i * rkmm_image_each(bound)] = (struct rkmm_member){
			.geom = bound->plan->op ? NULL : &bound->plan->geom,
			.op = bound->plan->op,
			.after = key->after,
			.lane = key->lane + i,
			.rows = shares > 1 ? min(each, key->rows - i * each) : key->rows,
			.first = i * each,
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
	return rkmm_image_nmembers(bound);
}

/* A matmul and the operations behind it: what lies between them is temporary memory. */
static void rkmm_image_behind(const struct rkmm_bound *bound, u32 consts, u32 temp, u32 work,
			      struct rkmm_member *members)
{
	const struct rkmm_epilogue_place place = {
		.d = bound->key.d, .e = bound->key.e, .temp = temp, .work = work,
		.consts = consts,
	};
	struct rkmm_member matmul = members[0];

	matmul.c = bound->key.c;
	rkmm_epilogue_members(bound->plan->epi, &matmul, &place, members);
}

/* All shares of an epilogue; returns the bytes of temporary memory that they take. */
static u32 rkmm_image_shares(const struct rkmm_bound *bound, u32 consts, u32 temp,
			     struct rkmm_member *members)
{
	const struct rkmm_epilogue *epi = bound->plan->epi;
	u32 work = round_up(rkmm_epilogue_work(epi), RKMM_IMAGE_ALIGN), at = epi->work, i;

	for (i = 0; i < max_t(u32, bound->key.shares, 1); i++, at += work)
		rkmm_image_behind(bound, consts, temp, temp + at,
				  members + i * rkmm_image_each(bound));
	return round_up(at, RKMM_IMAGE_ALIGN);
}

/* The first member of the same operation: constants are the same. */
static struct rkmm_member *rkmm_image_twin(const struct rkmm_image_plan *ip, u32 i)
{
	struct rkmm_member *m = ip->members;

	while (m->op != ip->members[i].op)
		m++;
	return m;
}

/*
 * Members of a lane run one after the other, and what they keep between their tasks
 * means nothing before and after: they share it. Places count from the given addresses.
 */
static void rkmm_image_place(struct rkmm_image_plan *ip, u32 consts, u32 temp)
{
	u32 i = 0, b, lane = 0, room = 0;

	ip->const_bytes = 0;
	ip->temp_bytes = 0;
	for (b = 0; b < ip->nbound; b++) {
		const struct rkmm_epilogue *epi = rkmm_image_epi(&ip->bound[b]);
		u32 end = i + rkmm_image_nmembers(&ip->bound[b]);

		if (ip->members[i].lane != lane) {
			ip->temp_bytes += room;
			room = 0;
			lane = ip->members[i].lane;
		}
		if (epi) {
			room = max(room, rkmm_image_shares(&ip->bound[b],
							   consts + ip->const_bytes,
							   temp + ip->temp_bytes,
							   &ip->members[i]));
			ip->const_bytes += round_up(epi->const_bytes, RKMM_IMAGE_ALIGN);
			i = end;
		}
		for (; i < end; i++) {
			struct rkmm_member *m = &ip->members[i], *twin;

			if (!m->op)
				continue;
			/* A share above the first is another lane. */
			if (m->lane != lane) {
				ip->temp_bytes += room;
				room = 0;
				lane = m->lane;
			}
			m->temp = temp + ip->temp_bytes;
			room = max(room, round_up(m->op->temp_bytes, RKMM_IMAGE_ALIGN));
			twin = rkmm_image_twin(ip, i);
			m->consts = twin == m ? consts + ip->const_bytes : twin->consts;
			if (twin == m)
				ip->const_bytes += round_up(m->op->const_bytes, RKMM_IMAGE_ALIGN);
		}
	}
	ip->temp_bytes += room;
}

static void rkmm_image_fill(const struct rkmm_image_plan *ip, void *consts)
{
	u32 i = 0, b;

	for (b = 0; b < ip->nbound; i += rkmm_image_nmembers(&ip->bound[b]), b++) {
		const struct rkmm_epilogue *epi = rkmm_image_epi(&ip->bound[b]);
		const struct rkmm_opgeom *op = ip->members[i].op;

		if (epi) {
			rkmm_epilogue_fill(epi, consts);
			consts += round_up(epi->const_bytes, RKMM_IMAGE_ALIGN);
		}
		if (!op || rkmm_image_twin(ip, i) != &ip->members[i])
			continue;
		rkmm_op_fill(op, consts);
		consts += round_up(op->const_bytes, RKMM_IMAGE_ALIGN);
	}
}

/* Memory of the image that features may lie in, staged one behind the other: rkmm_bind_stage() */
static void rkmm_image_views(struct rkmm_image *image, u32 at)
{
	const struct rkmm_progmem *scratch = image->scratch;

	if (scratch) {
		image->views[0] = (struct rkmm_view){
			.start = image->keys->outputs ?: scratch->iova,
			.bytes = scratch->size, .at = at,
		};
		at += scratch->size;
	}
	image->views[1] = (struct rkmm_view){
		.start = image->mem->iova + image->const_at, .bytes = image->const_bytes,
		.at = at + offset_in_page(image->const_at),
	};
}

/* What has no matmuls takes any mode. */
static enum rkmm_mode rkmm_image_mode(const struct rkmm_bound *bound, u32 n)
{
	enum rkmm_mode mode = RKMM_MODE_DPU;
	u32 i;

	for (i = 0; i < n && mode == RKMM_MODE_DPU; i++)
		mode = rkmm_plan_mode(bound[i].plan);
	return mode;
}

static bool rkmm_image_apart(const struct rkmm_bound *bound, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (bound[i].key.after || rkmm_plan_ordered(bound[i].plan))
			return false;
	return true;
}

static struct rkmm_image *rkmm_image_write(struct rkmm_client *client,
					   const struct rkmm_bound *bound, u32 n,
					   struct rkmm_image_plan *ip)
{
	struct rkmm_limits limits = *client->rdev->soc->limits;
	struct rkmm_image *image;
	int ret;
	u32 i;

	ret = rkmm_landing_place(client, bound, n, &limits.land);
	if (ret)
		return ERR_PTR(ret);
	ip->bound = bound;
	ip->nbound = n;
	for (i = 0, ip->n = 0; i < n; i++)
		ip->n += rkmm_image_expand(&bound[i], &ip->members[ip->n]);
	/* For all members to be there; the places come when there is memory. */
	rkmm_image_place(ip, 0, 0);
	limits.light &= rkmm_image_light(client->rdev);
	/* Before the places are known, which it does not depend on. */
	rkmm_image_measure(&limits, ip->members, ip->n, &ip->extent);
	image = rkmm_image_alloc(bound->window, n, ip);
	if (IS_ERR(image))
		return image;
	for (i = 0; i < n; i++)
		image->keys[i] = bound[i].key;
	image->const_at = ip->extent.bytes;
	image->const_bytes = ip->const_bytes;
	rkmm_image_place(ip, image->mem->iova + image->const_at,
			 bound->key.outputs ?: (image->scratch ? image->scratch->iova : 0));
	if (bound->key.features) {
		rkmm_image_views(image, bound->key.features);
		for (i = 0; i < ip->n; i++)
			ip->members[i].views = image->views;
	}
	rkmm_image_emit(&limits, ip->members, ip->n, image->mem->iova, image->mem->vaddr,
			image->kicks);
	rkmm_image_fill(ip, image->mem->vaddr + ip->extent.bytes);
	rkmm_image_lanes(image);
	image->mode = rkmm_image_mode(bound, n);
	image->light = limits.light;
	image->land = limits.land;
	image->program_bytes = ip->extent.bytes;
	image->apart = rkmm_image_apart(bound, n);
	image->k = bound->plan->op ? 0 : bound->plan->geom.mm.k;
	image->n = bound->plan->op ? bound->plan->op->op.n : bound->plan->geom.mm.n;
	return image;
}

static struct rkmm_image *rkmm_image_make(struct rkmm_client *client,
					  const struct rkmm_bound *bound, u32 n)
{
	struct rkmm_member one;
	struct rkmm_image_plan ip = { .members = &one };
	struct rkmm_image *image;
	u32 members = 0, i;

	for (i = 0; i < n; i++)
		members += rkmm_image_nmembers(&bound[i]);
	if (members > 1)
		ip.members = kvmalloc_array(members, sizeof(one), GFP_KERNEL);
	if (!ip.members)
		return ERR_PTR(-ENOMEM);
	image = rkmm_image_write(client, bound, n, &ip);
	if (ip.members != &one)
		kvfree(ip.members);
	return image;
}

static void rkmm_image_add(struct rkmm_images *images, struct rkmm_image *image, u32 hash)
{
	image->users = 1;
	INIT_LIST_HEAD(&image->lru);
	hash_add(images->table, &image->hash, hash);
}

/* An image that is there; NULL for none, with @busy because those that would do are in use */
static struct rkmm_image *rkmm_image_known(struct rkmm_client *client,
					   const struct rkmm_bound *bound, u32 n, u32 hash,
					   bool *busy)
{
	struct rkmm_images *images = client->images;
	struct rkmm_image *image = rkmm_image_find(images, bound, n, hash);

	*busy = false;
	if (image) {
		images->hits++;
		if (!image->users++)
			list_del_init(&image->lru);
		return image;
	}
	image = rkmm_image_readdress(client, bound, n, busy);
	if (image)
		rkmm_image_add(images, image, hash);
	return image;
}

static struct rkmm_image *rkmm_image_new(struct rkmm_client *client,
					 const struct rkmm_bound *bound, u32 n, u32 hash)
{
	struct rkmm_images *images = client->images;
	struct rkmm_image *image = rkmm_image_make(client, bound, n);

	if (IS_ERR(image)) {
		/* Make room and try once more. */
		rkmm_images_trim(images, 0);
		image = rkmm_image_make(client, bound, n);
	}
	if (IS_ERR(image))
		return image;
	rkmm_fallback_reserve(images, bound, n, image);
	image->kind = rkmm_image_shape(bound, n);
	hash_add(images->shapes, &image->shape, image->kind);
	images->bytes += rkmm_image_memory(image);
	images->emitted += image->tasks;
	rkmm_image_add(images, image, hash);
	return image;
}

struct rkmm_image *rkmm_image_get(struct rkmm_client *client, const struct rkmm_bound *bound,
				  u32 n)
{
	struct rkmm_images *images = client->images;
	u32 hash = rkmm_image_hash(bound, n);
	struct rkmm_image *image;
	bool busy;

	/* no padding: it is hashed and compared as bytes */
	BUILD_BUG_ON(sizeof(bound->key) != 64);
	BUILD_BUG_ON(offsetof(struct rkmm_image_key, count) !=
		     RKMM_IMAGE_HASHED * sizeof(u32));

	mutex_lock(&images->lock);
	image = rkmm_image_known(client, bound, n, hash, &busy);
	if (busy) {
		mutex_unlock(&images->lock);
		/* Those of jobs that have ended are idle then. */
		rkmm_sched_release_ended(client->rdev);
		mutex_lock(&images->lock);
		image = rkmm_image_known(client, bound, n, hash, &busy);
	}
	if (!image)
		image = rkmm_image_new(client, bound, n, hash);
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
			image->used = images->clock++;
			list_add_tail(&image->lru, &images->idle);
			rkmm_images_trim(images, (u64)READ_ONCE(image_budget_kib) << 10);
		}
	}
	mutex_unlock(&images->lock);
}

/* Which images are to go: those of a plan, or with operands in a range of addresses */
struct rkmm_image_match {
	u64 plan;
	u32 window;
	u32 start;
	u64 bytes;
};

static bool rkmm_image_in(const struct rkmm_image_match *match, u32 addr)
{
	return addr >= match->start && addr - match->start < match->bytes;
}

static bool rkmm_image_uses(const struct rkmm_image *image, const struct rkmm_image_match *match)
{
	const struct rkmm_image_key *key;
	u32 i;

	for (i = 0; i < image->nkeys; i++) {
		key = &image->keys[i];
		if (key->plan == match->plan)
			return true;
		if (key->window == match->window &&
		    (rkmm_image_in(match, key->a) || rkmm_image_in(match, key->b) ||
		     rkmm_image_in(match, key->c) || rkmm_image_in(match, key->d) ||
		     rkmm_image_in(match, key->e)))
			return true;
	}
	return false;
}

static void rkmm_images_drop(struct rkmm_client *client, const struct rkmm_image_match *match)
{
	struct rkmm_images *images = client->images;
	struct hlist_node *next;
	struct rkmm_image *image;
	u32 i;

	mutex_lock(&images->lock);
	hash_for_each_safe(images->table, i, next, image, hash) {
		if (!rkmm_image_uses(image, match))
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

void rkmm_images_drop_plan(struct rkmm_client *client, u64 plan)
{
	const struct rkmm_image_match match = { .plan = plan };

	rkmm_images_drop(client, &match);
}

void rkmm_images_drop_range(struct rkmm_client *client, const struct rkmm_progmem *range)
{
	const struct rkmm_image_match match = {
		.window = range->window->index, .start = range->iova, .bytes = range->size,
	};

	rkmm_images_drop(client, &match);
}

int rkmm_images_init(struct rkmm_client *client)
{
	struct rkmm_images *images = kzalloc(sizeof(*images), GFP_KERNEL);

	if (!images)
		return -ENOMEM;
	mutex_init(&images->lock);
	hash_init(images->table);
	hash_init(images->shapes);
	INIT_LIST_HEAD(&images->idle);
	INIT_LIST_HEAD(&images->fallbacks);
	client->images = images;
	return 0;
}

void rkmm_images_fini(struct rkmm_client *client)
{
	struct rkmm_images *images = client->images;
	u32 i;

	mutex_lock(&images->lock);
	rkmm_images_trim(images, 0);
	rkmm_fallback_fini(images);
	for (i = 0; i < ARRAY_SIZE(images->land); i++)
		if (images->land[i])
			rkmm_progmem_free(images->land[i]);
	mutex_unlock(&images->lock);
	mutex_destroy(&images->lock);
	kfree(images);
}
