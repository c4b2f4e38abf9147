// SPDX-License-Identifier: GPL-2.0
/* Text output: aligned tables, properties, sizes. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct cell {
	char *text;
	enum tint tint;
};

struct table {
	const struct column *columns;
	size_t width;		/* in columns */
	struct cell *cells;	/* row by row */
	size_t count;
	size_t room;
};

static const char *const tints[] = {
	[TINT_NONE] = "",
	[TINT_BOLD] = "\033[1m",
	[TINT_GOOD] = "\033[32m",
	[TINT_WARN] = "\033[33m",
	[TINT_BAD] = "\033[31m",
};

void *must(void *allocated)
{
	if (!allocated) {
		fputs("peerlane: out of memory\n", stderr);
		exit(STATUS_ERROR);
	}
	return allocated;
}

char *format_args(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	return must(text);
}

char *format_text(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = format_args(format, args);
	va_end(args);
	return text;
}

char *printable(const char *text)
{
	char *safe = must(malloc(4 * strlen(text) + 1));
	char *to = safe;

	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte >= ' ' && byte < 0x7f && byte != '\\')
			*to++ = *text;
		else if (byte == '\\')
			to = stpcpy(to, "\\\\");
		else
			to += sprintf(to, "\\x%02x", byte);
	}
	*to = '\0';
	return safe;
}

const char *bytes_text(uint64_t bytes)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"
	};
	static char buffers[8][32];
	static unsigned int next;
	char *text = buffers[next++ % ARRAY_SIZE(buffers)];
	size_t unit = 0;

	if (options.human)
		while (unit + 1 < ARRAY_SIZE(units) && bytes >> 10 * unit >= 1024)
			unit++;
	if (!options.human)
		snprintf(text, sizeof(buffers[0]), "%ju", (uintmax_t)bytes);
	else if (!(bytes & ((UINT64_C(1) << 10 * unit) - 1)))
		snprintf(text, sizeof(buffers[0]), "%ju%s",
			 (uintmax_t)(bytes >> 10 * unit), units[unit]);
	else	/* cut, not rounded: never more than there is */
		snprintf(text, sizeof(buffers[0]), "%ju.%ju%s",
			 (uintmax_t)(bytes >> 10 * unit),
			 (uintmax_t)((bytes >> 10 * (unit - 1) & 1023) * 10 / 1024),
			 units[unit]);
	return text;
}

struct table *table_new(const struct column *columns, size_t count)
{
	struct table *table = must(calloc(1, sizeof(*table)));

	table->columns = columns;
	table->width = count;
	return table;
}

void table_cell(struct table *table, enum tint tint, const char *format, ...)
{
	va_list args;
	char *text;

	if (table->count == table->room) {
		table->room = table->room ? 2 * table->room : 64;
		table->cells = must(reallocarray(table->cells, table->room,
						 sizeof(*table->cells)));
	}
	va_start(args, format);
	text = format_args(format, args);
	va_end(args);
	table->cells[table->count++] = (struct cell){
		.text = printable(*text ? text : "-"), .tint = tint
	};
	free(text);
}

static void pad(size_t count)
{
	while (count--)
		putchar(' ');
}

static void print_tinted(const char *text, enum tint tint)
{
	if (options.color && tint != TINT_NONE)
		printf("%s%s\033[0m", tints[tint], text);
	else
		fputs(text, stdout);
}

static void print_cell(const struct table *table, size_t index, size_t width,
		       const char *text, enum tint tint)
{
	size_t fill = width - strlen(text);
	bool last = index + 1 == table->width;

	if (table->columns[index].right)
		pad(fill);
	print_tinted(text, tint);
	if (!table->columns[index].right && !last)
		pad(fill);
	if (last)
		putchar('\n');
	else
		pad(2);
}

void table_print(const struct table *table)
{
	size_t *widths = must(calloc(table->width, sizeof(*widths)));

	for (size_t i = 0; i < table->width; i++)
		widths[i] = strlen(table->columns[i].title);
	for (size_t i = 0; i < table->count; i++) {
		size_t length = strlen(table->cells[i].text);

		if (length > widths[i % table->width])
			widths[i % table->width] = length;
	}
	for (size_t i = 0; i < table->width; i++)
		print_cell(table, i, widths[i], table->columns[i].title,
			   TINT_BOLD);
	for (size_t i = 0; i < table->count; i++)
		print_cell(table, i % table->width, widths[i % table->width],
			   table->cells[i].text, table->cells[i].tint);
	free(widths);
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table);
}

static int key_width = 12;

void property_width(int width)
{
	key_width = width;
}

void property(const char *key, enum tint tint, const char *format, ...)
{
	va_list args;
	char *text;
	char *safe;

	va_start(args, format);
	text = format_args(format, args);
	va_end(args);
	safe = printable(*text ? text : "-");
	printf("%-*s ", key_width, key);
	print_tinted(safe, tint);
	putchar('\n');
	free(safe);
	free(text);
}
