// SPDX-License-Identifier: GPL-2.0
/* Ranks of a group as an aggregator sees them, as a table and as JSON. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "group.h"
#include "lateness.h"
#include "units.h"

const char *errno_text(int32_t status)
{
	const char *name = status < 0 ? strerrorname_np(-status) : NULL;

	return name ? name : "";
}

void json_errno(struct json_object *object, int32_t status)
{
	const char *name = errno_text(status);

	if (*name)
		json_text(object, "errno", name, SIZE_MAX);
	else
		json_object_object_add(object, "errno", NULL);
}

void json_rank(struct json_object *object, const char *key, uint32_t rank)
{
	json_or_null(object, key, rank == PEERLANE_NOBODY ? -1 : (int64_t)rank,
		     -1);
}

static void cell_ns(struct table *table, uint64_t ns)
{
	char text[UNITS_ROOM];

	units_ns(text, ns);
	table_cell(table, TINT_NONE, "%s", text);
}

static void row(struct table *table, const struct peerlane_rank_status *rank)
{
	table_cell(table, TINT_BOLD, "%u", rank->rank);
	table_cell(table, rank->is_there ? TINT_NONE : TINT_WARN, "%.*s",
		   (int)sizeof(rank->peer), rank->peer);
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)rank->segments);
	table_cell(table, TINT_NONE, "%s", bytes_text(rank->bytes));
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)rank->last);
	cell_ns(table, lateness_percentile(rank, 500000));
	cell_ns(table, lateness_percentile(rank, 990000));
	cell_ns(table, rank->late_max);
}

void ranks_print(const struct peerlane_rank_status *ranks, size_t count)
{
	static const struct column columns[] = {
		{ "RANK", true }, { "PEER", false }, { "SEGMENTS", true },
		{ "BYTES", true }, { "LAST", true }, { "P50", true },
		{ "P99", true }, { "MAX", true },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	char words[LATENESS_WORDS];

	for (size_t i = 0; i < count; i++)
		row(table, &ranks[i]);
	table_print(table);
	table_free(table);
	lateness_words(ranks, count, words);
	puts(words);
}

static struct json_object *rank_json(const struct peerlane_rank_status *rank)
{
	struct json_object *object = must(json_object_new_object());
	struct json_object *late = must(json_object_new_array());

	json_number(object, "rank", rank->rank);
	json_text(object, "peer", rank->peer, sizeof(rank->peer));
	json_object_object_add(object, "is_there",
			       must(json_object_new_boolean(rank->is_there)));
	json_number(object, "segments", rank->segments);
	json_number(object, "bytes", rank->bytes);
	json_number(object, "last", rank->last);
	json_number(object, "late_total_ns", rank->late_total);
	json_number(object, "late_p50_ns", lateness_percentile(rank, 500000));
	json_number(object, "late_p99_ns", lateness_percentile(rank, 990000));
	json_number(object, "late_max_ns", rank->late_max);
	for (size_t i = 0; i < PEERLANE_LATENESS; i++)
		json_object_array_add(late, must(json_object_new_int64(rank->late[i])));
	json_object_object_add(object, "late", late);
	return object;
}

struct json_object *ranks_json(const struct peerlane_rank_status *ranks,
			       size_t count)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, rank_json(&ranks[i]));
	return array;
}

const char *secret_random(void)
{
	static char words[33];
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return NULL;
	for (size_t i = 0; i < sizeof(bytes); i++)
		sprintf(words + 2 * i, "%02x", bytes[i]);
	return words;
}
