// SPDX-License-Identifier: GPL-2.0
/* peerlane flow label, reset, pair: what changes flows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* { "key": number } */
static void print_count(const char *key, uint64_t count)
{
	struct json_object *array;
	struct json_object *object;

	if (!options.json) {
		printf("%ju\n", (uintmax_t)count);
		return;
	}
	array = must(json_object_new_array());
	object = must(json_object_new_object());
	json_number(object, key, count);
	json_object_array_add(array, object);
	json_print(stdout, array, options.pretty);
}

/* ---- labels ------------------------------------------------------------- */

/* What only this host knows of flows cannot be asked of the kernel. */
static int label_one_by_one(const struct flow_query *query, const char *label,
			    uint32_t *count, bool *incomplete)
{
	struct flow_set set;
	int error = flow_set_read(query, NULL, &set);

	if (error)
		return error;
	*incomplete = set.incomplete;
	for (size_t i = 0; i < set.count; i++) {
		error = peerlane_flow_label(&set.infos[i].key, label);
		if (error == -ESRCH)	/* forgotten since it was listed */
			continue;
		if (error)
			break;
		++*count;
	}
	if (error == -ESRCH)
		error = 0;
	flow_set_free(&set);
	return error;
}

static int parse_label_words(int *argc, char ***argv, const char **label)
{
	static const char *const verbs[] = { "set", "clear" };
	int verb;

	if (!*argc)
		return usage_error("flow label needs \"set LABEL\" or \"clear\"");
	verb = match_table("word", **argv, verbs, ARRAY_SIZE(verbs),
			   sizeof(verbs[0]));
	if (verb < 0)
		return STATUS_ERROR;
	++*argv;
	--*argc;
	*label = "";
	if (verb)
		return STATUS_OK;
	if (!*argc || !***argv || strlen(**argv) >= PEERLANE_FLOW_LABEL)
		return usage_error("flow label set needs a label of 1 to %d bytes",
				   PEERLANE_FLOW_LABEL - 1);
	*label = **argv;
	++*argv;
	--*argc;
	return STATUS_OK;
}

int flow_label(int argc, char **argv)
{
	struct flow_query query;
	const char *label = NULL;
	uint32_t count = 0;
	bool incomplete = false;
	int status = parse_label_words(&argc, &argv, &label);
	int error;

	if (!status)
		status = flow_query_parse(argc, argv,
					  WORDS_FILTER | WORDS_LOCAL | WORDS_ALL,
					  &query);
	if (status)
		return status;
	if (!flow_query_selects(&query))
		return usage_error("which flows? Give a filter, or the word \"all\"");
	if (query.pid || query.rdma)
		error = label_one_by_one(&query, label, &count, &incomplete);
	else
		error = peerlane_flow_label_all(&query.filter, label, &count);
	if (error)
		return library_error(error);
	print_count("labelled", count);
	if (!incomplete)
		return STATUS_OK;
	note("some flows may have been left out: the table changed its shape each time it was read");
	return STATUS_INCOMPLETE;
}

/* ---- reset -------------------------------------------------------------- */

static int keep(const struct peerlane_flow_info *info,
		const uint32_t *histogram, void *arg)
{
	struct flow_set *set = arg;

	(void)histogram;
	if (!(set->count & (set->count - 1)))	/* a power of two: full */
		set->infos = must(reallocarray(set->infos,
					       set->count ? 2 * set->count : 1,
					       sizeof(*set->infos)));
	set->infos[set->count++] = *info;
	return 0;
}

/* The order in which they came is as good as any. */
static void complete_set(struct flow_set *set)
{
	set->qps = must(calloc(set->count + 1, sizeof(*set->qps)));
	set->order = must(calloc(set->count + 1, sizeof(*set->order)));
	for (size_t i = 0; i < set->count; i++)
		set->order[i] = i;
	set->shown = set->count;
	if (set->count)
		peerlane_flow_join(set->infos, set->count, set->qps);
}

int flow_reset(int argc, char **argv)
{
	struct flow_query query;
	struct flow_set set = { 0 };
	int status = flow_query_parse(argc, argv, WORDS_FILTER | WORDS_ALL,
				      &query);
	int error;

	if (status)
		return status;
	error = peerlane_flow_reset(&query.filter, 0, keep, &set);
	if (error && error != -EINTR)
		status = library_error(error);
	complete_set(&set);
	if (options.json && (!status || set.count))
		flow_print_json(&set, NULL, false);
	else if (!options.json)
		flow_print_table(&set, NULL, false);
	flow_set_free(&set);
	if (error == -EINTR) {
		note("some flows may not have been set to zero: the table changed its shape meanwhile");
		status = STATUS_INCOMPLETE;
	}
	return status;
}

/* ---- pairs -------------------------------------------------------------- */

int flow_pair(int argc, char **argv)
{
	size_t count = 0;
	int error;

	if (argc)
		return usage_error("flow pair takes no argument, got \"%s\"",
				   argv[0]);
	error = peerlane_flow_pair_local(&count);
	if (error)
		return library_error(error);
	print_count("paired", count);
	return STATUS_OK;
}
