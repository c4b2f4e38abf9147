// SPDX-License-Identifier: GPL-2.0
/* peerlane device: memory devices of this node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static struct json_object *device_json(const struct peerlane_device_info *device)
{
	struct json_object *object = must(json_object_new_object());

	json_text(object, "name", device->name, sizeof(device->name));
	json_text(object, "pci", device->pci, sizeof(device->pci));
	json_or_null(object, "bar", device->bar, -1);
	json_text(object, "kind", peerlane_kind_name(device->kind), SIZE_MAX);
	json_text(object, "memtype", peerlane_memtype_name(device->memtype),
		  SIZE_MAX);
	json_or_null(object, "numa_node", device->numa_node, -1);
	json_number(object, "bytes_total", device->bytes_total);
	json_number(object, "bytes_free", device->bytes_free);
	json_number(object, "bytes_limbo", device->bytes_limbo);
	json_number(object, "unit", device->unit);
	if (device->user_limit)
		json_number(object, "user_limit", device->user_limit);
	else
		json_object_object_add(object, "user_limit", NULL);
	json_number(object, "regions", device->regions);
	return object;
}

/* A number, or nothing (shown as "-") if it is negative. */
static char *maybe_number(int32_t number)
{
	return number < 0 ? format_text("%s", "") : format_text("%d", number);
}

static void print_json(const struct peerlane_device_info *list, size_t count)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, device_json(&list[i]));
	json_print(stdout, array, options.pretty);
}

static void print_table(const struct peerlane_device_info *list, size_t count)
{
	static const struct column columns[] = {
		{ "NAME", false }, { "PCI", false }, { "BAR", true },
		{ "KIND", false }, { "MEMTYPE", false }, { "NUMA", true },
		{ "TOTAL", true }, { "FREE", true }, { "LIMBO", true },
		{ "REGIONS", true },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < count; i++) {
		const struct peerlane_device_info *device = &list[i];
		char *bar = maybe_number(device->bar);
		char *node = maybe_number(device->numa_node);

		table_cell(table, TINT_BOLD, "%.*s", (int)sizeof(device->name),
			   device->name);
		table_cell(table, TINT_NONE, "%.*s", (int)sizeof(device->pci),
			   device->pci);
		table_cell(table, TINT_NONE, "%s", bar);
		table_cell(table, TINT_NONE, "%s",
			   peerlane_kind_name(device->kind));
		table_cell(table, TINT_NONE, "%s",
			   peerlane_memtype_name(device->memtype));
		table_cell(table, TINT_NONE, "%s", node);
		table_cell(table, TINT_NONE, "%s",
			   bytes_text(device->bytes_total));
		table_cell(table, TINT_NONE, "%s",
			   bytes_text(device->bytes_free));
		table_cell(table, device->bytes_limbo ? TINT_WARN : TINT_NONE,
			   "%s", bytes_text(device->bytes_limbo));
		table_cell(table, TINT_NONE, "%u", device->regions);
		free(node);
		free(bar);
	}
	table_print(table);
	table_free(table);
}

static void print_list(const struct peerlane_device_info *list, size_t count)
{
	if (options.json)
		print_json(list, count);
	else if (count)
		print_table(list, count);
}

static void print_properties(const struct peerlane_device_info *device)
{
	char *bar = maybe_number(device->bar);
	char *node = maybe_number(device->numa_node);

	property("name", TINT_BOLD, "%.*s", (int)sizeof(device->name),
		 device->name);
	property("pci", TINT_NONE, "%.*s", (int)sizeof(device->pci),
		 device->pci);
	property("bar", TINT_NONE, "%s", bar);
	property("kind", TINT_NONE, "%s", peerlane_kind_name(device->kind));
	property("memtype", TINT_NONE, "%s",
		 peerlane_memtype_name(device->memtype));
	property("numa_node", TINT_NONE, "%s", node);
	property("bytes_total", TINT_NONE, "%s",
		 bytes_text(device->bytes_total));
	property("bytes_free", TINT_NONE, "%s", bytes_text(device->bytes_free));
	property("bytes_limbo", device->bytes_limbo ? TINT_WARN : TINT_NONE,
		 "%s", bytes_text(device->bytes_limbo));
	property("unit", TINT_NONE, "%s", bytes_text(device->unit));
	property("user_limit", TINT_NONE, "%s",
		 device->user_limit ? bytes_text(device->user_limit) : "");
	property("regions", TINT_NONE, "%u", device->regions);
	free(node);
	free(bar);
}

static int device_list(int argc, char **argv)
{
	struct peerlane_device_info *list = NULL;
	size_t count = 0;
	int error;

	if (argc)
		return usage_error("device list takes no argument, got \"%s\"",
				   argv[0]);
	error = peerlane_device_list(&list, &count);
	if (error)
		return library_error(error);
	print_list(list, count);
	free(list);
	return STATUS_OK;
}

static int device_show(int argc, char **argv)
{
	struct peerlane_device_info device;
	int error;

	if (argc == 2 && match_prefix(argv[0], "dev")) {
		argc--;
		argv++;
	}
	if (argc != 1)
		return usage_error("device show takes one device name");
	error = peerlane_device_get(argv[0], &device);
	if (error)
		return library_error(error);
	if (options.json)
		print_json(&device, 1);
	else
		print_properties(&device);
	return STATUS_OK;
}

/* All are tried, so that one bad address does not hide the others. */
static int device_bind(int argc, char **argv)
{
	struct peerlane_device_info *bound;
	size_t count = 0;
	bool force = false;
	int status = STATUS_OK;

	if (argc && match_prefix(argv[argc - 1], "force")) {
		force = true;
		argc--;
	}
	if (!argc)
		return usage_error("device bind needs a PCI address");
	bound = must(calloc((size_t)argc, sizeof(*bound)));
	for (int i = 0; i < argc; i++) {
		int error = peerlane_device_bind(argv[i], force, &bound[count]);

		if (error)
			status = library_error(error);
		else
			count++;
		if (status == STATUS_ABSENT)
			break;
	}
	if (count)
		print_list(bound, count);
	free(bound);
	return status;
}

/*
 * A device whose removal was begun by another is in no list, but can still be
 * waited for by its PCI address, so ENODEV is left to the second call.
 */
static int device_unbind(int argc, char **argv)
{
	struct peerlane_device_info device;
	size_t count = 1;
	int error;

	if (argc == 2 && match_prefix(argv[0], "dev")) {
		argc--;
		argv++;
	}
	if (argc != 1)
		return usage_error("device unbind takes one device name");
	error = peerlane_device_get(argv[0], &device);
	if (error == -ENODEV)
		count = 0;
	else if (error)
		return library_error(error);
	error = unbind_device(argv[0], count ? device.name : argv[0]);
	if (error)
		return library_error(error);
	if (options.json)
		print_json(&device, count);
	return STATUS_OK;
}

struct verdict {
	const char *target;
	const char *initiator;
	bool reachable;
	const char *path;
	int64_t distance;	/* -1 unknown */
	const char *reason;
};

static void print_verdict(const struct verdict *verdict)
{
	property("target", TINT_NONE, "%s", verdict->target);
	property("initiator", TINT_NONE, "%s", verdict->initiator);
	property("reachable", verdict->reachable ? TINT_GOOD : TINT_BAD, "%s",
		 verdict->reachable ? "yes" : "no");
	property("path", TINT_NONE, "%s", verdict->path);
	if (verdict->distance < 0)
		property("distance", TINT_NONE, "%s", "");
	else
		property("distance", TINT_NONE, "%jd",
			 (intmax_t)verdict->distance);
	property("reason", TINT_NONE, "%s", verdict->reason);
}

static void print_verdict_json(const struct verdict *verdict)
{
	struct json_object *array = must(json_object_new_array());
	struct json_object *object = must(json_object_new_object());

	json_text(object, "target", verdict->target, SIZE_MAX);
	json_text(object, "initiator", verdict->initiator, SIZE_MAX);
	json_object_object_add(object, "reachable",
			       must(json_object_new_boolean(verdict->reachable)));
	json_text(object, "path", verdict->path, SIZE_MAX);
	json_or_null(object, "distance", verdict->distance, -1);
	json_text(object, "reason", verdict->reason, SIZE_MAX);
	json_object_array_add(array, object);
	json_print(stdout, array, options.pretty);
}

/* That they cannot reach each other is an answer, not a failure to get one. */
static int device_path(int argc, char **argv)
{
	struct peerlane_preflight_info info;
	struct verdict verdict = { .distance = -1, .path = "none" };
	char *reason = NULL;
	int error;

	if (argc != 2)
		return usage_error("device path takes a target and an initiator");
	error = peerlane_preflight(argv[0], argv[1], &info);
	if (error && error != -EREMOTEIO)
		return library_error(error);
	verdict.target = argv[0];
	verdict.initiator = argv[1];
	verdict.reachable = !error;
	if (error) {
		reason = library_reason(error);
		verdict.reason = reason;
	} else {
		info.text[sizeof(info.text) - 1] = '\0';
		verdict.path = peerlane_path_name(info.path);
		verdict.distance = info.distance;
		verdict.reason = info.text;
	}
	if (options.json)
		print_verdict_json(&verdict);
	else
		print_verdict(&verdict);
	free(reason);
	return error ? STATUS_FINDING : STATUS_OK;
}

const struct command device_commands[] = {
	{ "list", device_list, "", "all memory devices" },
	{ "show", device_show, "[dev] NAME", "one device in full" },
	{ "bind", device_bind, "PCI... [force]",
	  "give PCI functions to the peerlane driver" },
	{ "unbind", device_unbind, "[dev] NAME",
	  "take a device back, wait for its users" },
	{ "path", device_path, "TARGET INITIATOR",
	  "how two PCI functions reach each other" },
};

const size_t device_command_count = ARRAY_SIZE(device_commands);
