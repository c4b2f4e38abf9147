// SPDX-License-Identifier: GPL-2.0
/* Buckets of tensors: how they are placed, and when two ranks mean the same. */
#include "lib_fake.h"

#include "bucket.h"

#define COOKIE	1000

static const uint64_t four[] = { 10, 20, 30, 40 };

#define OPTIONS(...) ((struct peerlane_bucket_options){			\
	.size = sizeof(struct peerlane_bucket_options), .counts = four,	\
	.tensors = 4, .type = PEERLANE_F32, .cookie = COOKIE, __VA_ARGS__ })

/* ---- placing ----------------------------------------------------------------- */

static struct peerlane_bucket_place places[8];
static uint64_t bytes;
static uint32_t buckets;

static int layout(struct peerlane_bucket_options options)
{
	return peerlane_bucket_layout(&options, places, &bytes, &buckets);
}

static void check_places(const uint64_t *offsets, const uint32_t *of, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		CHECK_INT(places[i].offset, offsets[i]);
		CHECK_INT(places[i].bucket, of[i]);
	}
}

static void a_bucket_ends_when_it_is_full(void)
{
	CHECK_INT(layout(OPTIONS(.bytes = 120)), 0);
	check_places((uint64_t []){ 0, 40, 120, 240 },
		     (uint32_t []){ 0, 0, 1, 2 }, 4);
	CHECK_INT(buckets, 3);
	CHECK_INT(bytes, 400);
	/* all in one, by default */
	CHECK_INT(layout(OPTIONS()), 0);
	CHECK_INT(buckets, 1);
}

static void the_first_bucket_may_be_smaller(void)
{
	CHECK_INT(layout(OPTIONS(.bytes = 200, .first_bytes = 1)), 0);
	check_places((uint64_t []){ 0, 40, 120, 240 },
		     (uint32_t []){ 0, 1, 1, 2 }, 4);
}

static void a_large_tensor_is_not_cut(void)
{
	static const uint64_t counts[] = { 1, 1000, 1, 1 };

	CHECK_INT(layout(OPTIONS(.counts = counts, .bytes = 8)), 0);
	check_places((uint64_t []){ 0, 4, 4004, 4008 },
		     (uint32_t []){ 0, 0, 1, 1 }, 4);
}

static void tensors_are_aligned(void)
{
	static const uint64_t counts[] = { 1, 65, 0, 2 };

	CHECK_INT(layout(OPTIONS(.counts = counts, .align = 256, .bytes = 256)), 0);
	check_places((uint64_t []){ 0, 256, 768, 768 },
		     (uint32_t []){ 0, 0, 1, 1 }, 4);
	CHECK_INT(bytes, 776);
}

static void nonsense_is_refused(void)
{
	static const uint64_t large[] = { 1ULL << 63, 1ULL << 62, 1ULL << 62, 1 };
	struct peerlane_bucket_options options = OPTIONS();

	bytes = 77;
	CHECK_INT(layout(OPTIONS(.type = 0)), -EINVAL);
	CHECK_INT(layout(OPTIONS(.type = 99)), -EINVAL);
	CHECK_INT(layout(OPTIONS(.tensors = 0)), -EINVAL);
	CHECK_INT(layout(OPTIONS(.tensors = PEERLANE_BUCKET_TENSORS + 1)), -EINVAL);
	CHECK_INT(layout(OPTIONS(.counts = NULL)), -EINVAL);
	CHECK_INT(layout(OPTIONS(.align = 2)), -EINVAL);
	CHECK_INT(layout(OPTIONS(.align = 24)), -EINVAL);
	options.size = 4;
	CHECK_INT(layout(options), -EINVAL);
	CHECK_INT(layout(OPTIONS(.counts = large)), -EOVERFLOW);
	CHECK_INT(layout(OPTIONS(.counts = large, .type = PEERLANE_U8)), -EOVERFLOW);
	CHECK_INT(bytes, 77);
}

/* ---- comparing ------------------------------------------------------------------ */

static uint64_t print_of(struct peerlane_bucket_options options)
{
	return pl_bucket_fingerprint(&options);
}

static void another_order_has_another_fingerprint(void)
{
	static const uint64_t other[] = { 10, 20, 40, 30 };
	uint64_t usual = print_of(OPTIONS(.bytes = 8));

	CHECK(usual == print_of(OPTIONS(.bytes = 8, .send_offset = 8, .cookie = 1)));
	CHECK(usual != print_of(OPTIONS(.bytes = 8, .counts = other)));
	CHECK(usual != print_of(OPTIONS(.bytes = 8, .tensors = 3)));
	CHECK(usual != print_of(OPTIONS(.bytes = 16)));
	CHECK(usual != print_of(OPTIONS(.bytes = 8, .first_bytes = 4)));
	CHECK(usual != print_of(OPTIONS(.bytes = 8, .align = 64)));
	CHECK(usual != print_of(OPTIONS(.bytes = 8, .op = PEERLANE_MAX)));
	CHECK(usual != print_of(OPTIONS(.bytes = 8, .type = PEERLANE_I32)));
}

static void who_is_odd_is_found(void)
{
	CHECK_INT(pl_bucket_odd((uint64_t []){ 5, 5, 5 }, 3), 3);
	CHECK_INT(pl_bucket_odd((uint64_t []){ 5 }, 1), 1);
	CHECK_INT(pl_bucket_odd((uint64_t []){ 5, 5, 6, 5 }, 4), 2);
	CHECK_INT(pl_bucket_odd((uint64_t []){ 6, 5, 5, 5 }, 4), 0);
	CHECK_INT(pl_bucket_odd((uint64_t []){ 6, 5, 7, 5, 5 }, 5), 0);
	/* of two, the one that is not rank 0 */
	CHECK_INT(pl_bucket_odd((uint64_t []){ 5, 6 }, 2), 1);
}

static const struct tap_case cases[] = {
	TAP_CASE(a_bucket_ends_when_it_is_full),
	TAP_CASE(the_first_bucket_may_be_smaller),
	TAP_CASE(a_large_tensor_is_not_cut), TAP_CASE(tensors_are_aligned),
	TAP_CASE(nonsense_is_refused),
	TAP_CASE(another_order_has_another_fingerprint),
	TAP_CASE(who_is_odd_is_found),
};

int main(void)
{
	return TAP_RUN(cases);
}
