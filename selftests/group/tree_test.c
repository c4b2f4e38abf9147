// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of aggregators give the bits that one aggregator gives: of all heights,
 * types, operations, kinds and sizes.
 */
#include "tree.h"
#include "values.h"

#define LENGTH	(4 * MIB)
#define HALF	(LENGTH / 2)
#define CANARY	0x5a
#define GUARD	64

static const struct form {
	const char *name;
	uint32_t ranks, block, height, ways;
	struct peerlane_group_create settings;
} forms[] = {
	{ "4 ranks in blocks of 2", 4, 2, 2, 1, GROUP_SETTINGS(.segment = 4096) },
	{ "5 ranks in blocks of 2, three high", 5, 2, 3, 1,
	  GROUP_SETTINGS(.segment = 4096, .window = 3) },
	{ "8 ranks in blocks of 2, three high", 8, 2, 3, 1,
	  GROUP_SETTINGS(.segment = 8192, .window = 4, .lanes = 2) },
	{ "7 ranks in blocks of 3", 7, 3, 2, 1, GROUP_SETTINGS(.segment = 4096) },
	{ "8 ranks in blocks of 2, the root has blocks of blocks", 8, 2, 2, 1,
	  GROUP_SETTINGS(.segment = 4096, .window = 1) },
	{ "6 ranks in blocks of 3, two ways", 6, 3, 2, 2,
	  GROUP_SETTINGS(.segment = 4096) },
};

static bool begin(struct tree *tree, const struct form *form)
{
	printf("# %s\n", form->name);
	tree_make(tree, form->ranks, form->block, form->height, form->ways,
		  &form->settings);
	return tree_join(tree, form->settings, LENGTH);
}

static char *at(struct tree *tree, uint32_t rank, size_t offset)
{
	return tree->world.pages[rank].mem + offset;
}

/* ---- one operation ---- */

static bool sums(uint32_t kind)
{
	return kind == PEERLANE_GROUP_ALL_REDUCE || kind == PEERLANE_GROUP_REDUCE ||
	       kind == PEERLANE_GROUP_REDUCE_SCATTER;
}

static bool has_root(uint32_t kind)
{
	return kind == PEERLANE_GROUP_REDUCE || kind == PEERLANE_GROUP_BROADCAST;
}

static bool gets(uint32_t kind, uint32_t root, uint32_t rank)
{
	if (kind == PEERLANE_GROUP_REDUCE)
		return rank == root;
	return kind != PEERLANE_GROUP_BROADCAST || rank != root;
}

/* Index of the first wrong element, or -1 */
static long long wrong_at(uint32_t kind, uint32_t root, const struct values *values,
			  uint32_t rank, const char *got, size_t count)
{
	size_t of = kind == PEERLANE_GROUP_REDUCE_SCATTER ? rank * count : 0;
	long long bad = -1;
	uint32_t k;

	if (sums(kind))
		return values_sum_differs(values, got, of, count);
	if (kind == PEERLANE_GROUP_BROADCAST)
		return values_given_differs(values, root, got, 0, count);
	for (k = 0; k < values->ranks && bad < 0; k++)
		bad = values_given_differs(values, k, got + k * count * values->size,
					   0, count);
	return bad;
}

/* And nothing behind it, or where nothing is to come, was written. */
static void check_rank(uint32_t kind, uint32_t root, const struct values *values,
		       const char *to, uint32_t rank, size_t count)
{
	size_t each = kind == PEERLANE_GROUP_ALL_GATHER ? values->ranks : 1;
	size_t bytes = count * each * values->size, i, touched = 0;
	size_t from = gets(kind, root, rank) ? bytes : 0;
	long long bad = from ? wrong_at(kind, root, values, rank, to, count) : -1;

	for (i = from; i < bytes + GUARD; i++)
		touched += to[i] != CANARY;
	if (bad >= 0 || touched)
		printf("# kind %u, %s, %zu elements, root %u, rank %u: element %lld, %zu touched\n",
		       kind, values_name(values), count, root, rank, bad, touched);
	CHECK(bad < 0 && !touched);
}

static void run(struct tree *tree, uint32_t kind, uint32_t root,
		const struct values *values, size_t count, bool in_place)
{
	uint32_t gives = kind == PEERLANE_GROUP_REDUCE_SCATTER ? values->ranks : 1;
	size_t to = in_place ? 0 : HALF, bytes = LENGTH / 4;
	struct peerlane_group_op op = {
		.kind = kind, .type = values->type,
		.op = sums(kind) ? values->op : 0,
		.root = has_root(kind) ? root : 0,
		.count = count, .receive_offset = to,
	};
	uint32_t rank;

	for (rank = 0; rank < values->ranks; rank++) {
		memset(at(tree, rank, to), CANARY, bytes);
		values_give(values, rank, at(tree, rank, 0), 0, count * gives);
	}
	CHECK_INT(world_do(&tree->world, op), 0);
	for (rank = 0; rank < values->ranks; rank++)
		check_rank(kind, root, values, at(tree, rank, to), rank, count);
}

/* ---- what is computed ---- */

static void all_operations_of(struct tree *tree, uint32_t type)
{
	struct values values;
	uint32_t op;

	for (op = PEERLANE_REDUCE_SUM; op <= PEERLANE_REDUCE_BXOR && !tap.bad; op++) {
		if (!values_make(&values, type, op, tree->world.ranks, tree->block))
			continue;
		run(tree, PEERLANE_GROUP_ALL_REDUCE, 0, &values, 1500, false);
		run(tree, PEERLANE_GROUP_ALL_REDUCE, 0, &values, 1500, true);
		values_free(&values);
	}
}

static void all_types_and_operations(void)
{
	static const size_t which[] = { 1, 3 };
	struct tree tree;
	uint32_t type;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(which); i++) {
		if (begin(&tree, &forms[which[i]]))
			for (type = PEERLANE_TYPE_F32; type <= PEERLANE_TYPE_U64;
			     type++)
				all_operations_of(&tree, type);
		world_end(&tree.world);
	}
}

static void all_sizes_of(struct tree *tree, uint32_t type, uint32_t op,
			 uint32_t segment)
{
	struct values values;
	size_t each, i;

	CHECK(values_make(&values, type, op, tree->world.ranks, tree->block));
	each = segment / (values.size < 4 && type <= PEERLANE_TYPE_BF16 ? 4 :
			  values.size);
	const size_t counts[] = {
		0, 1, 3, each - 1, each, each + 1, 2 * each, 2 * each + 1,
		12 * each - 1, 13 * each + 7,
	};

	for (i = 0; i < ARRAY_SIZE(counts) && !tap.bad; i++) {
		run(tree, PEERLANE_GROUP_ALL_REDUCE, 0, &values, counts[i], false);
		run(tree, PEERLANE_GROUP_ALL_REDUCE, 0, &values, counts[i], true);
	}
	values_free(&values);
}

static void all_sizes(void)
{
	struct tree tree;

	if (begin(&tree, &forms[2])) {
		all_sizes_of(&tree, PEERLANE_TYPE_F32, PEERLANE_REDUCE_SUM, 8192);
		all_sizes_of(&tree, PEERLANE_TYPE_F16, PEERLANE_REDUCE_AVG, 8192);
		all_sizes_of(&tree, PEERLANE_TYPE_BF16, PEERLANE_REDUCE_SUM, 8192);
		all_sizes_of(&tree, PEERLANE_TYPE_U8, PEERLANE_REDUCE_AVG, 8192);
	}
	world_end(&tree.world);
}

/* Of f16, which is another type between aggregators, and by roots of all blocks */
static void all_kinds_of(const struct form *form, uint32_t type)
{
	static const size_t counts[] = { 0, 1, 2500 };
	struct values values;
	struct tree tree;
	uint32_t kind, root;
	size_t i;

	CHECK(values_make(&values, type, PEERLANE_REDUCE_SUM, form->ranks,
			  form->block));
	if (begin(&tree, form))
		for (kind = PEERLANE_GROUP_ALL_REDUCE;
		     kind <= PEERLANE_GROUP_BROADCAST; kind++)
			for (i = 0; i < ARRAY_SIZE(counts); i++)
				for (root = 0; root < form->ranks && !tap.bad; root++)
					if (!root || has_root(kind))
						run(&tree, kind, root, &values,
						    counts[i], false);
	CHECK_INT(world_do(&tree.world, GROUP_OP(BARRIER)), 0);
	values_free(&values);
	world_end(&tree.world);
}

static void all_kinds_in_all_trees(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms) && !tap.bad; i++)
		all_kinds_of(&forms[i], i % 2 ? PEERLANE_TYPE_F16 :
						PEERLANE_TYPE_F32);
}

/* More than all windows, of all kinds, each with a place of its own */
static void many_are_under_way_at_once(void)
{
	enum { OPS = 60, COUNT = 1100 };
	struct peerlane_group_op ops[OPS];
	struct values values;
	struct tree tree;
	uint32_t i, rank, ranks = forms[1].ranks;

	CHECK(values_make(&values, PEERLANE_TYPE_F32, PEERLANE_REDUCE_SUM, ranks,
			  forms[1].block));
	for (i = 0; i < OPS; i++)
		ops[i] = GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_F32,
				  .op = PEERLANE_REDUCE_SUM, .count = COUNT,
				  .receive_offset = HALF + i * (COUNT * 4 + GUARD));
	if (begin(&tree, &forms[1])) {
		for (rank = 0; rank < ranks; rank++) {
			memset(at(&tree, rank, HALF), CANARY, HALF);
			values_give(&values, rank, at(&tree, rank, 0), 0, COUNT);
		}
		for (rank = 0; rank < ranks; rank++)
			CHECK_INT(group_begin(tree.world.rank[rank], ops, OPS), OPS);
		for (i = 0; i < OPS * ranks; i++)
			CHECK_INT(group_next(tree.world.rank[i % ranks],
					     PEERLANE_GROUP_RECORD_DONE).status, 0);
		for (i = 0; i < OPS * ranks && !tap.bad; i++)
			check_rank(PEERLANE_GROUP_ALL_REDUCE, 0, &values,
				   at(&tree, i % ranks,
				      ops[i / ranks].receive_offset),
				   i % ranks, COUNT);
	}
	values_free(&values);
	world_end(&tree.world);
}

/* ---- the same with and without ---- */

static void give(struct world *world, const struct values *values, size_t count)
{
	uint32_t rank;

	for (rank = 0; rank < world->ranks; rank++)
		values_give(values, rank, world->pages[rank].mem, 0, count);
}

/* Bytes of the result of all ranks, with the settings of both */
static void compare(const struct form *form, uint32_t type, uint32_t op)
{
	struct peerlane_group_create settings = form->settings;
	const size_t count = 3000;
	struct peerlane_group_op call = GROUP_OP(ALL_REDUCE, .type = type, .op = op,
						 .count = count, .receive_offset = HALF);
	struct values values;
	struct world flat;
	struct tree tree;

	settings.block = form->block;
	CHECK(values_make(&values, type, op, form->ranks, form->block));
	if (begin(&tree, form) &&
	    world_of(&flat, form->ranks, 1, LENGTH, settings)) {
		give(&flat, &values, count);
		give(&tree.world, &values, count);
		CHECK_INT(world_do(&flat, call), 0);
		CHECK_INT(world_do(&tree.world, call), 0);
		CHECK(!memcmp(flat.pages[0].mem + HALF, at(&tree, form->ranks - 1, HALF),
			      count * values.size));
	}
	values_free(&values);
	world_end(&tree.world);
	world_end(&flat);
}

static void one_aggregator_gives_the_same_bits(void)
{
	compare(&forms[2], PEERLANE_TYPE_F64, PEERLANE_REDUCE_SUM);
	compare(&forms[3], PEERLANE_TYPE_BF16, PEERLANE_REDUCE_AVG);
}

/* What these tests compare would tell a sum in another order. */
static void a_sum_in_other_blocks_would_be_noticed(void)
{
	struct peerlane_group_op call = GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_F32,
						 .op = PEERLANE_REDUCE_SUM,
						 .count = 1000);
	struct values values;
	struct tree tree;

	CHECK(values_make(&values, PEERLANE_TYPE_F32, PEERLANE_REDUCE_SUM,
			  forms[2].ranks, forms[2].ranks));
	if (begin(&tree, &forms[2])) {
		give(&tree.world, &values, 1000);
		CHECK_INT(world_do(&tree.world, call), 0);
		CHECK(values_sum_differs(&values, at(&tree, 0, 0), 0, 1000) >= 0);
	}
	values_free(&values);
	world_end(&tree.world);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(all_kinds_in_all_trees),
		TAP_CASE(all_types_and_operations),
		TAP_CASE(all_sizes),
		TAP_CASE(many_are_under_way_at_once),
		TAP_CASE(one_aggregator_gives_the_same_bits),
		TAP_CASE(a_sum_in_other_blocks_would_be_noticed),
	};

	return HARNESS_RUN(cases);
}
