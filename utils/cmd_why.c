// SPDX-License-Identifier: GPL-2.0
/* peerlane why: what made the operations of a group slow? */
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "units.h"
#include "why.h"

#define INTERVAL_MAX	3600.0

struct question {
	uint64_t group;
	double interval;
	bool all;
};

/* ---- output ------------------------------------------------------------- */

static void print_json(const struct findings *findings)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];
		struct json_object *object = finding_json(finding);

		json_rank(object, "rank", finding->rank);
		json_number(object, "weight", finding->weight);
		json_object_array_add(array, object);
	}
	json_print(stdout, array, options.pretty);
}

/* What was looked at: a verdict without it is worth nothing. */
static void print_basis(const struct why_facts *facts)
{
	uint64_t ops = 0, segments = 0;
	size_t ranks = 0;

	for (size_t i = 0; i < facts->local_count; i++)
		if (facts->locals[i].ops > ops)
			ops = facts->locals[i].ops;
	for (size_t i = 0; i < facts->seen_count; i++) {
		ranks += facts->seen[i].count;
		for (size_t k = 0; k < facts->seen[i].count; k++)
			segments += facts->seen[i].ranks[k].grown.segments;
	}
	printf("group %ju: %zu ranks here, %ju operations; %zu aggregators here, %ju segments of %zu ranks; ",
	       (uintmax_t)facts->group, facts->local_count, (uintmax_t)ops,
	       facts->seen_count, (uintmax_t)segments, ranks);
	if (facts->seconds > 0)
		printf("in %.1f s\n", facts->seconds);
	else
		puts("since they began");
}

static bool is_wrong(const struct findings *findings)
{
	return findings_of(findings, SEVERITY_PROBLEM) ||
	       findings_of(findings, SEVERITY_WARNING);
}

static void print_text(const struct why_facts *facts,
		       const struct findings *findings, bool all)
{
	findings_print(findings, all);
	if (!is_wrong(findings))
		puts(facts->seen_count ?
		     "no rank makes the others wait more than is usual" :
		     "nothing is wrong as far as this node can tell");
	print_basis(facts);
}

/* ---- arguments ---------------------------------------------------------- */

static int parse_interval(const char *text, struct question *question)
{
	char *end;
	double seconds = strtod(text, &end);

	if (!*text || *end || !(seconds >= 0 && seconds <= INTERVAL_MAX))
		return usage_error("an interval is a number of seconds from 0 to %.0f, not \"%s\"",
				   INTERVAL_MAX, text);
	question->interval = seconds;
	return STATUS_OK;
}

static int parse_word(const char *word, const char *value, int *taken,
		      struct question *question)
{
	static const char *const words[] = { "interval", "all" };
	int found = match_table("argument", word, words, ARRAY_SIZE(words),
				sizeof(words[0]));

	if (found < 0)
		return STATUS_ERROR;
	if (found) {
		question->all = true;
		return STATUS_OK;
	}
	if (!value)
		return usage_error("interval needs a value");
	(*taken)++;
	return parse_interval(value, question);
}

static int parse(int argc, char **argv, struct question *question)
{
	int status = STATUS_OK;

	if (!argc)
		return usage_error("why needs the number of a group, see \"peerlane group list\"");
	if (*argv[0] < '0' || *argv[0] > '9' ||
	    peerlane_group_number(argv[0], &question->group))
		return usage_error("\"%s\" is no number of a group", argv[0]);
	for (int i = 1; i < argc && !status; i++)
		status = parse_word(argv[i], i + 1 < argc ? argv[i + 1] : NULL,
				    &i, question);
	return status;
}

/* ---- the command -------------------------------------------------------- */

static int answer(const struct question *question, const struct why_facts *facts)
{
	struct findings findings = { 0 };
	int status;

	why_judge(facts, &findings);
	if (options.json)
		print_json(&findings);
	else
		print_text(facts, &findings, question->all);
	status = is_wrong(&findings) ? STATUS_FINDING : STATUS_OK;
	findings_free(&findings);
	return status;
}

static int why(int argc, char **argv)
{
	struct question question = { .interval = 2 };
	struct why_facts facts;
	int status = parse(argc, argv, &question);
	int error;

	if (status)
		return status;
	error = why_read(question.group, question.interval, &facts);
	if (error)
		status = library_error(error);
	else if (!facts.local_count && !facts.seen_count)
		status = usage_error("no rank and no aggregator of group %ju is on this node, or none that may be looked at",
				     (uintmax_t)question.group);
	else
		status = answer(&question, &facts);
	why_free(&facts);
	return status;
}

const struct command why_command = {
	"why", why, "GROUP [interval SECONDS] [all]",
	"why are the operations of a group slow?"
};
