// SPDX-License-Identifier: GPL-2.0
/*
 * How groups with a tree of aggregators end: every rank of every block hears the
 * same, and nothing is left of it.
 */
#include "tree.h"

#define LENGTH	MIB
#define SOON	10.0
#define LATE_MS	1500
#define NOBODY	PEERLANE_RANK_NONE

#define SUM(_count, ...) GROUP_OP(ALL_REDUCE,				\
	.type = PEERLANE_TYPE_F32, .op = PEERLANE_REDUCE_SUM,		\
	.count = _count, __VA_ARGS__)

/* 5 ranks in blocks of 2, three high: ranks 0 .. 3 have one above theirs, 4 another */
#define RANKS	5
enum { ROOT, LEFT, LEAF_0, LEAF_2, RIGHT, LEAF_4 };

static const struct peerlane_group_create small = GROUP_SETTINGS(.segment = 4096);

static bool tree_three(struct tree *tree, struct peerlane_group_create settings)
{
	tree_make(tree, RANKS, 2, 3, 1, &settings);
	return tree_join(tree, settings, LENGTH);
}

static void begin(struct tree *tree, uint32_t rank, struct peerlane_group_op op)
{
	if (!CHECK_INT(group_begin(tree->world.rank[rank], &op, 1), 1))
		printf("# %s\n", text);
}

/* All that have a file */
static void check_ended(struct tree *tree, int status, uint32_t cause, uint32_t rank)
{
	struct peerlane_group_record record;
	struct peerlane_group_info info;
	double start = now();
	uint32_t i;

	for (i = 0; i < tree->world.ranks; i++) {
		if (tree->world.rank[i] < 0)
			continue;
		record = group_find(tree->world.rank[i], PEERLANE_GROUP_RECORD_ENDED);
		info = group_info(tree->world.rank[i]);
		printf("# rank %u after %.1f s: %s\n", i, now() - start, info.text);
		CHECK_INT(record.status, status);
		CHECK_INT(record.cause, cause);
		CHECK_INT(record.rank, rank);
	}
	CHECK(now() - start < SOON);
}

static void check_empty(struct tree *tree)
{
	uint32_t i;
	int fd;

	for (i = 0; i < tree->world.aggregators; i++) {
		fd = tree->world.aggregator[i].fd;
		if (fd < 0)
			continue;
		CHECK(WAIT_FOR(!aggregator_info(fd).groups, SOON));
		CHECK_INT(aggregator_info(fd).pool_used, 0);
		CHECK(WAIT_FOR(!aggregator_info(fd).links, SOON));
	}
}

static void close_aggregator(struct tree *tree, uint32_t index)
{
	close(tree->world.aggregator[index].fd);
	tree->world.aggregator[index].fd = -1;
}

static void close_rank(struct tree *tree, uint32_t rank)
{
	close(tree->world.rank[rank]);
	tree->world.rank[rank] = -1;
}

/* ---- well ---- */

static void all_leave_and_come_again(void)
{
	const struct peerlane_group_create settings =
		GROUP_SETTINGS(.segment = 4096);
	struct tree tree;
	uint32_t round;

	tree_make(&tree, RANKS, 2, 3, 1, &settings);
	for (round = 0; round < 4 && !tap.bad; round++) {
		tree.world.ranks = RANKS;
		if (tree_join(&tree, settings, LENGTH))
			CHECK_INT(world_do(&tree.world, SUM(5000)), 0);
		world_leave(&tree.world);
		check_empty(&tree);
	}
	CHECK_INT(aggregator_info(tree.world.aggregator[ROOT].fd).failed, 0);
	world_end(&tree.world);
}

static void the_list_says_what_is_above(void)
{
	struct peerlane_aggregator_info root, leaf;
	struct tree tree;

	if (tree_three(&tree, small)) {
		root = aggregator_info(tree.world.aggregator[ROOT].fd);
		leaf = aggregator_info(tree.world.aggregator[LEAF_2].fd);
		CHECK_INT(root.tree_groups, 0);
		CHECK_INT(root.links, 2);
		CHECK_INT(leaf.tree_groups, 1);
		CHECK_INT(leaf.pool_used, (2 + 2) * 8 * 4096);
		CHECK(!memcmp(leaf.parent, tree.world.addresses[LEFT],
			      PEERLANE_ADDRESS_LEN));
	}
	world_end(&tree.world);
}

/* ---- by a rank ---- */

static void who_leaves_is_named_in_all_blocks(void)
{
	struct tree tree;
	uint32_t i;

	if (tree_three(&tree, small)) {
		for (i = 0; i < RANKS; i++)
			if (i != 3)
				begin(&tree, i, SUM(100));
		usleep(300000);
		close_rank(&tree, 3);
		check_ended(&tree, -ECONNABORTED, PEERLANE_GROUP_CAUSE_LEFT, 3);
		check_empty(&tree);
	}
	world_end(&tree.world);
}

static void a_revoked_region_is_named_in_all_blocks(void)
{
	struct tree tree;

	if (tree_three(&tree, small)) {
		begin(&tree, 0, SUM(100));
		usleep(300000);
		CHECK_INT(region_revoke(tree.world.pages[4].region), 0);
		check_ended(&tree, -ENODEV, PEERLANE_GROUP_CAUSE_REVOKED, 4);
		check_empty(&tree);
	}
	world_end(&tree.world);
}

/* Whose block differs as a whole, and the first field that does. */
static void mismatch(const struct peerlane_group_op *usual,
		     const struct peerlane_group_op *other, uint32_t field)
{
	struct peerlane_group_info info;
	struct tree tree;
	uint32_t i;

	if (tree_three(&tree, small)) {
		for (i = 0; i < RANKS; i++)
			begin(&tree, i, i == 2 || i == 3 ? *other : *usual);
		check_ended(&tree, -EBADE, PEERLANE_GROUP_CAUSE_MISMATCH, 2);
		info = group_info(tree.world.rank[4]);
		CHECK_INT(info.fault_field, field);
		CHECK_INT(info.fault_other, 0);
		check_empty(&tree);
	}
	world_end(&tree.world);
}

static void a_mismatch_between_blocks_is_named(void)
{
	const struct peerlane_group_op usual = SUM(100), count = SUM(101);
	struct peerlane_group_op op = usual;

	mismatch(&usual, &count, 5);
	op.op = PEERLANE_REDUCE_AVG;	/* a sum, between aggregators */
	mismatch(&usual, &op, 3);
}

static void a_mismatch_of_the_last_block_is_named(void)
{
	struct peerlane_group_info info;
	struct tree tree;
	uint32_t i;

	if (tree_three(&tree, small)) {
		for (i = 0; i < RANKS; i++)
			begin(&tree, i, i == 4 ? GROUP_OP(BARRIER) : SUM(100));
		check_ended(&tree, -EBADE, PEERLANE_GROUP_CAUSE_MISMATCH, 4);
		info = group_info(tree.world.rank[1]);
		CHECK_INT(info.fault_value, PEERLANE_GROUP_BARRIER);
		CHECK_INT(info.fault_expected, PEERLANE_GROUP_ALL_REDUCE);
	}
	world_end(&tree.world);
}

/* Its block's time began later: others ask, and name it and not its neighbour. */
static void the_late_rank_is_named_in_all_blocks(void)
{
	struct peerlane_group_create settings =
		GROUP_SETTINGS(.segment = 4096, .op_timeout_ms = LATE_MS);
	struct tree tree;

	if (tree_three(&tree, settings)) {
		begin(&tree, 0, SUM(100));
		begin(&tree, 1, SUM(100));
		begin(&tree, 4, SUM(100));
		usleep(LATE_MS * 500);
		begin(&tree, 2, SUM(100));
		check_ended(&tree, -ETIMEDOUT, PEERLANE_GROUP_CAUSE_LATE, 3);
		CHECK_INT(group_info(tree.world.rank[0]).fault_missing, 1);
		check_empty(&tree);
	}
	world_end(&tree.world);
}

static void of_a_block_that_is_late_the_first_is_named(void)
{
	struct peerlane_group_create settings =
		GROUP_SETTINGS(.segment = 4096, .op_timeout_ms = LATE_MS);
	struct tree tree;

	if (tree_three(&tree, settings)) {
		begin(&tree, 0, SUM(100));
		begin(&tree, 1, SUM(100));
		begin(&tree, 4, SUM(100));
		check_ended(&tree, -ETIMEDOUT, PEERLANE_GROUP_CAUSE_LATE, 2);
		CHECK_INT(group_info(tree.world.rank[4]).fault_missing, 2);
	}
	world_end(&tree.world);
}

/* ---- by an aggregator ---- */

static void closed(uint32_t index)
{
	struct tree tree;

	if (tree_three(&tree, small)) {
		CHECK_INT(world_do(&tree.world, SUM(100)), 0);
		begin(&tree, 0, SUM(100));
		close_aggregator(&tree, index);
		check_ended(&tree, -ESHUTDOWN, PEERLANE_GROUP_CAUSE_CLOSED, NOBODY);
		check_empty(&tree);
	}
	world_end(&tree.world);
}

static void a_leaf_that_is_closed_ends_it_for_all(void)
{
	closed(LEAF_2);
	closed(LEAF_4);
}

static void one_in_the_middle_that_is_closed_ends_it_for_all(void)
{
	closed(LEFT);
}

static void the_root_that_is_closed_ends_it_for_all(void)
{
	closed(ROOT);
}

/* ---- while they join ---- */

/* All ranks but those of which @without has the bit begin to. */
static void join_without(struct tree *tree, uint32_t without)
{
	struct peerlane_group_create args =
		GROUP_SETTINGS(.segment = 4096, .ranks = RANKS, .block = 2,
			       .placement = PEERLANE_PLACEMENT_TREE);
	struct world *world = &tree->world;
	uint32_t i;

	for (i = 0; i < RANKS; i++) {
		args.rank = i;
		world->pages[i] = pages_new(LENGTH);
		world->rank[i] = without >> i & 1 ? -1 : group_create(args);
		if (world->rank[i] < 0)
			continue;
		set_nonblock(world->rank[i], true);
		CHECK_INT(group_join(world->rank[i], world->way[i], 1), -EINPROGRESS);
		set_nonblock(world->rank[i], false);
	}
}

static void tree_with(struct tree *tree, size_t pool,
		      struct peerlane_aggregator_create args)
{
	*tree = (struct tree){
		.world.ranks = RANKS, .block = 2, .height = 3, .ways = 1,
	};
	tree_plant(tree, pool, args);
	tree_ways(tree);
}

#define WANTED	((RANKS_MAX + 2) * 8 * 4096)

static void who_does_not_join_is_named_in_all_blocks(void)
{
	struct tree tree;

	tree_with(&tree, WANTED, AGGREGATOR_SETTINGS(.join_timeout_ms = 2000));
	join_without(&tree, 1U << 3);
	check_ended(&tree, -ETIMEDOUT, PEERLANE_GROUP_CAUSE_JOIN, 3);
	check_empty(&tree);
	world_end(&tree.world);
}

/* Those that are there wait for the time of JOIN; none is welcome before. */
static void a_block_that_does_not_join_is_named(void)
{
	struct tree tree;

	tree_with(&tree, WANTED, AGGREGATOR_SETTINGS(.join_timeout_ms = 2000));
	join_without(&tree, 1U << 2 | 1U << 3);
	check_ended(&tree, -ETIMEDOUT, PEERLANE_GROUP_CAUSE_JOIN, 2);
	CHECK_INT(group_info(tree.world.rank[4]).fault_missing, 2);
	check_empty(&tree);
	world_end(&tree.world);
}

/* Each of the two below it is refused, with the name that it came by. */
static void a_root_without_memory_refuses_all(void)
{
	struct peerlane_aggregator_create args = AGGREGATOR_SETTINGS();
	struct aggregator *root;
	struct tree tree;
	uint32_t i;

	tree_with(&tree, WANTED, args);
	root = &tree.world.aggregator[ROOT];
	aggregator_end(root);
	root->pool = pages_new(65536);
	args.pool_fd = root->pool.region;
	memcpy(args.address, root->address, sizeof(args.address));
	root->fd = aggregator_create(&args);
	CHECK(root->fd >= 0);
	join_without(&tree, 0);
	for (i = 0; i < RANKS; i++)
		CHECK_INT(group_find(tree.world.rank[i],
				     PEERLANE_GROUP_RECORD_ENDED).cause,
			  PEERLANE_GROUP_CAUSE_FULL);
	check_empty(&tree);
	world_end(&tree.world);
}

static void a_root_that_is_not_there_is_told_to_all(void)
{
	struct tree tree;

	tree_with(&tree, WANTED, AGGREGATOR_SETTINGS());
	close_aggregator(&tree, ROOT);
	join_without(&tree, 0);
	check_ended(&tree, -ECONNRESET, PEERLANE_GROUP_CAUSE_DEAD, NOBODY);
	check_empty(&tree);
	world_end(&tree.world);
}

static void a_rank_of_another_block_is_refused(void)
{
	struct peerlane_group_create args =
		GROUP_SETTINGS(.segment = 4096, .ranks = 4, .block = 2,
			       .placement = PEERLANE_PLACEMENT_TREE);
	struct peerlane_group_create settings = args;
	struct tree tree;
	int first, second;

	tree_make(&tree, 4, 2, 2, 1, &settings);
	first = group_create(args);
	args.rank = 2;
	second = group_create(args);
	set_nonblock(first, true);
	CHECK_INT(group_join(first, tree.world.way[0], 1), -EINPROGRESS);
	CHECK(WAIT_FOR(aggregator_info(tree.world.aggregator[1].fd).groups, PATIENCE));
	CHECK_INT(group_join(second, tree.world.way[0], 1), -EBADE);
	CHECK_INT(group_info(second).fault_cause, PEERLANE_GROUP_CAUSE_BLOCK);
	CHECK_HAS(group_info(second).text, "rank 2 is of another block");
	close(first);
	close(second);
	tree.world.ranks = 0;
	world_end(&tree.world);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(all_leave_and_come_again),
		TAP_CASE(the_list_says_what_is_above),
		TAP_CASE(who_leaves_is_named_in_all_blocks),
		TAP_CASE(a_revoked_region_is_named_in_all_blocks),
		TAP_CASE(a_mismatch_between_blocks_is_named),
		TAP_CASE(a_mismatch_of_the_last_block_is_named),
		TAP_CASE(the_late_rank_is_named_in_all_blocks),
		TAP_CASE(of_a_block_that_is_late_the_first_is_named),
		TAP_CASE(a_leaf_that_is_closed_ends_it_for_all),
		TAP_CASE(one_in_the_middle_that_is_closed_ends_it_for_all),
		TAP_CASE(the_root_that_is_closed_ends_it_for_all),
		TAP_CASE(who_does_not_join_is_named_in_all_blocks),
		TAP_CASE(a_block_that_does_not_join_is_named),
		TAP_CASE(a_root_without_memory_refuses_all),
		TAP_CASE(a_root_that_is_not_there_is_told_to_all),
		TAP_CASE(a_rank_of_another_block_is_refused),
	};

	return HARNESS_RUN(cases);
}
