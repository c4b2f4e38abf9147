// SPDX-License-Identifier: GPL-2.0
#include "board.h"
#include "tag.h"

#define PAGE 4096UL

void tag_write(void *at, size_t length, uint64_t region, uint64_t offset)
{
	volatile uint64_t *word = at;
	size_t i;

	for (i = 0; i < length / sizeof(*word); i++)
		word[i] = tag_of(region, offset + i * sizeof(*word));
}

long tag_differs(const void *at, size_t length, uint64_t region,
		 uint64_t offset)
{
	const volatile uint64_t *word = at;
	uint64_t found;
	size_t i;

	for (i = 0; i < length / sizeof(*word); i++) {
		found = word[i];
		if (found && found != tag_of(region, offset + i * sizeof(*word)))
			return i * sizeof(*word);
	}
	return -1;
}

bool tag_is_zero(const void *at, size_t length)
{
	const volatile uint64_t *word = at;
	size_t i;

	for (i = 0; i < length / sizeof(*word); i++)
		if (word[i])
			return false;
	return true;
}

void tag_check(const void *at, size_t length, uint64_t region, uint64_t offset,
	       const char *from)
{
	long where = tag_differs(at, length, region, offset);

	if (where < 0)
		return;
	complain(COMPLAINT_FOREIGN,
		 "region %llu has %#llx at %#llx, by %s",
		 (unsigned long long)region,
		 (unsigned long long)*(const uint64_t *)((const char *)at + where),
		 (unsigned long long)offset + where, from);
}
