/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loop of every fold, once for each type of accumulators: it is included
 * more than once. A value is a vector or, in plain code, one number.
 *
 *	FOLD_VALUE	type of a value
 *	FOLD_ELEMENT	type of an element of it
 *	FOLD_NAME(x)	a name that begins with the type's
 *
 *	REDUCE_PUT()	stores a value; past the cache, if it is told so
 *	REDUCE_AHEAD	bytes of sources that are asked for early, or 0
 *
 * load() and store() know how elements are stored, op() what is done to them,
 * end() what is done to the result. They are constants: nothing is called.
 */

#define FOLD_WAY	FOLD_NAME(way)
#define FOLD_LANES	(sizeof(FOLD_VALUE) / sizeof(FOLD_ELEMENT))

struct FOLD_WAY {
	/* Bytes of an element of sources, and of results */
	size_t in;
	size_t out;
	FOLD_VALUE (*load)(const void *at);
	FOLD_VALUE (*op)(FOLD_VALUE a, FOLD_VALUE b);
	FOLD_VALUE (*end)(FOLD_VALUE a, u32 ranks);
	void (*store)(void *at, FOLD_VALUE a, bool is_past);
};

static __always_inline FOLD_VALUE FOLD_NAME(load)(const void *at)
{
	FOLD_VALUE a;

	__builtin_memcpy(&a, at, sizeof(a));
	return a;
}

static __always_inline void FOLD_NAME(store)(void *at, FOLD_VALUE a,
						bool is_past)
{
	REDUCE_PUT(at, a, is_past);
}

static __always_inline FOLD_VALUE FOLD_NAME(keep)(FOLD_VALUE a, u32 ranks)
{
	return a;
}

/*
 * @values values of each source, from result @at of the span on. There are many
 * sources, each read for a moment: more of them than a processor foresees.
 */
static __always_inline void
FOLD_NAME(chunk)(const struct reduce_span *span, size_t at, bool is_past,
		 const struct FOLD_WAY *way, const unsigned int values)
{
	const size_t skip = (span->begin + at) * way->in;
	const size_t step = FOLD_LANES * way->in;
	FOLD_VALUE sum[REDUCE_UNROLL];
	const char *from;
	char *to = (char *)span->to + at * way->out;
	unsigned int j;
	u32 i = 0;

	if (span->first) {
		from = (const char *)span->first + at * sizeof(FOLD_ELEMENT);
#pragma GCC unroll 8
		for (j = 0; j < values; j++)
			sum[j] = FOLD_NAME(load)(from + j * sizeof(FOLD_VALUE));
	} else {
		from = (const char *)span->from[i++] + skip;
#pragma GCC unroll 8
		for (j = 0; j < values; j++)
			sum[j] = way->load(from + j * step);
	}
	for (; i < span->count; i++) {
		from = (const char *)span->from[i] + skip;
#pragma GCC unroll 8
		for (j = 0; REDUCE_AHEAD && j < values * step; j += 64)
			__builtin_prefetch(from + j + REDUCE_AHEAD);
#pragma GCC unroll 8
		for (j = 0; j < values; j++)
			sum[j] = way->op(sum[j], way->load(from + j * step));
	}
#pragma GCC unroll 8
	for (j = 0; j < values; j++)
		way->store(to + j * FOLD_LANES * way->out,
			   way->end(sum[j], span->ranks), is_past);
}

static __always_inline size_t FOLD_NAME(fold)(const struct reduce_span *span,
					      const struct FOLD_WAY way)
{
	const size_t many = REDUCE_UNROLL * FOLD_LANES;
	/* Only what is aligned can be. */
	const bool is_past = span->past_cache && !((unsigned long)span->to % 64);
	size_t at = 0;

	for (; span->length - at >= many; at += many)
		FOLD_NAME(chunk)(span, at, is_past, &way, REDUCE_UNROLL);
	for (; span->length - at >= FOLD_LANES; at += FOLD_LANES)
		FOLD_NAME(chunk)(span, at, is_past, &way, 1);
	return at;
}

#undef FOLD_VALUE
#undef FOLD_ELEMENT
#undef FOLD_NAME
#undef FOLD_LANES
#undef FOLD_WAY
