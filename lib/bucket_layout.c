// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Buckets: which tensors are summed up together. Pure, but for memory. */
#include <errno.h>
#include <stdlib.h>

#include "bucket.h"

static const char what[] = "buckets";

#define BYTES_DEFAULT	(UINT64_C(25) << 20)

/* ---- options ---------------------------------------------------------------- */

static bool is_power(uint32_t number)
{
	return number && !(number & (number - 1));
}

static int check(const struct peerlane_bucket_options *own)
{
	uint32_t element = peerlane_element_size(own->type);

	if (!element)
		return pl_fail_text(EINVAL, "%s: there is no type %u", what,
				    own->type);
	if (!own->tensors || own->tensors > PEERLANE_BUCKET_TENSORS)
		return pl_fail_text(EINVAL, "%s: %u tensors, 1 to %u can be", what,
				    own->tensors, PEERLANE_BUCKET_TENSORS);
	if (!own->counts)
		return pl_fail_text(EINVAL, "%s: nothing says how many elements the tensors have",
				    what);
	if (!is_power(own->align) || own->align < element)
		return pl_fail_text(EINVAL, "%s: alignment %u is no power of two from %u on",
				    what, own->align, element);
	return 0;
}

int pl_bucket_options(struct peerlane_bucket_options *own,
		      const struct peerlane_bucket_options *options)
{
	int ret = pl_options(own, sizeof(*own), options, options->size,
			     sizeof(*own), what);

	if (ret)
		return ret;
	if (!own->op)
		own->op = PEERLANE_AVG;
	if (!own->align)
		own->align = peerlane_element_size(own->type);
	if (!own->bytes)
		own->bytes = BYTES_DEFAULT;
	if (!own->first_bytes)
		own->first_bytes = own->bytes;
	return check(own);
}

/* ---- placing ----------------------------------------------------------------- */

/* Where the next tensor begins, which is a multiple of the alignment */
static bool place(const struct peerlane_bucket_options *own, uint64_t count,
		  uint64_t end, uint64_t *begin, uint64_t *new_end)
{
	uint64_t bytes, mask = own->align - 1;

	if (__builtin_add_overflow(end, mask, begin))
		return false;
	*begin &= ~mask;
	return !__builtin_mul_overflow(count, peerlane_element_size(own->type),
				       &bytes) &&
	       !__builtin_add_overflow(*begin, bytes, new_end);
}

static bool is_full(const struct peerlane_bucket_options *own,
		    const struct pl_bucket_layout *layout, uint64_t end)
{
	const struct pl_bucket_part *part = &layout->parts[layout->count - 1];

	return end - part->offset >= (layout->count == 1 ? own->first_bytes :
							   own->bytes);
}

static bool place_all(const struct peerlane_bucket_options *own,
		      struct pl_bucket_layout *layout)
{
	uint32_t element = peerlane_element_size(own->type);
	bool is_new = true;
	uint64_t begin;
	uint32_t i;

	for (i = 0; i < own->tensors; i++) {
		struct pl_bucket_part *part;

		if (!place(own, own->counts[i], layout->bytes, &begin,
			   &layout->bytes))
			return false;
		if (is_new)
			layout->parts[layout->count++].offset = begin;
		part = &layout->parts[layout->count - 1];
		part->count = (layout->bytes - part->offset) / element;
		part->tensors++;
		layout->places[i].offset = begin;
		layout->places[i].bucket = layout->count - 1;
		is_new = is_full(own, layout, layout->bytes);
	}
	return true;
}

int pl_bucket_layout(const struct peerlane_bucket_options *own,
		     struct pl_bucket_layout *layout)
{
	int ret = 0;

	memset(layout, 0, sizeof(*layout));
	/* There are no more buckets than tensors. */
	layout->places = calloc(own->tensors, sizeof(*layout->places));
	layout->parts = calloc(own->tensors, sizeof(*layout->parts));
	if (!layout->places || !layout->parts)
		ret = pl_fail(ENOMEM, "%s", what);
	else if (!place_all(own, layout))
		ret = pl_fail_text(EOVERFLOW, "%s: the tensors have more bytes than 64 bits can say",
				   what);
	if (ret)
		pl_bucket_layout_free(layout);
	return ret;
}

void pl_bucket_layout_free(struct pl_bucket_layout *layout)
{
	free(layout->places);
	free(layout->parts);
	memset(layout, 0, sizeof(*layout));
}

int peerlane_bucket_layout(const struct peerlane_bucket_options *options,
			   struct peerlane_bucket_place *places, uint64_t *bytes,
			   uint32_t *buckets)
{
	struct peerlane_bucket_options own;
	struct pl_bucket_layout layout;
	int ret;

	pl_clear();
	ret = pl_bucket_options(&own, options);
	if (!ret)
		ret = pl_bucket_layout(&own, &layout);
	if (ret)
		return ret;
	if (places)
		memcpy(places, layout.places, own.tensors * sizeof(*places));
	*bytes = layout.bytes;
	*buckets = layout.count;
	pl_bucket_layout_free(&layout);
	return 0;
}
