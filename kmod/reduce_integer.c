// SPDX-License-Identifier: GPL-2.0
/* Integers, one by one: for any processor, and without the FPU. */
#include <linux/compiler.h>
#include <linux/types.h>

#include "reduce.h"

#define REDUCE_UNROLL	8
#define REDUCE_AHEAD	0
#define REDUCE_PUT(at, a, is_past) \
	((void)(is_past), (void)__builtin_memcpy(at, &(a), sizeof(a)))

#define FOLD_VALUE	u8
#define FOLD_ELEMENT	u8
#define FOLD_NAME(x)	u8_##x
#include "reduce_fold.h"
#define FOLD_VALUE	u16
#define FOLD_ELEMENT	u16
#define FOLD_NAME(x)	u16_##x
#include "reduce_fold.h"
#define FOLD_VALUE	u32
#define FOLD_ELEMENT	u32
#define FOLD_NAME(x)	u32_##x
#include "reduce_fold.h"
#define FOLD_VALUE	u64
#define FOLD_ELEMENT	u64
#define FOLD_NAME(x)	u64_##x
#include "reduce_fold.h"

#include "reduce_row.h"

#define OPERATION(type, name, what) \
static __always_inline type type##_##name##_op(type a, type b) \
{ \
	return what; \
}

/* Multiplied as u64: a u16 would become an int, which must not overflow. */
#define OPERATIONS(type, signed_type) \
OPERATION(type, sum, a + b) \
OPERATION(type, prod, (u64)a * b) \
OPERATION(type, min, a < b ? a : b) \
OPERATION(type, max, a > b ? a : b) \
OPERATION(type, min_signed, (signed_type)a < (signed_type)b ? a : b) \
OPERATION(type, max_signed, (signed_type)a > (signed_type)b ? a : b) \
OPERATION(type, band, a & b) \
OPERATION(type, bor, a | b) \
OPERATION(type, bxor, a ^ b) \
REDUCE_INTEGER_FOLDS(type)

OPERATIONS(u8, s8)
OPERATIONS(u16, s16)
OPERATIONS(u32, s32)
OPERATIONS(u64, s64)

const struct reduce_variant reduce_integer = {
	.name = "integer",
	.fold = { REDUCE_INTEGER_ROWS },
};
