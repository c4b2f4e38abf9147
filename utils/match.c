// SPDX-License-Identifier: GPL-2.0
/* Words that may be shortened, as iproute2 has them. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

bool match_prefix(const char *word, const char *name)
{
	return *word && !strncmp(word, name, strlen(word));
}

static const char *name_at(const void *table, size_t index, size_t stride)
{
	const char *const *element =
		(const void *)((const char *)table + index * stride);

	return *element;
}

static void report(const char *noun, const char *word, bool ambiguous,
		   const void *table, size_t count, size_t stride)
{
	char *names = format_text("%s", "");

	for (size_t i = 0; i < count; i++) {
		const char *name = name_at(table, i, stride);
		char *longer;

		if (ambiguous && !match_prefix(word, name))
			continue;
		longer = format_text("%s%s%s", names, *names ? ", " : "", name);
		free(names);
		names = longer;
	}
	if (ambiguous)
		usage_error("%s \"%s\" is ambiguous: %s", noun, word, names);
	else
		usage_error("%s \"%s\" is unknown, it is one of: %s", noun,
			    word, names);
	free(names);
}

int match_table(const char *noun, const char *word, const void *table,
		size_t count, size_t stride)
{
	int found = MATCH_NONE;

	for (size_t i = 0; i < count; i++) {
		const char *name = name_at(table, i, stride);

		if (!strcmp(word, name))
			return (int)i;
		if (match_prefix(word, name))
			found = found == MATCH_NONE ? (int)i : MATCH_AMBIGUOUS;
	}
	if (found < 0)
		report(noun, word, found == MATCH_AMBIGUOUS, table, count,
		       stride);
	return found;
}
