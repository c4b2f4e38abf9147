// SPDX-License-Identifier: GPL-2.0
#include <asm/page.h>
#include <linux/errno.h>

#include "link_range.h"
#include "range.h"

static u64 end_of(const struct link_ranges *ranges, u32 index)
{
	return index + 1 < ranges->count ? ranges->list[index + 1].start :
					   ranges->length;
}

int link_ranges_add(struct link_ranges *ranges, u64 addr, u64 length)
{
	struct link_range *last;

	if (!length || ((addr | length) & ~PAGE_MASK) ||
	    peerlane_range_wraps(addr, length) ||
	    peerlane_range_wraps(ranges->length, length))
		return -EINVAL;
	if (ranges->count) {
		last = &ranges->list[ranges->count - 1];
		if (addr == last->addr + (ranges->length - last->start)) {
			ranges->length += length;
			return 0;
		}
	}
	if (ranges->count == ranges->room)
		return -ENOSPC;
	ranges->list[ranges->count++] = (struct link_range) {
		.start	= ranges->length,
		.addr	= addr,
	};
	ranges->length += length;
	return 0;
}

/* The last one that begins at or before @offset, which is within. */
static u32 find(const struct link_ranges *ranges, u64 offset)
{
	u32 low = 0, high = ranges->count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (ranges->list[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int link_cursor_begin(struct link_cursor *cursor,
		      const struct link_ranges *ranges, u64 offset, u64 length)
{
	if (!peerlane_range_within(offset, length, ranges->length))
		return -ERANGE;
	cursor->ranges = ranges;
	cursor->index = find(ranges, offset);
	cursor->offset = offset;
	cursor->left = length;
	return 0;
}

bool link_cursor_next(struct link_cursor *cursor, u32 most,
		      struct link_piece *piece)
{
	const struct link_ranges *ranges = cursor->ranges;
	const struct link_range *range;
	u64 end;

	if (!cursor->left || !most)
		return false;
	range = &ranges->list[cursor->index];
	end = end_of(ranges, cursor->index);
	piece->addr = range->addr + (cursor->offset - range->start);
	piece->length = min_t(u64, min(end - cursor->offset, cursor->left),
			      most);
	cursor->offset += piece->length;
	cursor->left -= piece->length;
	if (cursor->offset == end)
		cursor->index++;
	return true;
}
