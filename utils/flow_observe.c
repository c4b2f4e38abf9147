// SPDX-License-Identifier: GPL-2.0
/* peerlane flow observe, limit, stats: where and how flows are counted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* ---- observe ------------------------------------------------------------ */

static void print_points_json(const struct peerlane_flow_point *list,
			      size_t count)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < count; i++) {
		struct json_object *object = must(json_object_new_object());

		json_text(object, "point",
			  peerlane_flow_point_name(list[i].point), SIZE_MAX);
		json_or_null(object, "ifindex", list[i].ifindex, 0);
		json_text(object, "device", list[i].device,
			  sizeof(list[i].device));
		json_object_array_add(array, object);
	}
	json_print(stdout, array, options.pretty);
}

static void print_points(const struct peerlane_flow_point *list, size_t count)
{
	static const struct column columns[] = {
		{ "POINT", false }, { "IFINDEX", true }, { "DEVICE", false },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < count; i++) {
		table_cell(table, TINT_BOLD, "%s",
			   peerlane_flow_point_name(list[i].point));
		if (list[i].ifindex)
			table_cell(table, TINT_NONE, "%u", list[i].ifindex);
		else
			table_cell(table, TINT_NONE, "%s", "");
		table_cell(table, TINT_NONE, "%.*s",
			   (int)sizeof(list[i].device), list[i].device);
	}
	if (count)
		table_print(table);
	table_free(table);
}

static int show_points(void)
{
	struct peerlane_flow_point *list = NULL;
	size_t count = 0;
	int error = peerlane_flow_points(&list, &count);

	if (error)
		return library_error(error);
	if (options.json)
		print_points_json(list, count);
	else
		print_points(list, count);
	free(list);
	return STATUS_OK;
}

/* That it is so already is no failure, as in ip(8). */
static int set_point(const char *device, bool on)
{
	int error = peerlane_flow_observe(device, on);

	if (error != (on ? -EEXIST : -ESRCH))
		return error ? library_error(error) : STATUS_OK;
	note("%s is %s already", device ? device : "local",
	     on ? "observed" : "not observed");
	return STATUS_OK;
}

static int parse_switch(const char *word, bool *on)
{
	if (!strcmp(word, "on") || !strcmp(word, "off")) {
		*on = !strcmp(word, "on");
		return STATUS_OK;
	}
	return usage_error("\"on\" or \"off\", not \"%s\"", word);
}

int flow_observe(int argc, char **argv)
{
	static const char *const kinds[] = { "local", "dev" };
	const char *device = NULL;
	bool on = false;
	int kind;

	if (!argc)
		return show_points();
	kind = match_table("word", argv[0], kinds, ARRAY_SIZE(kinds),
			   sizeof(kinds[0]));
	if (kind < 0)
		return STATUS_ERROR;
	if (argc != 2 + kind)
		return usage_error("flow observe %s needs %s\"on\" or \"off\"",
				   kinds[kind], kind ? "a device and " : "");
	if (kind)
		device = argv[1];
	if (parse_switch(argv[argc - 1], &on))
		return STATUS_ERROR;
	return set_point(device, on);
}

/* ---- counts and limits --------------------------------------------------- */

#define NUMBER(member) FLOW_FIELD(peerlane_flow_stats, member)

static const struct flow_field numbers[] = {
	NUMBER(idle_timeout),
	NUMBER(threshold_on),
	NUMBER(threshold_off),
	NUMBER(calm_windows),
	NUMBER(flows),
	NUMBER(flow_limit),
	NUMBER(flow_size),
	NUMBER(buckets),
	NUMBER(histograms),
	NUMBER(histogram_limit),
	NUMBER(histogram_size),
	NUMBER(created),
	NUMBER(expired),
	NUMBER(evicted),
	NUMBER(packets),
	NUMBER(bytes),
	NUMBER(missed_full),
	NUMBER(missed_memory),
	NUMBER(missed_histogram),
	NUMBER(fragments),
	NUMBER(truncated),
	NUMBER(malformed),
	NUMBER(aggregated),
	NUMBER(elsewhere),
	NUMBER(events_lost),
	NUMBER(event_sequence),
	NUMBER(group_events),
};

enum { SETTINGS = 4 };		/* of @numbers, the first ones */

static bool is_missed(const char *name)
{
	return !strncmp(name, "missed_", 7) || !strcmp(name, "events_lost");
}

static void print_numbers_json(const struct peerlane_flow_stats *stats,
			       size_t count)
{
	struct json_object *array = must(json_object_new_array());
	struct json_object *object = must(json_object_new_object());

	for (size_t i = 0; i < count; i++)
		json_number(object, numbers[i].name, flow_field_value(stats, &numbers[i]));
	json_object_array_add(array, object);
	json_print(stdout, array, options.pretty);
}

static int print_numbers(size_t count)
{
	struct peerlane_flow_stats stats;
	int error = peerlane_flow_stats(&stats);

	if (error)
		return library_error(error);
	if (options.json) {
		print_numbers_json(&stats, count);
		return STATUS_OK;
	}
	property_width(16);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = flow_field_value(&stats, &numbers[i]);
		bool bad = value && is_missed(numbers[i].name);

		property(numbers[i].name, bad ? TINT_BAD : TINT_NONE, "%ju",
			 (uintmax_t)value);
	}
	return STATUS_OK;
}

int flow_stats(int argc, char **argv)
{
	if (argc)
		return usage_error("flow stats takes no argument, got \"%s\"",
				   argv[0]);
	return print_numbers(ARRAY_SIZE(numbers));
}

/* ---- setting limits ------------------------------------------------------- */

/* "1.5%", or a number of millionths */
static int parse_share(const char *word, uint32_t *millionths)
{
	uint64_t number = 0;
	double percent;
	char *end;

	if (!strchr(word, '%')) {
		int status = parse_number("a share in millionths", word, 1,
					  1000000, &number);

		*millionths = (uint32_t)number;
		return status;
	}
	percent = strtod(word, &end);
	if (end == word || strcmp(end, "%") ||
	    !(percent >= 0.0001 && percent <= 100))
		return usage_error("\"%s\" is no share from 0.0001%% to 100%%",
				   word);
	*millionths = (uint32_t)(percent * 10000 + 0.5);
	return STATUS_OK;
}

static int parse_limit(const char *name, const char *value,
		       struct peerlane_flow_limits *limits)
{
	static const char *const names[] = {
		"idle-timeout", "threshold-on", "threshold-off", "calm-windows"
	};
	int found = match_table("limit", name, names, ARRAY_SIZE(names),
				sizeof(names[0]));
	uint64_t number = 0;
	int status;

	if (found < 0)
		return STATUS_ERROR;
	if (!value)
		return usage_error("%s needs a value", names[found]);
	switch (found) {
	case 1:
		return parse_share(value, &limits->threshold_on);
	case 2:
		return parse_share(value, &limits->threshold_off);
	}
	status = parse_number(names[found], value, 1, found ? 255 : 86400,
			      &number);
	if (found)
		limits->calm_windows = (uint32_t)number;
	else
		limits->idle_timeout = (uint32_t)number;
	return status;
}

int flow_limit(int argc, char **argv)
{
	struct peerlane_flow_limits limits = { 0 };
	int error;

	if (!argc)
		return print_numbers(SETTINGS);
	for (int i = 0; i < argc; i += 2) {
		int status = parse_limit(argv[i],
					 i + 1 < argc ? argv[i + 1] : NULL,
					 &limits);

		if (status)
			return status;
	}
	error = peerlane_flow_limits_set(&limits);
	return error ? library_error(error) : STATUS_OK;
}
