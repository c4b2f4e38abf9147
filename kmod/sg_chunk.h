/* SPDX-License-Identifier: GPL-2.0 */
/* How one contiguous range is cut for the entries of an sg_table. */
#ifndef PEERLANE_SG_CHUNK_H
#define PEERLANE_SG_CHUNK_H

#include <asm/page.h>
#include <linux/kernel.h>
#include <linux/sizes.h>

/* An entry's length is 32 bits, and the importer's engine may want less. */
static inline u32 peerlane_sg_chunk_size(unsigned int importer_max)
{
	return clamp_t(unsigned long, importer_max & PAGE_MASK, PAGE_SIZE,
		       SZ_1G);
}

/* How many; 0: more than a table can have, or @length is 0. */
static inline unsigned int peerlane_sg_chunks(u64 length, u32 size)
{
	u64 chunks = length / size + !!(length % size);

	return chunks > UINT_MAX ? 0 : chunks;
}

/* Length of the chunk that begins at @index * @size. */
static inline u32 peerlane_sg_chunk_length(u64 length, u32 size,
					   unsigned int index)
{
	return min_t(u64, length - (u64)index * size, size);
}

#endif /* PEERLANE_SG_CHUNK_H */
