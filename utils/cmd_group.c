// SPDX-License-Identifier: GPL-2.0
/* peerlane group: ranks of groups on this node, and who was late. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "group_top.h"
#include "lateness.h"
#include "number.h"

static const char *const states[] = {
	"new", "joining", "joined", "ending", "ended",
};

struct filter {
	const char *state;
	int32_t pid;		/* 0 any */
	uint64_t group;		/* 0 any */
};

/* ---- which ---------------------------------------------------------------------- */

static int parse_state(const char *value, struct filter *filter)
{
	int found = match_table("state", value, states, ARRAY_SIZE(states),
				sizeof(states[0]));

	if (found < 0)
		return STATUS_ERROR;
	filter->state = states[found];
	return STATUS_OK;
}

static int parse_pid(const char *value, struct filter *filter)
{
	uint64_t pid;

	if (!number_parse(value, 1, INT32_MAX, &pid))
		return usage_error("\"%s\" is no process id", value);
	filter->pid = (int32_t)pid;
	return STATUS_OK;
}

static int parse_one(const char *key, const char *value, struct filter *filter)
{
	static const char *const keys[] = { "pid", "state" };
	int found = match_table("filter", key, keys, ARRAY_SIZE(keys),
				sizeof(keys[0]));

	if (found < 0)
		return STATUS_ERROR;
	if (found ? !!filter->state : !!filter->pid)
		return usage_error("filter \"%s\" is given twice", keys[found]);
	if (!value)
		return usage_error("filter \"%s\" needs a value", keys[found]);
	return (found ? parse_state : parse_pid)(value, filter);
}

static int parse_filter(int argc, char **argv, struct filter *filter)
{
	for (int i = 0; i < argc; i += 2) {
		int status = parse_one(argv[i], i + 1 < argc ? argv[i + 1] : NULL,
				       filter);

		if (status)
			return status;
	}
	return STATUS_OK;
}

static bool wanted(const struct peerlane_group_status *rank, const struct filter *filter)
{
	if (filter->group && rank->group != filter->group)
		return false;
	if (filter->pid && rank->pid != filter->pid)
		return false;
	return !filter->state ||
	       !strcmp(peerlane_group_state_name(rank->state), filter->state);
}

/* ---- ranks of this node --------------------------------------------------------- */

static struct json_object *placement_json(const struct peerlane_group_status *rank)
{
	struct json_object *object = must(json_object_new_object());

	json_text(object, "asked", peerlane_place_name(rank->placement), SIZE_MAX);
	json_text(object, "reason", rank->reason, sizeof(rank->reason));
	json_number(object, "ops_replicated", rank->ops_replicated);
	json_number(object, "replicated_below", rank->replicated_below);
	json_number(object, "rounds", rank->rounds);
	json_number(object, "colocated", rank->colocated);
	json_number(object, "alpha_ns", rank->alpha);
	json_number(object, "own_ns", rank->own);
	json_number(object, "beta_ps", rank->beta);
	json_number(object, "gamma_ps", rank->gamma);
	json_number(object, "shared_permille", rank->shared_permille);
	json_number(object, "replicated_permille", rank->replicated_permille);
	return object;
}

struct lanes {
	struct peerlane_lane_status *list;
	size_t count;
};

static struct json_object *to_json(const struct peerlane_group_status *rank)
{
	struct json_object *object = must(json_object_new_object());

	json_number(object, "id", rank->id);
	json_number(object, "group", rank->group);
	json_number(object, "rank", rank->rank);
	json_number(object, "ranks", rank->ranks);
	json_text(object, "state", peerlane_group_state_name(rank->state),
		  SIZE_MAX);
	json_number(object, "aggregators", rank->aggregators);
	json_number(object, "segment", rank->segment);
	json_number(object, "window", rank->window);
	json_number(object, "block", rank->block);
	json_number(object, "lanes", rank->lanes);
	json_object_object_add(object, "placement", placement_json(rank));
	json_number(object, "lanes_left", rank->lanes_left);
	json_number(object, "depth", rank->depth);
	json_number(object, "outstanding", rank->outstanding);
	json_number(object, "slots", rank->slots);
	json_number(object, "ops_done", rank->ops_done);
	json_number(object, "ops_failed", rank->ops_failed);
	json_number(object, "segments", rank->segments);
	json_number(object, "bytes_sent", rank->bytes_sent);
	json_number(object, "bytes_received", rank->bytes_received);
	json_number(object, "uid", rank->uid);
	json_or_null(object, "pid", rank->pid, 0);
	json_text(object, "comm", rank->comm, sizeof(rank->comm));
	json_text(object, "label", rank->label, sizeof(rank->label));
	json_errno(object, rank->status);
	json_text(object, "cause", peerlane_ending_name(rank->fault_cause),
		  SIZE_MAX);
	json_rank(object, "fault_rank", rank->fault_cause ? rank->fault_rank :
							    PEERLANE_NOBODY);
	json_text(object, "reason", rank->text, sizeof(rank->text));
	return object;
}

static enum tint state_tint(const struct peerlane_group_status *rank)
{
	const char *state = peerlane_group_state_name(rank->state);

	if (!strcmp(state, "joined"))
		return TINT_GOOD;
	if (strncmp(state, "end", 3))
		return TINT_NONE;
	return rank->status ? TINT_BAD : TINT_WARN;
}

static void table_row(struct table *table, const struct peerlane_group_status *rank)
{
	table_cell(table, TINT_BOLD, "%ju", (uintmax_t)rank->id);
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)rank->group);
	table_cell(table, TINT_NONE, "%u/%u", rank->rank, rank->ranks);
	table_cell(table, state_tint(rank), "%s",
		   peerlane_group_state_name(rank->state));
	table_cell(table, TINT_NONE, "%u", rank->outstanding);
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)rank->ops_done);
	table_cell(table, rank->ops_failed ? TINT_BAD : TINT_NONE, "%ju",
		   (uintmax_t)rank->ops_failed);
	table_cell(table, TINT_NONE, "%s", bytes_text(rank->bytes_sent));
	table_cell(table, TINT_NONE, "%s", bytes_text(rank->bytes_received));
	if (rank->pid)
		table_cell(table, TINT_NONE, "%d", rank->pid);
	else
		table_cell(table, TINT_NONE, "%s", "");
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(rank->comm),
		   rank->comm);
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(rank->label),
		   rank->label);
}

static void print_table(const struct peerlane_group_status *list, size_t count)
{
	static const struct column columns[] = {
		{ "ID", true }, { "GROUP", true }, { "RANK", true },
		{ "STATE", false }, { "BUSY", true }, { "DONE", true },
		{ "FAILED", true }, { "SENT", true }, { "RECEIVED", true },
		{ "PID", true }, { "COMM", false }, { "LABEL", false },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < count; i++)
		table_row(table, &list[i]);
	if (count)
		table_print(table);
	table_free(table);
}

static void show_placement(const struct peerlane_group_status *rank)
{
	property("placement", TINT_NONE, "%s: %.*s",
		 peerlane_place_name(rank->placement), (int)sizeof(rank->reason),
		 rank->reason);
	if (!rank->rounds)
		return;
	property("measured", TINT_NONE,
		 "alpha %u ns (own aggregator %u), beta %u ps/byte, gamma %u ps/byte, %u times",
		 rank->alpha, rank->own, rank->beta, rank->gamma, rank->rounds);
	property("taken", TINT_NONE,
		 "to predicted: shared %u.%03u, replicated %u.%03u; %ju operations replicated",
		 rank->shared_permille / 1000, rank->shared_permille % 1000,
		 rank->replicated_permille / 1000,
		 rank->replicated_permille % 1000,
		 (uintmax_t)rank->ops_replicated);
}

static void show_one(const struct peerlane_group_status *rank)
{
	const char *name = errno_text(rank->status);

	property("rank", TINT_BOLD, "%u of %u of group %ju", rank->rank,
		 rank->ranks, (uintmax_t)rank->group);
	property("state", state_tint(rank), "%s",
		 peerlane_group_state_name(rank->state));
	if (rank->status || *rank->text)
		property("reason", rank->status ? TINT_BAD : TINT_NONE,
			 "%.*s%s%s%s", (int)sizeof(rank->text), rank->text,
			 *name ? " (" : "", name, *name ? ")" : "");
	property("aggregators", TINT_NONE, "%u, each with %u lanes",
		 rank->aggregators, rank->lanes);
	show_placement(rank);
	if (rank->lanes_left)
		property("lanes", TINT_WARN, "%u failed, the others do their work",
			 rank->lanes_left);
	property("segments", TINT_NONE, "%u bytes, %u on their way, %ju sent",
		 rank->segment, rank->window, (uintmax_t)rank->segments);
	property("summation", TINT_NONE, "blocks of %u ranks", rank->block);
	property("operations", TINT_NONE,
		 "%u of %u outstanding, %ju done, %ju failed",
		 rank->outstanding, rank->depth, (uintmax_t)rank->ops_done,
		 (uintmax_t)rank->ops_failed);
	property("bytes", TINT_NONE, "%s sent, %s received",
		 bytes_text(rank->bytes_sent), bytes_text(rank->bytes_received));
	property("memory", TINT_NONE, "%u slots", rank->slots);
	property("process", TINT_NONE, "%d %.*s, uid %u", rank->pid,
		 (int)sizeof(rank->comm), rank->comm, rank->uid);
	property("label", TINT_NONE, "%.*s", (int)sizeof(rank->label),
		 rank->label);
}

/* ---- lanes ------------------------------------------------------------------------- */

static struct json_object *lane_json(const struct peerlane_lane_status *lane)
{
	struct json_object *object = must(json_object_new_object());

	json_number(object, "aggregator", lane->aggregator);
	json_number(object, "lane", lane->lane);
	json_text(object, "state", peerlane_lane_state_name(lane->state),
		  SIZE_MAX);
	json_number(object, "qpn", lane->qpn);
	json_number(object, "messages", lane->messages);
	json_number(object, "bytes", lane->bytes);
	json_number(object, "replayed", lane->replayed);
	json_number(object, "delay_ns", lane->delay_ns);
	json_text(object, "cause", peerlane_lane_cause_name(lane->cause),
		  SIZE_MAX);
	json_number(object, "left_ns", lane->left_ns);
	json_number(object, "peer_qpn", lane->peer_qpn);
	return object;
}

static struct json_object *lanes_json(const struct lanes *lanes, uint64_t id)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < lanes->count; i++)
		if (lanes->list[i].id == id)
			json_object_array_add(array, lane_json(&lanes->list[i]));
	return array;
}

static void lane_row(struct table *table, const struct peerlane_lane_status *lane)
{
	const char *state = peerlane_lane_state_name(lane->state);

	table_cell(table, TINT_NONE, "%u", lane->aggregator);
	table_cell(table, TINT_NONE, "%u", lane->lane);
	table_cell(table, strcmp(state, "live") ? TINT_WARN : TINT_GOOD,
		   "%s%s%s", state, lane->cause ? ": " : "",
		   lane->cause ? peerlane_lane_cause_name(lane->cause) : "");
	table_cell(table, TINT_NONE, "%u", lane->qpn);
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)lane->messages);
	table_cell(table, TINT_NONE, "%s", bytes_text(lane->bytes));
	table_cell(table, TINT_NONE, "%ju", (uintmax_t)lane->replayed);
	table_cell(table, TINT_NONE, "%ju us", (uintmax_t)lane->delay_ns / 1000);
}

/* One alone tells nothing. */
static void lanes_print(const struct lanes *lanes, uint64_t id)
{
	static const struct column columns[] = {
		{ "AGGREGATOR", true }, { "LANE", true }, { "STATE", false },
		{ "QPN", true }, { "MESSAGES", true }, { "BYTES", true },
		{ "REPLAYED", true }, { "DELAY", true },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	size_t count = 0;

	for (size_t i = 0; i < lanes->count; i++) {
		if (lanes->list[i].id != id)
			continue;
		lane_row(table, &lanes->list[i]);
		count += lanes->list[i].lane > 0;
	}
	if (count)
		table_print(table);
	table_free(table);
}

/* ---- aggregators of this node ----------------------------------------------------- */

static struct json_object *seen_json(const struct group_seen *seen)
{
	struct json_object *object = must(json_object_new_object());
	char words[LATENESS_WORDS];

	lateness_words(seen->ranks, seen->count, words);
	json_number(object, "aggregator", seen->aggregator.id);
	json_text(object, "address", seen->aggregator.address,
		  sizeof(seen->aggregator.address));
	json_object_object_add(object, "lateness",
			       ranks_json(seen->ranks, seen->count));
	json_text(object, "late", words, SIZE_MAX);
	return object;
}

struct shown {
	struct peerlane_group_status *list;
	size_t count;
	struct lanes lanes;
	struct group_sight sight;
};

static void shown_free(struct shown *shown)
{
	group_sight_free(&shown->sight);
	free(shown->lanes.list);
	free(shown->list);
}

/* ---- commands ------------------------------------------------------------------------ */

static int read_list(const struct filter *filter, struct shown *shown)
{
	int error = peerlane_group_list(&shown->list, &shown->count);
	size_t kept = 0;

	if (error)
		return error;
	for (size_t i = 0; i < shown->count; i++)
		if (wanted(&shown->list[i], filter))
			shown->list[kept++] = shown->list[i];
	shown->count = kept;
	return 0;
}

static struct json_object *rank_json(const struct shown *shown, size_t i)
{
	struct json_object *object = to_json(&shown->list[i]);

	if (shown->lanes.list)
		json_object_object_add(object, "paths",
				       lanes_json(&shown->lanes,
						  shown->list[i].id));
	return object;
}

static void print_json(const struct shown *shown)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < shown->count; i++)
		json_object_array_add(array, rank_json(shown, i));
	for (size_t i = 0; i < shown->sight.count; i++)
		json_object_array_add(array, seen_json(&shown->sight.list[i]));
	json_print(stdout, array, options.pretty);
}

static void print_all(const struct shown *shown)
{
	bool first = true;

	for (size_t i = 0; i < shown->count; i++, first = false) {
		if (!first)
			putchar('\n');
		show_one(&shown->list[i]);
		lanes_print(&shown->lanes, shown->list[i].id);
	}
	for (size_t i = 0; i < shown->sight.count; i++, first = false) {
		printf("%sseen by aggregator %ju at %s\n", first ? "" : "\n",
		       (uintmax_t)shown->sight.list[i].aggregator.id,
		       shown->sight.list[i].aggregator.address);
		ranks_print(shown->sight.list[i].ranks, shown->sight.list[i].count);
	}
}

static int nothing(const struct filter *filter)
{
	if (filter->group)
		return usage_error("no rank and no aggregator of group %ju is on this node, or none that may be looked at",
				   (uintmax_t)filter->group);
	if (!options.json && geteuid())
		note("no such rank of your own; root sees those of all users");
	return STATUS_OK;
}

static int group_list(int argc, char **argv)
{
	struct filter filter = { 0 };
	struct shown shown = { 0 };
	int error, status = parse_filter(argc, argv, &filter);

	if (status)
		return status;
	error = read_list(&filter, &shown);
	if (error)
		return library_error(error);
	if (options.json)
		print_json(&shown);
	else
		print_table(shown.list, shown.count);
	if (!shown.count)
		status = nothing(&filter);
	shown_free(&shown);
	return status;
}

static int parse_group(const char *word, struct filter *filter)
{
	if (peerlane_group_number(word, &filter->group))
		return usage_error("\"%s\" is no number of a group", word);
	return STATUS_OK;
}

static int show(const struct filter *filter)
{
	struct shown shown = { 0 };
	int error = read_list(filter, &shown);
	uint64_t group = filter->group;
	int status = STATUS_OK;

	if (!error)
		error = peerlane_lane_list(&shown.lanes.list, &shown.lanes.count);
	/* Of one group there is more to be told. */
	if (!error && !group && shown.count)
		group = shown.list[0].group;
	if (!error && group)
		error = group_look(group, true, &shown.sight);
	if (error) {
		shown_free(&shown);
		return library_error(error);
	}
	if (!shown.count && !shown.sight.count)
		status = nothing(filter);
	if (options.json && !status)
		print_json(&shown);
	else
		print_all(&shown);
	shown_free(&shown);
	return status;
}

static int group_show(int argc, char **argv)
{
	struct filter filter = { 0 };
	int status = STATUS_OK;

	if (argc && *argv[0] >= '0' && *argv[0] <= '9') {
		status = parse_group(argv[0], &filter);
		argc--;
		argv++;
	}
	if (!status)
		status = parse_filter(argc, argv, &filter);
	return status ? status : show(&filter);
}

const struct command group_commands[] = {
	{ "list", group_list, "[pid PID] [state STATE]",
	  "ranks of groups on this node, one a line" },
	{ "show", group_show, "[GROUP] [pid PID] [state STATE]",
	  "the same in full, and, where this node sums up, who was late" },
	{ "top", group_top, "[GROUP] [interval SECONDS] [count N] [once]",
	  "ranks on the whole screen, live" },
};

const size_t group_command_count = ARRAY_SIZE(group_commands);
