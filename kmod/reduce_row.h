/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From operations to rows of a table of folds. Whoever includes it has, of each
 * type of accumulators, <type>_fold() and <type>_<operation>_op(), and of each
 * type of elements <type>_load() and <type>_store().
 */

enum {
	u8_bytes = 1, u16_bytes = 2, u32_bytes = 4, u64_bytes = 8,
	f16_bytes = 2, bf16_bytes = 2, f32_bytes = 4, f64_bytes = 8,
};

/* Fold @name: elements @from become elements @to, over accumulators @acc. */
#define REDUCE_FOLD(name, acc, from, to, does, ends) \
static size_t name(const struct reduce_span *span) \
{ \
	return acc##_fold(span, (struct acc##_way){ \
		.in = from##_bytes, .out = to##_bytes, .load = from##_load, \
		.op = acc##_##does##_op, .end = acc##_##ends, \
		.store = to##_store, \
	}); \
}

#define REDUCE_FLOAT_FOLDS(row, acc, from, to) \
REDUCE_FOLD(row##_sum, acc, from, to, sum, keep) \
REDUCE_FOLD(row##_avg, acc, from, to, sum, divide) \
REDUCE_FOLD(row##_min, acc, from, to, min, keep) \
REDUCE_FOLD(row##_max, acc, from, to, max, keep) \
REDUCE_FOLD(row##_prod, acc, from, to, prod, keep)

#define REDUCE_FLOAT_ROW(row) { \
	[PEERLANE_REDUCE_SUM] = row##_sum, \
	[PEERLANE_REDUCE_AVG] = row##_avg, \
	[PEERLANE_REDUCE_MIN] = row##_min, \
	[PEERLANE_REDUCE_MAX] = row##_max, \
	[PEERLANE_REDUCE_PROD] = row##_prod, \
}

#define REDUCE_INTEGER_FOLDS(type) \
REDUCE_FOLD(type##_sum, type, type, type, sum, keep) \
REDUCE_FOLD(type##_prod, type, type, type, prod, keep) \
REDUCE_FOLD(type##_min, type, type, type, min, keep) \
REDUCE_FOLD(type##_max, type, type, type, max, keep) \
REDUCE_FOLD(type##_min_signed, type, type, type, min_signed, keep) \
REDUCE_FOLD(type##_max_signed, type, type, type, max_signed, keep) \
REDUCE_FOLD(type##_band, type, type, type, band, keep) \
REDUCE_FOLD(type##_bor, type, type, type, bor, keep) \
REDUCE_FOLD(type##_bxor, type, type, type, bxor, keep)

/* @least, @most: of signed or of unsigned numbers */
#define REDUCE_INTEGER_ROW(type, least, most) { \
	[PEERLANE_REDUCE_SUM] = type##_sum, \
	[PEERLANE_REDUCE_MIN] = type##_##least, \
	[PEERLANE_REDUCE_MAX] = type##_##most, \
	[PEERLANE_REDUCE_PROD] = type##_prod, \
	[PEERLANE_REDUCE_BAND] = type##_band, \
	[PEERLANE_REDUCE_BOR] = type##_bor, \
	[PEERLANE_REDUCE_BXOR] = type##_bxor, \
}

#define REDUCE_INTEGER_ROWS \
	[PEERLANE_TYPE_I8] = REDUCE_INTEGER_ROW(u8, min_signed, max_signed), \
	[PEERLANE_TYPE_I16] = REDUCE_INTEGER_ROW(u16, min_signed, max_signed), \
	[PEERLANE_TYPE_I32] = REDUCE_INTEGER_ROW(u32, min_signed, max_signed), \
	[PEERLANE_TYPE_I64] = REDUCE_INTEGER_ROW(u64, min_signed, max_signed), \
	[PEERLANE_TYPE_U8] = REDUCE_INTEGER_ROW(u8, min, max), \
	[PEERLANE_TYPE_U16] = REDUCE_INTEGER_ROW(u16, min, max), \
	[PEERLANE_TYPE_U32] = REDUCE_INTEGER_ROW(u32, min, max), \
	[PEERLANE_TYPE_U64] = REDUCE_INTEGER_ROW(u64, min, max)

#define REDUCE_FLOAT_ROWS \
	[PEERLANE_TYPE_F32] = REDUCE_FLOAT_ROW(f32), \
	[PEERLANE_TYPE_F64] = REDUCE_FLOAT_ROW(f64), \
	[PEERLANE_TYPE_F16] = REDUCE_FLOAT_ROW(f16), \
	[PEERLANE_TYPE_BF16] = REDUCE_FLOAT_ROW(bf16), \
	[REDUCE_ROW_WIDEN_F16] = REDUCE_FLOAT_ROW(f16_widen), \
	[REDUCE_ROW_WIDEN_BF16] = REDUCE_FLOAT_ROW(bf16_widen), \
	[REDUCE_ROW_NARROW_F16] = REDUCE_FLOAT_ROW(f16_narrow), \
	[REDUCE_ROW_NARROW_BF16] = REDUCE_FLOAT_ROW(bf16_narrow)

#define REDUCE_FLOATS \
REDUCE_FLOAT_FOLDS(f32, f32, f32, f32) \
REDUCE_FLOAT_FOLDS(f64, f64, f64, f64) \
REDUCE_FLOAT_FOLDS(f16, f32, f16, f16) \
REDUCE_FLOAT_FOLDS(f16_widen, f32, f16, f32) \
REDUCE_FLOAT_FOLDS(f16_narrow, f32, f32, f16) \
REDUCE_FLOAT_FOLDS(bf16, f32, bf16, bf16) \
REDUCE_FLOAT_FOLDS(bf16_widen, f32, bf16, f32) \
REDUCE_FLOAT_FOLDS(bf16_narrow, f32, f32, bf16)
