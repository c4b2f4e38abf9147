/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trees of aggregators: the root is made first, then those below it, and ranks
 * join the one of their block.
 */
#ifndef SELFTESTS_GROUP_TREE_H
#define SELFTESTS_GROUP_TREE_H

#include "group.h"

struct tree {
	struct world world;
	uint32_t block;
	uint32_t height;	/* of aggregators: 1 is the root alone */
	uint32_t ways;		/* each rank's aggregators; one root for all */
	uint32_t leaf[2][RANKS_MAX];	/* index in world.aggregator, by block */
};

static inline size_t tree_pool(const struct peerlane_group_create *settings)
{
	return (size_t)(RANKS_MAX + 2) * 2 * (settings->window ?: 8) *
	       settings->segment;
}

/* Below @parent, or nothing: its index, or -1 */
static inline int tree_add(struct tree *tree, int parent, size_t pool,
			   struct peerlane_aggregator_create args)
{
	struct world *world = &tree->world;
	uint32_t i = world->aggregators;

	if (!CHECK(i < AGGREGATORS_MAX))
		return -1;
	if (parent >= 0)
		memcpy(args.parent, world->aggregator[parent].address,
		       PEERLANE_ADDRESS_LEN);
	world->aggregator[i] = aggregator_of(args, pool);
	memcpy(world->addresses[i], world->aggregator[i].address,
	       PEERLANE_ADDRESS_LEN);
	world->aggregators++;
	return (int)i;
}

/* Those of one way, from the root down: of blocks of @block^@level ranks. */
static inline void tree_grow(struct tree *tree, uint32_t way, int parent,
			     uint32_t level, uint32_t first, size_t pool,
			     struct peerlane_aggregator_create args)
{
	uint32_t k, each = 1;
	int added;

	if (!level) {
		tree->leaf[way][first / tree->block] = (uint32_t)parent;
		return;
	}
	for (k = 0; k < level; k++)
		each *= tree->block;
	for (k = 0; k < tree->block && first + k * each < tree->world.ranks; k++) {
		added = tree_add(tree, parent, pool, args);
		if (added >= 0)
			tree_grow(tree, way, added, level - 1, first + k * each,
				  pool, args);
	}
}

/* The ranks that there are take several roots' blocks if the tree is not high. */
static inline void tree_plant(struct tree *tree, size_t pool,
			      struct peerlane_aggregator_create args)
{
	uint32_t way, k, each = 1;
	int root = tree_add(tree, -1, pool, args), added;

	for (k = 1; k < tree->height; k++)
		each *= tree->block;
	for (way = 0; way < tree->ways && tree->height > 1; way++)
		for (k = 0; k * each < tree->world.ranks; k++) {
			added = tree_add(tree, root, pool, args);
			if (added >= 0)
				tree_grow(tree, way, added, tree->height - 2,
					  k * each, pool, args);
		}
}

static inline void tree_ways(struct tree *tree)
{
	struct world *world = &tree->world;
	uint32_t i, way;

	world->ways = tree->ways;
	for (i = 0; i < world->ranks; i++)
		for (way = 0; way < tree->ways; way++)
			memcpy(world->way[i][way],
			       world->aggregator[tree->leaf[way][i / tree->block]].address,
			       PEERLANE_ADDRESS_LEN);
}

static inline void tree_make(struct tree *tree, uint32_t ranks, uint32_t block,
			     uint32_t height, uint32_t ways,
			     const struct peerlane_group_create *settings)
{
	*tree = (struct tree){
		.world.ranks = ranks, .block = block, .height = height, .ways = ways,
	};
	tree_plant(tree, tree_pool(settings), AGGREGATOR_SETTINGS());
	tree_ways(tree);
}

static inline bool tree_join(struct tree *tree, struct peerlane_group_create settings,
			     size_t length)
{
	settings.block = tree->block;
	settings.placement = PEERLANE_PLACEMENT_TREE;
	return world_join(&tree->world, settings, length);
}

#endif /* SELFTESTS_GROUP_TREE_H */
