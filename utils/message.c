// SPDX-License-Identifier: GPL-2.0
/* Messages: one line each on stderr, or one JSON object each with -json. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void print_error(const char *text, int error, int status)
{
	if (options.json) {
		struct json_object *object = must(json_object_new_object());
		const char *name = error ? strerrorname_np(-error) : NULL;

		json_text(object, "error", text, SIZE_MAX);
		json_text(object, "errno", name ? name : "", SIZE_MAX);
		json_number(object, "exit", (uint64_t)status);
		json_print(stderr, object, false);
	} else {
		char *safe = printable(text);

		fprintf(stderr, "peerlane: %s\n", safe);
		free(safe);
	}
}

int usage_error(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = format_args(format, args);
	va_end(args);
	print_error(text, 0, STATUS_ERROR);
	free(text);
	return STATUS_ERROR;
}

void note(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = format_args(format, args);
	va_end(args);
	if (options.json) {
		struct json_object *object = must(json_object_new_object());

		json_text(object, "note", text, SIZE_MAX);
		json_print(stderr, object, false);
	} else {
		char *safe = printable(text);

		fprintf(stderr, "peerlane: %s\n", safe);
		free(safe);
	}
	free(text);
}

char *library_reason(int error)
{
	const char *text = peerlane_strerror();

	return must(strdup(text && *text ? text : strerror(-error)));
}

/*
 * ENOENT means "no such function" from some calls and "no module" from all, so
 * ask with a call that knows only the second. It overwrites the library's text.
 */
static bool module_absent(void)
{
	struct peerlane_device_info *list = NULL;
	size_t count = 0;
	int error = peerlane_device_list(&list, &count);

	if (!error)
		free(list);
	return error == -ENOENT;
}

static enum status status_of(int error)
{
	switch (error) {
	case -ENOENT:
		return module_absent() ? STATUS_ABSENT : STATUS_ERROR;
	case -EMSGSIZE:		/* a list that grows faster than it is read */
		return STATUS_INCOMPLETE;
	default:
		return STATUS_ERROR;
	}
}

int library_error(int error)
{
	char *reason = library_reason(error);
	enum status status = status_of(error);

	print_error(reason, error, (int)status);
	free(reason);
	return (int)status;
}
