/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * peerlane: types of values and operations on them that a reduction knows. The
 * numbers are the same in calls and on the wire; 0 is none of them.
 *
 * What each operation does to the last bit is in Documentation/reduction.md.
 */
#ifndef _UAPI_PEERLANE_REDUCE_H
#define _UAPI_PEERLANE_REDUCE_H

/*
 * Of a value, in the byte order of the machine. F32, F64, F16 are IEEE's binary32,
 * binary64, binary16; BF16 is the upper half of a binary32.
 */
enum peerlane_type {
	PEERLANE_TYPE_F32 = 1,
	PEERLANE_TYPE_F64 = 2,
	PEERLANE_TYPE_F16 = 3,
	PEERLANE_TYPE_BF16 = 4,
	PEERLANE_TYPE_I8 = 5,
	PEERLANE_TYPE_I16 = 6,
	PEERLANE_TYPE_I32 = 7,
	PEERLANE_TYPE_I64 = 8,
	PEERLANE_TYPE_U8 = 9,
	PEERLANE_TYPE_U16 = 10,
	PEERLANE_TYPE_U32 = 11,
	PEERLANE_TYPE_U64 = 12,
};

/*
 * What is done to the values of all ranks. AVG is the sum, divided once by the
 * number of ranks; BAND, BOR and BXOR are of integers only.
 */
enum peerlane_reduce_op {
	PEERLANE_REDUCE_SUM = 1,
	PEERLANE_REDUCE_AVG = 2,
	PEERLANE_REDUCE_MIN = 3,
	PEERLANE_REDUCE_MAX = 4,
	PEERLANE_REDUCE_PROD = 5,
	PEERLANE_REDUCE_BAND = 6,
	PEERLANE_REDUCE_BOR = 7,
	PEERLANE_REDUCE_BXOR = 8,
};

#endif /* _UAPI_PEERLANE_REDUCE_H */
