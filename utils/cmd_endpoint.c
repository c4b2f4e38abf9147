// SPDX-License-Identifier: GPL-2.0
/* peerlane endpoint: connections between memory of two nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char *const states[] = {
	"new", "listening", "connecting", "connected", "closed",
};

struct filter {
	const char *state;
	int32_t pid;		/* 0 any */
	uint64_t id;		/* 0 any */
};

/* ---- which ---------------------------------------------------------------- */

static int parse_count(const char *word, const char *what, uint64_t most,
		       uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 10);
	if (errno || *word < '0' || *word > '9' || *end || !*value ||
	    *value > most)
		return usage_error("\"%s\" is no %s", word, what);
	return STATUS_OK;
}

static int parse_one(const char *key, const char *value, struct filter *filter)
{
	static const char *const keys[] = { "pid", "state" };
	int status, found = match_table("filter", key, keys, ARRAY_SIZE(keys),
					sizeof(keys[0]));
	uint64_t pid;

	if (found < 0)
		return STATUS_ERROR;
	if (found ? !!filter->state : !!filter->pid)
		return usage_error("filter \"%s\" is given twice", keys[found]);
	if (!value)
		return usage_error("filter \"%s\" needs a value", keys[found]);
	if (!found) {
		status = parse_count(value, "process id", INT32_MAX, &pid);
		if (!status)
			filter->pid = (int32_t)pid;
		return status;
	}
	found = match_table("state", value, states, ARRAY_SIZE(states),
			    sizeof(states[0]));
	if (found < 0)
		return STATUS_ERROR;
	filter->state = states[found];
	return STATUS_OK;
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

static bool wanted(const struct peerlane_endpoint_info *info,
		   const struct filter *filter)
{
	if (filter->id && info->id != filter->id)
		return false;
	if (filter->pid && info->pid != filter->pid)
		return false;
	return !filter->state ||
	       !strcmp(peerlane_endpoint_state_name(info->state),
		       filter->state);
}

/* ---- how ------------------------------------------------------------------ */

static const char *error_name(int32_t status)
{
	const char *name = status < 0 ? strerrorname_np(-status) : NULL;

	return name ? name : "";
}

static struct json_object *to_json(const struct peerlane_endpoint_info *info)
{
	struct json_object *object = must(json_object_new_object());

	json_number(object, "id", info->id);
	json_text(object, "state", peerlane_endpoint_state_name(info->state),
		  SIZE_MAX);
	json_text(object, "local", info->local, sizeof(info->local));
	json_text(object, "peer", info->peer, sizeof(info->peer));
	json_text(object, "rdma_device", info->rdma_device,
		  sizeof(info->rdma_device));
	json_text(object, "path", peerlane_path_name(info->path), SIZE_MAX);
	json_number(object, "lanes", info->lanes);
	json_number(object, "depth", info->depth);
	json_number(object, "outstanding", info->outstanding);
	json_number(object, "slots", info->slots);
	json_number(object, "exposed", info->exposed);
	json_number(object, "granted", info->granted);
	json_number(object, "keys", info->keys);
	json_number(object, "bytes_put", info->bytes_put);
	json_number(object, "bytes_get", info->bytes_get);
	json_number(object, "ops_done", info->ops_done);
	json_number(object, "ops_failed", info->ops_failed);
	json_number(object, "uid", info->uid);
	json_or_null(object, "pid", info->pid, 0);
	json_text(object, "comm", info->comm, sizeof(info->comm));
	json_text(object, "label", info->label, sizeof(info->label));
	json_text(object, "errno", error_name(info->status), SIZE_MAX);
	json_text(object, "reason", info->reason, sizeof(info->reason));
	return object;
}

static enum tint state_tint(const struct peerlane_endpoint_info *info)
{
	const char *state = peerlane_endpoint_state_name(info->state);

	if (!strcmp(state, "connected"))
		return TINT_GOOD;
	if (strcmp(state, "closed"))
		return TINT_NONE;
	return info->status ? TINT_BAD : TINT_WARN;
}

static void table_row(struct table *table,
		      const struct peerlane_endpoint_info *info)
{
	table_cell(table, TINT_BOLD, "%ju", (uintmax_t)info->id);
	table_cell(table, state_tint(info), "%s",
		   peerlane_endpoint_state_name(info->state));
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(info->local),
		   info->local);
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(info->peer),
		   info->peer);
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(info->rdma_device),
		   info->rdma_device);
	table_cell(table, TINT_NONE, "%u", info->lanes);
	table_cell(table, TINT_NONE, "%u", info->outstanding);
	table_cell(table, TINT_NONE, "%u", info->exposed);
	table_cell(table, TINT_NONE, "%u", info->granted);
	table_cell(table, TINT_NONE, "%s", bytes_text(info->bytes_put));
	table_cell(table, TINT_NONE, "%s", bytes_text(info->bytes_get));
	table_cell(table, info->ops_failed ? TINT_BAD : TINT_NONE, "%ju",
		   (uintmax_t)info->ops_failed);
	if (info->pid)
		table_cell(table, TINT_NONE, "%d", info->pid);
	else
		table_cell(table, TINT_NONE, "%s", "");
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(info->comm),
		   info->comm);
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(info->label),
		   info->label);
}

static size_t print_table(const struct peerlane_endpoint_info *list,
			  size_t count, const struct filter *filter)
{
	static const struct column columns[] = {
		{ "ID", true }, { "STATE", false }, { "LOCAL", false },
		{ "PEER", false }, { "RDMA", false }, { "LANES", true },
		{ "BUSY", true }, { "EXPOSED", true }, { "GRANTED", true },
		{ "PUT", true }, { "GET", true }, { "FAILED", true },
		{ "PID", true }, { "COMM", false }, { "LABEL", false },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		if (!wanted(&list[i], filter))
			continue;
		table_row(table, &list[i]);
		shown++;
	}
	if (shown)
		table_print(table);
	table_free(table);
	return shown;
}

static void show_one(const struct peerlane_endpoint_info *info)
{
	property("endpoint", TINT_BOLD, "%ju", (uintmax_t)info->id);
	property("state", state_tint(info), "%s",
		 peerlane_endpoint_state_name(info->state));
	if (info->status || *info->reason)
		property("reason", TINT_BAD, "%.*s%s%s%s",
			 (int)sizeof(info->reason), info->reason,
			 *error_name(info->status) ? " (" : "",
			 error_name(info->status),
			 *error_name(info->status) ? ")" : "");
	property("local", TINT_NONE, "%.*s", (int)sizeof(info->local),
		 info->local);
	property("peer", TINT_NONE, "%.*s", (int)sizeof(info->peer),
		 info->peer);
	property("rdma", TINT_NONE, "%.*s", (int)sizeof(info->rdma_device),
		 info->rdma_device);
	property("path", TINT_NONE, "%s", peerlane_path_name(info->path));
	property("lanes", TINT_NONE, "%u", info->lanes);
	property("operations", TINT_NONE, "%u of %u outstanding, %ju done, %ju failed",
		 info->outstanding, info->depth, (uintmax_t)info->ops_done,
		 (uintmax_t)info->ops_failed);
	property("bytes", TINT_NONE, "%s put, %s got",
		 bytes_text(info->bytes_put), bytes_text(info->bytes_get));
	property("memory", TINT_NONE, "%u slots, %u exposed, %u granted, %u keys",
		 info->slots, info->exposed, info->granted, info->keys);
	property("process", TINT_NONE, "%d %.*s, uid %u", info->pid,
		 (int)sizeof(info->comm), info->comm, info->uid);
	property("label", TINT_NONE, "%.*s", (int)sizeof(info->label),
		 info->label);
}

static size_t print_all(const struct peerlane_endpoint_info *list, size_t count,
			const struct filter *filter)
{
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		if (!wanted(&list[i], filter))
			continue;
		if (shown++)
			putchar('\n');
		show_one(&list[i]);
	}
	return shown;
}

static size_t print_json(const struct peerlane_endpoint_info *list,
			 size_t count, const struct filter *filter)
{
	struct json_object *array = must(json_object_new_array());
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		if (!wanted(&list[i], filter))
			continue;
		json_object_array_add(array, to_json(&list[i]));
		shown++;
	}
	json_print(stdout, array, options.pretty);
	return shown;
}

typedef size_t (*print_fn)(const struct peerlane_endpoint_info *list,
			   size_t count, const struct filter *filter);

static int print(const struct filter *filter, print_fn fn)
{
	struct peerlane_endpoint_info *list = NULL;
	size_t count = 0, shown;
	int error = peerlane_endpoint_list(&list, &count);

	if (error)
		return library_error(error);
	shown = (options.json ? print_json : fn)(list, count, filter);
	free(list);
	if (!shown && filter->id)
		return usage_error("no endpoint %ju", (uintmax_t)filter->id);
	if (!shown && !options.json && geteuid())
		note("no such endpoint of your own; root sees those of all users");
	return STATUS_OK;
}

static int endpoint_list(int argc, char **argv)
{
	struct filter filter = { 0 };
	int status = parse_filter(argc, argv, &filter);

	return status ? status : print(&filter, print_table);
}

static int endpoint_show(int argc, char **argv)
{
	struct filter filter = { 0 };
	int status = STATUS_OK;

	if (argc && *argv[0] >= '0' && *argv[0] <= '9') {
		status = parse_count(argv[0], "endpoint", UINT64_MAX,
				     &filter.id);
		argc--;
		argv++;
	}
	if (!status)
		status = parse_filter(argc, argv, &filter);
	return status ? status : print(&filter, print_all);
}

const struct command endpoint_commands[] = {
	{ "list", endpoint_list, "[pid PID] [state STATE]",
	  "connections, one a line" },
	{ "show", endpoint_show, "[ID] [pid PID] [state STATE]",
	  "connections in full" },
};

const size_t endpoint_command_count = ARRAY_SIZE(endpoint_commands);
