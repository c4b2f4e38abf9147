// SPDX-License-Identifier: GPL-2.0
/* What an operation takes by which way, from latencies and times of a byte. */
#include <linux/kernel.h>

#include "group_cost.h"
#include "group_plan.h"

/* With more the model says the same, and nothing overflows. */
#define BYTES_MAX	(1ULL << 30)

/* ---- numbers ---- */

void group_cost_merge(struct group_cost *to, const struct group_cost *from)
{
	u32 i;

	to->alpha = max(to->alpha, from->alpha);
	to->own = max(to->own, from->own);
	to->beta = max(to->beta, from->beta);
	to->gamma = max(to->gamma, from->gamma);
	for (i = 0; i < GROUP_WAYS; i++)
		to->ratio[i] = max(to->ratio[i], from->ratio[i]);
	to->colocated = min(to->colocated, from->colocated);
}

/* Half of what is new: one round that was disturbed does not count for ever. */
static u32 blend(u32 old, u32 new)
{
	if (!old || !new)
		return old + new;
	return (u32)(((u64)old + new) / 2);
}

void group_cost_learn(struct group_cost *cost, const struct group_cost *measured)
{
	u32 i;

	cost->alpha = blend(cost->alpha, measured->alpha);
	cost->own = blend(cost->own, measured->own);
	cost->beta = blend(cost->beta, measured->beta);
	cost->gamma = blend(cost->gamma, measured->gamma);
	for (i = 0; i < GROUP_WAYS; i++)
		cost->ratio[i] = blend(cost->ratio[i], measured->ratio[i]);
	cost->colocated = measured->colocated;
}

/* ---- the model ---- */

static u64 ns_of(u64 bytes, u64 ps)
{
	return bytes * ps / 1000;
}

/* The latency of what is sent to all aggregators, of which one is one's own */
static u64 farthest(const struct group_cost *cost)
{
	return max(cost->alpha, cost->own);
}

static u64 replicated(const struct group_cost *cost,
		      const struct group_shape *shape, u64 bytes)
{
	u64 all = bytes * shape->size;

	return farthest(cost) + cost->own + ns_of(all + bytes, cost->beta) +
	       ns_of(all, cost->gamma);
}

/* Several segments: while one is sent the next is reduced, and so on. */
static u64 overlapped(u64 sum, u64 longest, u64 rounds)
{
	return sum / rounds + longest - longest / rounds;
}

static u64 shared(const struct group_cost *cost, const struct group_shape *shape,
		  u64 bytes)
{
	u64 segments = bytes ? (bytes - 1) / shape->segment + 1 : 1;
	u64 rounds = (segments - 1) / shape->aggregators + 1;
	u64 share = min(bytes, rounds * shape->segment) * shape->size;
	u64 way = ns_of(max(bytes, share), cost->beta);
	u64 sum = ns_of(share, cost->gamma);

	/* Who is both has the bytes of both on its wire, in each direction. */
	if (cost->colocated && bytes > shape->segment)
		way = ns_of(bytes + share, cost->beta);
	return 2 * farthest(cost) +
	       overlapped(2 * way + sum, max(way, sum), rounds);
}

u64 group_cost_predict(const struct group_cost *cost,
		       const struct group_shape *shape, u32 way, u64 bytes)
{
	bytes = min(bytes, BYTES_MAX);
	return way == GROUP_WAY_REPLICATED ? replicated(cost, shape, bytes) :
					     shared(cost, shape, bytes);
}

u64 group_cost_expect(const struct group_cost *cost,
		      const struct group_shape *shape, u32 way, u64 bytes)
{
	u64 ns = group_cost_predict(cost, shape, way, bytes);
	/* What is wrong with one way's prediction is so with the other's. */
	u32 ratio = cost->ratio[way] ?: cost->ratio[!way];

	/* Less than 2^53 / 2^8 * 2^14 */
	return ratio ? ns / GROUP_COST_UNIT * ratio : ns;
}

u32 group_cost_ratio(const struct group_cost *cost,
		     const struct group_shape *shape, u32 way, u64 bytes, u64 ns)
{
	u64 predicted = group_cost_predict(cost, shape, way, bytes);

	if (ns > U64_MAX / GROUP_COST_UNIT || !predicted)
		return 0;
	return (u32)clamp_t(u64, ns * GROUP_COST_UNIT / predicted, 1,
			    GROUP_COST_RATIO_MAX);
}

/* ---- rounds ---- */

#define ROUND_FIRST	64U	/* operations */
#define ROUND_DOUBLES	6U	/* times; then they come evenly */

u64 group_cost_round_at(u32 round)
{
	if (!round)
		return 0;
	if (round <= ROUND_DOUBLES)
		return (u64)ROUND_FIRST << (round - 1);
	return ((u64)ROUND_FIRST << ROUND_DOUBLES) * (round - ROUND_DOUBLES);
}

/* ---- the choice ---- */

static bool is_faster(const struct group_cost *cost,
		      const struct group_shape *shape, u64 bytes)
{
	return group_cost_expect(cost, shape, GROUP_WAY_REPLICATED, bytes) <
	       group_cost_expect(cost, shape, GROUP_WAY_SHARED, bytes);
}

u32 group_cost_limit(const struct group_cost *cost,
		     const struct group_shape *shape)
{
	u32 bytes, limit;

	if (shape->aggregators != shape->size || shape->size < 2 ||
	    !is_faster(cost, shape, 0))
		return 0;
	limit = 1;	/* a barrier */
	for (bytes = 8; bytes <= shape->segment; bytes *= 2) {
		if (!is_faster(cost, shape, bytes))
			break;
		limit = bytes + 1;
	}
	return limit;
}

void group_limit_agree(struct group_limit *limit, u32 round, u32 bytes)
{
	limit->next = bytes;
	limit->next_at = group_cost_round_at(round);
	if (!limit->next_at)
		limit->bytes = bytes;
}

u32 group_limit_at(struct group_limit *limit, u64 seq)
{
	if (seq >= limit->next_at)
		limit->bytes = limit->next;
	return limit->bytes;
}

/* ---- text ---- */

int group_cost_text(const struct group_cost *cost,
		    const struct group_shape *shape, u32 limit, char *text,
		    size_t size)
{
	u64 at = limit > 1 ? limit - 1 : 0;
	u64 one, other;

	if (shape->size < 2)
		return snprintf(text, size, "shared: the group has one rank");
	if (shape->aggregators != shape->size)
		return snprintf(text, size,
				"shared: replicated takes an aggregator for each of the %u ranks, and there are %u",
				shape->size, shape->aggregators);
	one = group_cost_expect(cost, shape, GROUP_WAY_REPLICATED, at);
	other = group_cost_expect(cost, shape, GROUP_WAY_SHARED, at);
	if (!limit)
		return snprintf(text, size,
				"shared: of 0 bytes %llu us are expected, replicated %llu us",
				other / 1000, one / 1000);
	if (limit > shape->segment)
		return snprintf(text, size,
				"replicated up to a segment: of its %llu bytes %llu us are expected, shared %llu us",
				at, one / 1000, other / 1000);
	return snprintf(text, size,
			"replicated up to %llu bytes: %llu us are expected there, shared %llu us",
			at, one / 1000, other / 1000);
}
