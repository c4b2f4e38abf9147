// SPDX-License-Identifier: GPL-2.0
/* peerlane region: who holds which memory. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char *const states[] = {
	"empty", "active", "revoked", "limbo", "released",
};

struct filter {
	const char *device;
	const char *state;
	int32_t pid;		/* 0 any */
};

/* ---- which -------------------------------------------------------------- */

static int parse_pid(const char *word, int32_t *pid)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(word, &end, 10);
	if (errno || end == word || *end || value < 1 || value > INT32_MAX)
		return usage_error("\"%s\" is no process id", word);
	*pid = (int32_t)value;
	return STATUS_OK;
}

static int parse_state(const char *word, const char **state)
{
	int found = match_table("state", word, states, ARRAY_SIZE(states),
				sizeof(states[0]));

	if (found < 0)
		return STATUS_ERROR;
	*state = states[found];
	return STATUS_OK;
}

static int parse_one(const char *key, const char *value, struct filter *filter)
{
	static const char *const keys[] = { "dev", "pid", "state" };
	int found = match_table("filter", key, keys, ARRAY_SIZE(keys),
				sizeof(keys[0]));
	bool twice;

	if (found < 0)
		return STATUS_ERROR;
	twice = found == 0 ? !!filter->device :
		found == 1 ? !!filter->pid : !!filter->state;
	if (twice)
		return usage_error("filter \"%s\" is given twice", keys[found]);
	if (!value)
		return usage_error("filter \"%s\" needs a value", keys[found]);
	switch (found) {
	case 0:
		filter->device = value;
		return STATUS_OK;
	case 1:
		return parse_pid(value, &filter->pid);
	default:
		return parse_state(value, &filter->state);
	}
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

static bool is_on(const struct peerlane_region_info *region, const char *device)
{
	return !strncmp(region->device, device, sizeof(region->device));
}

/*
 * The device that a filter names may be given by its PCI address. A device
 * that is going away may still have regions, so the regions are asked first.
 */
static int resolve_device(const struct peerlane_region_info *list, size_t count,
			  struct filter *filter,
			  struct peerlane_device_info *device)
{
	int error;

	if (!filter->device)
		return STATUS_OK;
	for (size_t i = 0; i < count; i++)
		if (is_on(&list[i], filter->device))
			return STATUS_OK;
	error = peerlane_device_get(filter->device, device);
	if (error)
		return library_error(error);
	filter->device = device->name;
	return STATUS_OK;
}

static bool wanted(const struct peerlane_region_info *region,
		   const struct filter *filter)
{
	if (filter->device && !is_on(region, filter->device))
		return false;
	if (filter->pid && region->pid != filter->pid &&
	    region->mapper_pid != filter->pid)
		return false;
	return !filter->state ||
	       !strcmp(peerlane_state_name(region->state), filter->state);
}

/* ---- how ---------------------------------------------------------------- */

/* Name of @uid, or NULL; valid until the next call. */
static const char *user_name(uint32_t uid)
{
	static struct passwd *entry;
	static uint32_t last;
	static bool known;

	if (!known || last != uid) {
		entry = getpwuid(uid);
		last = uid;
		known = true;
	}
	return entry ? entry->pw_name : NULL;
}

static struct json_object *region_json(const struct peerlane_region_info *region)
{
	struct json_object *object = must(json_object_new_object());
	const char *user = options.numeric ? NULL : user_name(region->uid);

	json_number(object, "id", region->id);
	json_text(object, "device", region->device, sizeof(region->device));
	json_text(object, "kind", peerlane_kind_name(region->kind), SIZE_MAX);
	json_text(object, "state", peerlane_state_name(region->state),
		  SIZE_MAX);
	json_number(object, "length", region->length);
	json_number(object, "dev_offset", region->dev_offset);
	json_number(object, "uid", region->uid);
	json_text(object, "user", user ? user : "", SIZE_MAX);
	json_or_null(object, "pid", region->pid, 0);
	json_text(object, "comm", region->comm, sizeof(region->comm));
	json_number(object, "exports", region->exports);
	json_number(object, "attachments", region->attachments);
	json_number(object, "mappings", region->mappings);
	json_number(object, "pinned_units", region->pinned_units);
	json_or_null(object, "mapper_pid", region->mapper_pid, 0);
	json_text(object, "mapper_comm", region->mapper_comm,
		  sizeof(region->mapper_comm));
	return object;
}

static enum tint state_tint(const char *state)
{
	if (!strcmp(state, "active"))
		return TINT_GOOD;
	if (!strcmp(state, "limbo"))
		return TINT_WARN;
	return strcmp(state, "revoked") ? TINT_NONE : TINT_BAD;
}

static void process_cells(struct table *table, int32_t pid, const char *comm,
			  size_t room)
{
	if (pid)
		table_cell(table, TINT_NONE, "%d", pid);
	else
		table_cell(table, TINT_NONE, "%s", "");
	table_cell(table, TINT_NONE, "%.*s", (int)room, comm);
}

static void region_row(struct table *table,
		       const struct peerlane_region_info *region)
{
	const char *state = peerlane_state_name(region->state);
	const char *user = options.numeric ? NULL : user_name(region->uid);

	table_cell(table, TINT_BOLD, "%ju", (uintmax_t)region->id);
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(region->device),
		   region->device);
	table_cell(table, TINT_NONE, "%s", peerlane_kind_name(region->kind));
	table_cell(table, TINT_NONE, "%s", bytes_text(region->length));
	table_cell(table, state_tint(state), "%s", state);
	if (user)
		table_cell(table, TINT_NONE, "%s", user);
	else
		table_cell(table, TINT_NONE, "%u", region->uid);
	process_cells(table, region->pid, region->comm, sizeof(region->comm));
	table_cell(table, TINT_NONE, "%u", region->exports);
	table_cell(table, TINT_NONE, "%u", region->attachments);
	table_cell(table, TINT_NONE, "%u", region->mappings);
	table_cell(table, region->pinned_units ? TINT_WARN : TINT_NONE, "%u",
		   region->pinned_units);
	process_cells(table, region->mapper_pid, region->mapper_comm,
		      sizeof(region->mapper_comm));
}

static size_t print_table(const struct peerlane_region_info *list, size_t count,
			  const struct filter *filter)
{
	static const struct column columns[] = {
		{ "ID", true }, { "DEVICE", false }, { "KIND", false },
		{ "LENGTH", true }, { "STATE", false }, { "USER", false },
		{ "PID", true }, { "COMM", false }, { "EXPORTS", true },
		{ "ATTACHED", true }, { "MAPPED", true }, { "PINNED", true },
		{ "MAPPER", true }, { "MAPPER-COMM", false },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		if (!wanted(&list[i], filter))
			continue;
		region_row(table, &list[i]);
		shown++;
	}
	if (shown)
		table_print(table);
	table_free(table);
	return shown;
}

static void print_json(const struct peerlane_region_info *list, size_t count,
		       const struct filter *filter)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < count; i++)
		if (wanted(&list[i], filter))
			json_object_array_add(array, region_json(&list[i]));
	json_print(stdout, array, options.pretty);
}

static int region_list(int argc, char **argv)
{
	struct peerlane_region_info *list = NULL;
	struct peerlane_device_info device;
	struct filter filter = { 0 };
	size_t count = 0;
	int status = parse_filter(argc, argv, &filter);
	int error;

	if (status)
		return status;
	error = peerlane_region_list(&list, &count);
	if (error)
		return library_error(error);
	status = resolve_device(list, count, &filter, &device);
	if (!status && options.json)
		print_json(list, count, &filter);
	else if (!status && !print_table(list, count, &filter) && geteuid())
		note("no such region of your own; root sees those of all users");
	free(list);
	return status;
}

const struct command region_commands[] = {
	{ "list", region_list, "[dev NAME] [pid PID] [state STATE]",
	  "who holds which memory" },
};

const size_t region_command_count = ARRAY_SIZE(region_commands);
