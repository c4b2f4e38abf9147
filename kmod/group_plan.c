// SPDX-License-Identifier: GPL-2.0
/* Which bytes of an operation are in which segment. */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "group_plan.h"

/* ---- types and operations ---- */

/* By enum peerlane_type: f32, f64, f16, bf16, i8 .. i64, u8 .. u64 */
static const u8 type_size[] = { 0, 4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8 };
#define TYPE_FLOAT_LAST	4
/* By enum peerlane_reduce_op; from BIT_FIRST on, of integers only */
#define OP_BIT_FIRST	6
#define OP_LAST		8

/* What is summed up but not rounded: f16 and bf16 as f32 */
static u32 partial_size(u8 type)
{
	u32 size = type_size[type];

	return type <= TYPE_FLOAT_LAST && size < 4 ? 4 : size;
}

/* The most elements that a segment has. */
static u32 most_elements(const struct group_shape *shape,
			 const struct group_call *call)
{
	return shape->segment / (shape->is_tree ? partial_size(call->type) :
						  type_size[call->type]);
}

static bool reduces(u8 kind)
{
	return kind == GROUP_ALL_REDUCE || kind == GROUP_REDUCE_SCATTER ||
	       kind == GROUP_REDUCE;
}

static bool has_root(u8 kind)
{
	return kind == GROUP_REDUCE || kind == GROUP_BROADCAST;
}

/* One segment for each aggregator, that has all of it, for the rank of its number. */
static bool is_replicated(const struct group_call *call)
{
	return call->way == GROUP_WAY_REPLICATED;
}

/* Each rank has a block of its own. */
static bool has_blocks(u8 kind)
{
	return kind == GROUP_REDUCE_SCATTER || kind == GROUP_ALL_GATHER;
}

static bool op_is_good(const struct group_call *call)
{
	if (!reduces(call->kind))
		return !call->op;
	if (!call->op || call->op > OP_LAST)
		return false;
	return call->op < OP_BIT_FIRST || call->type > TYPE_FLOAT_LAST;
}

static bool type_is_good(const struct group_call *call)
{
	if (call->kind == GROUP_BARRIER)
		return !call->type && !call->count;
	return call->type < ARRAY_SIZE(type_size) && type_size[call->type];
}

bool group_may_replicate(const struct group_shape *shape,
			 const struct group_call *call)
{
	if (shape->aggregators != shape->size || shape->is_tree)
		return false;
	if (call->kind == GROUP_BARRIER)
		return true;
	return call->kind == GROUP_ALL_REDUCE &&
	       call->count <= shape->segment / type_size[call->type];
}

static int check_call(const struct group_shape *shape,
		      const struct group_call *call)
{
	u64 most = S64_MAX;

	if (call->kind < GROUP_ALL_REDUCE || call->kind > GROUP_BARRIER ||
	    !type_is_good(call) || !op_is_good(call) ||
	    call->root >= (has_root(call->kind) ? shape->size : 1))
		return -EINVAL;
	if (call->kind == GROUP_BARRIER)
		return 0;
	if (has_blocks(call->kind))
		most /= shape->size;
	return call->count > most / type_size[call->type] ? -EOVERFLOW : 0;
}

int group_call_check(const struct group_shape *shape,
		     const struct group_call *call)
{
	int ret = check_call(shape, call);

	if (ret || call->way == GROUP_WAY_SHARED)
		return ret;
	return is_replicated(call) && group_may_replicate(shape, call) ? 0 :
									 -EINVAL;
}

/* ---- bytes ---- */

/* Of one block. @call was checked: nothing overflows. */
static u64 block_bytes(const struct group_call *call)
{
	return call->count * type_size[call->type];
}

u64 group_call_send_bytes(const struct group_shape *shape,
			  const struct group_call *call, u32 rank)
{
	u64 bytes = block_bytes(call);

	if (call->kind == GROUP_REDUCE_SCATTER)
		return bytes * shape->size;
	return call->kind == GROUP_BROADCAST && rank != call->root ? 0 : bytes;
}

u64 group_call_receive_bytes(const struct group_shape *shape,
			     const struct group_call *call, u32 rank)
{
	u64 bytes = block_bytes(call);

	switch (call->kind) {
	case GROUP_ALL_GATHER:
		return bytes * shape->size;
	case GROUP_REDUCE:
		return rank == call->root ? bytes : 0;
	case GROUP_BROADCAST:
		return rank == call->root ? 0 : bytes;
	}
	return bytes;
}

/* ---- segments ---- */

u64 group_plan_segments(const struct group_shape *shape,
			const struct group_call *call)
{
	u64 each;

	if (is_replicated(call))
		return shape->aggregators;
	if (!call->count)
		return 1;
	each = (call->count - 1) / most_elements(shape, call) + 1;
	return has_blocks(call->kind) ? each * shape->size : each;
}

/* Not (seq + index) % aggregators: numbers from the wire may be of any size. */
u32 group_plan_aggregator(const struct group_shape *shape, u64 seq, u64 index)
{
	return (u32)((seq % shape->aggregators + index % shape->aggregators) %
		     shape->aggregators);
}

u32 group_plan_first(const struct group_shape *shape, u64 seq, u32 aggregator)
{
	u32 begin = (u32)(seq % shape->aggregators);

	return (aggregator + shape->aggregators - begin) % shape->aggregators;
}

static void set_ends(struct group_segment *segment,
		     const struct group_call *call, u32 block)
{
	switch (call->kind) {
	case GROUP_REDUCE_SCATTER:
		segment->receiver = block;
		break;
	case GROUP_ALL_GATHER:
		segment->contributor = block;
		break;
	case GROUP_REDUCE:
		segment->receiver = call->root;
		break;
	case GROUP_BROADCAST:
		segment->contributor = call->root;
		segment->receiver = GROUP_OTHERS;
		break;
	}
}

void group_plan_segment(const struct group_shape *shape,
			const struct group_call *call, u64 seq, u64 index,
			struct group_segment *segment)
{
	u32 size = type_size[call->type];
	u32 blocks = has_blocks(call->kind) ? shape->size : 1;
	u64 first, before;
	u32 most;

	*segment = (struct group_segment){
		.aggregator = group_plan_aggregator(shape, seq, index),
		.contributor = GROUP_ALL,
		.receiver = GROUP_ALL,
	};
	if (is_replicated(call))
		segment->receiver = segment->aggregator;
	if (!call->count)
		return;
	most = most_elements(shape, call);
	first = is_replicated(call) ? 0 : index / blocks * most;
	before = index % blocks * block_bytes(call);
	set_ends(segment, call, (u32)(index % blocks));
	segment->elements = (u32)min_t(u64, call->count - first, most);
	segment->bytes = segment->elements * size;
	segment->partial = segment->contributor == GROUP_ALL ?
			   segment->elements * partial_size(call->type) :
			   segment->bytes;
	segment->send = first * size;
	segment->receive = first * size;
	if (call->kind == GROUP_REDUCE_SCATTER)
		segment->send += before;
	if (call->kind == GROUP_ALL_GATHER)
		segment->receive += before;
}
