// SPDX-License-Identifier: GPL-2.0
/* Numbers with three digits and a unit, for people. */
#include <stdio.h>

#include "units.h"

/* @whole and @rest/1000 in three digits. */
static void three_digits(char to[UNITS_ROOM], uint64_t whole, unsigned int rest,
			 const char *prefix, const char *unit)
{
	if (whole >= 100 || (!rest && !*prefix))
		snprintf(to, UNITS_ROOM, "%ju%s%s", (uintmax_t)whole, prefix,
			 unit);
	else if (whole >= 10)
		snprintf(to, UNITS_ROOM, "%ju.%u%s%s", (uintmax_t)whole,
			 rest / 100, prefix, unit);
	else
		snprintf(to, UNITS_ROOM, "%ju.%02u%s%s", (uintmax_t)whole,
			 rest / 10, prefix, unit);
}

static void scale(char to[UNITS_ROOM], unsigned __int128 value,
		  const char *unit)
{
	static const char *const prefixes[] = {
		"", "k", "M", "G", "T", "P", "E", "Z"
	};
	unsigned __int128 divisor = 1;
	unsigned int i = 0;

	while (i + 1 < sizeof(prefixes) / sizeof(prefixes[0]) &&
	       value / divisor >= 1000) {
		divisor *= 1000;
		i++;
	}
	three_digits(to, (uint64_t)(value / divisor),
		     (unsigned int)(value % divisor * 1000 / divisor),
		     prefixes[i], unit);
}

void units_si(char to[UNITS_ROOM], uint64_t value, const char *unit)
{
	scale(to, value, unit);
}

void units_bits(char to[UNITS_ROOM], uint64_t bytes_per_second)
{
	scale(to, (unsigned __int128)bytes_per_second * 8, "b/s");
}

void units_ns(char to[UNITS_ROOM], uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	uint64_t divisor = 1;
	unsigned int i = 0;

	while (i < 3 && ns / divisor >= 1000) {
		divisor *= 1000;
		i++;
	}
	three_digits(to, ns / divisor,
		     (unsigned int)(ns % divisor * 1000 / divisor),
		     "", units[i]);
}

void units_percent(char to[UNITS_ROOM], uint64_t hundredths)
{
	if (!hundredths)
		snprintf(to, UNITS_ROOM, "0");
	else
		snprintf(to, UNITS_ROOM, "%ju.%02u%%",
			 (uintmax_t)(hundredths / 100),
			 (unsigned int)(hundredths % 100));
}

void units_age(char to[UNITS_ROOM], uint64_t ms)
{
	uint64_t seconds = ms / 1000;

	if (seconds < 60)
		snprintf(to, UNITS_ROOM, "%ju%c", (uintmax_t)seconds, 's');
	else if (seconds < 3600)
		snprintf(to, UNITS_ROOM, "%jum", (uintmax_t)(seconds / 60));
	else if (seconds < 86400)
		snprintf(to, UNITS_ROOM, "%juh%02jum",
			 (uintmax_t)(seconds / 3600),
			 (uintmax_t)(seconds / 60 % 60));
	else
		snprintf(to, UNITS_ROOM, "%jud%juh",
			 (uintmax_t)(seconds / 86400),
			 (uintmax_t)(seconds / 3600 % 24));
}
