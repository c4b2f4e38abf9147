// SPDX-License-Identifier: GPL-2.0
/* Which calls a group takes: kinds, types, operations, roots that go together. */
#include <errno.h>

#include "tap.h"

#include "group_plan.h"

enum { F32 = 1, F64, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64 };
enum { SUM = 1, AVG, MIN, MAX, PROD, BAND, BOR, BXOR };

static const struct group_shape three = { 3, 2, 4096 };

static int check_with(u8 kind, u8 type, u8 op, u32 root, u64 count)
{
	const struct group_call call = { kind, type, op, root, count };

	return group_call_check(&three, &call);
}

static void unknown_kinds_are_refused(void)
{
	u32 kind;

	for (kind = 0; kind < 256; kind++)
		if (kind < GROUP_ALL_REDUCE || kind > GROUP_BARRIER)
			CHECK_INT(check_with((u8)kind, I32, SUM, 0, 1), -EINVAL);
}

static void unknown_types_are_refused(void)
{
	u32 type;

	for (type = 0; type < 256; type++) {
		int want = type >= F32 && type <= U64 ? 0 : -EINVAL;

		CHECK_INT(check_with(GROUP_ALL_REDUCE, (u8)type, SUM, 0, 1), want);
		CHECK_INT(check_with(GROUP_ALL_GATHER, (u8)type, 0, 0, 1), want);
		CHECK_INT(check_with(GROUP_BROADCAST, (u8)type, 0, 0, 1), want);
	}
}

static void unknown_operations_are_refused(void)
{
	u32 op;

	for (op = 0; op < 256; op++) {
		int want = op >= SUM && op <= BXOR ? 0 : -EINVAL;

		CHECK_INT(check_with(GROUP_ALL_REDUCE, I32, (u8)op, 0, 1), want);
		CHECK_INT(check_with(GROUP_REDUCE, U8, (u8)op, 0, 1), want);
		CHECK_INT(check_with(GROUP_REDUCE_SCATTER, I64, (u8)op, 0, 1), want);
	}
}

static void floats_have_no_bit_operations(void)
{
	u8 type, op;

	for (type = F64; type <= BF16; type++)
		for (op = SUM; op <= BXOR; op++)
			CHECK_INT(check_with(GROUP_ALL_REDUCE, type, op, 0, 1),
				  op >= BAND ? -EINVAL : 0);
}

static void copies_have_no_operation(void)
{
	CHECK_INT(check_with(GROUP_ALL_GATHER, F32, SUM, 0, 1), -EINVAL);
	CHECK_INT(check_with(GROUP_BROADCAST, F32, SUM, 0, 1), -EINVAL);
}

static void a_barrier_has_nothing(void)
{
	CHECK_INT(check_with(GROUP_BARRIER, 0, 0, 0, 0), 0);
	CHECK_INT(check_with(GROUP_BARRIER, I32, 0, 0, 0), -EINVAL);
	CHECK_INT(check_with(GROUP_BARRIER, 0, SUM, 0, 0), -EINVAL);
	CHECK_INT(check_with(GROUP_BARRIER, 0, 0, 1, 0), -EINVAL);
	CHECK_INT(check_with(GROUP_BARRIER, 0, 0, 0, 1), -EINVAL);
}

static void a_root_is_a_rank(void)
{
	CHECK_INT(check_with(GROUP_REDUCE, I32, SUM, 2, 1), 0);
	CHECK_INT(check_with(GROUP_REDUCE, I32, SUM, 3, 1), -EINVAL);
	CHECK_INT(check_with(GROUP_BROADCAST, I32, 0, 2, 1), 0);
	CHECK_INT(check_with(GROUP_BROADCAST, I32, 0, U32_MAX, 1), -EINVAL);
	/* the others have none */
	CHECK_INT(check_with(GROUP_ALL_REDUCE, I32, SUM, 1, 1), -EINVAL);
	CHECK_INT(check_with(GROUP_REDUCE_SCATTER, I32, SUM, 1, 1), -EINVAL);
	CHECK_INT(check_with(GROUP_ALL_GATHER, I32, 0, 1, 1), -EINVAL);
}

static const struct tap_case cases[] = {
	TAP_CASE(unknown_kinds_are_refused),
	TAP_CASE(unknown_types_are_refused),
	TAP_CASE(unknown_operations_are_refused),
	TAP_CASE(floats_have_no_bit_operations),
	TAP_CASE(copies_have_no_operation),
	TAP_CASE(a_barrier_has_nothing),
	TAP_CASE(a_root_is_a_rank),
};

int main(void)
{
	return TAP_RUN(cases);
}
