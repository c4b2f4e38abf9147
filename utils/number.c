// SPDX-License-Identifier: GPL-2.0
/* Numbers and sizes on a command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

static bool parse(const char *text, const char **end, uint64_t *value)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &stop, 10);
	*end = stop;
	return !errno;
}

bool number_parse(const char *text, uint64_t low, uint64_t high,
		  uint64_t *value)
{
	const char *end;

	return parse(text, &end, value) && !*end && *value >= low &&
	       *value <= high;
}

bool number_parse_size(const char *text, uint64_t most, uint64_t *size)
{
	static const char units[] = "kmgt";
	const char *end, *unit;
	unsigned int shift = 0;
	uint64_t value;

	if (!parse(text, &end, &value))
		return false;
	if (*end) {
		unit = strchr(units, *end | 0x20);
		if (!unit || !*unit || end[1])
			return false;
		shift = 10 * (unsigned int)(unit - units + 1);
	}
	if (!value || value > most >> shift)
		return false;
	*size = value << shift;
	return true;
}
