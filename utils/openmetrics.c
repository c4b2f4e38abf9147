// SPDX-License-Identifier: GPL-2.0
/* Metrics as text: names, labels, numbers, and the order of lines. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "openmetrics.h"
#include "utf8.h"

static const char *const type_names[] = {
	[OM_COUNTER] = "counter",
	[OM_GAUGE] = "gauge",
	[OM_INFO] = "info",
	[OM_HISTOGRAM] = "histogram",
};

static const char *const suffixes[] = {
	[OM_COUNTER] = "_total",
	[OM_GAUGE] = "",
	[OM_INFO] = "_info",
	[OM_HISTOGRAM] = "",
};

/* ---- names and text ----------------------------------------------------- */

bool om_name(const char *from, char *to, size_t room)
{
	size_t length = 0;
	bool gap = false;

	for (; *from && length + 2 < room; from++) {
		unsigned char byte = (unsigned char)*from;

		if (byte >= 0x80 || !isalnum(byte)) {
			gap = true;
			continue;
		}
		if ((gap && length) || (!length && isdigit(byte)))
			to[length++] = '_';
		gap = false;
		to[length++] = (char)byte;
	}
	to[length] = '\0';
	return length;
}

/* Control characters, which a reader might send on to a terminal, are none. */
static char *append_character(char *to, const unsigned char *from,
			      size_t length, int32_t character)
{
	if (character == '\n')
		return stpcpy(to, "\\n");
	if (character < ' ' || (character >= 0x7f && character < 0xa0))
		return stpcpy(to, "\xef\xbf\xbd");
	if (character == '\\' || character == '"')
		*to++ = '\\';
	memcpy(to, from, length);
	return to + length;
}

char *om_escape(const char *value)
{
	const unsigned char *at = (const unsigned char *)value;
	char *safe = malloc(3 * strlen(value) + 1);
	char *to = safe;
	size_t length;

	if (!safe)
		return NULL;
	for (; *at; at += length) {
		int32_t character = utf8_decode(at, &length);

		to = append_character(to, at, length, character);
	}
	*to = '\0';
	return safe;
}

static void print_help(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", stream);
		else if (*text == '\\')
			fputs("\\\\", stream);
		else
			fputc(*text, stream);
	}
}

/* Seconds with no more digits than tell them apart, as OpenMetrics wants them. */
static void print_seconds(FILE *stream, uint64_t ns)
{
	double seconds = (double)ns / 1e9;
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, seconds);
		if (strtod(text, NULL) == seconds)
			break;
	}
	fputs(text, stream);
	if (!strpbrk(text, ".e"))
		fputs(".0", stream);
}

/* ---- families and samples ------------------------------------------------ */

void om_begin(struct om_writer *writer, FILE *stream, enum om_format format)
{
	*writer = (struct om_writer){ .stream = stream, .format = format };
}

void om_family(struct om_writer *writer, enum om_type type, const char *name,
	       const char *unit, const char *help)
{
	bool old = writer->format == OM_PROMETHEUS;
	/* The older format names families as samples, and knows no info. */
	const char *suffix = old ? suffixes[type] : "";
	const char *type_name =
		type_names[old && type == OM_INFO ? OM_GAUGE : type];

	writer->type = type;
	snprintf(writer->name, sizeof(writer->name), "%s", name);
	fprintf(writer->stream, "# HELP %s%s ", name, suffix);
	print_help(writer->stream, help);
	fprintf(writer->stream, "\n# TYPE %s%s %s\n", name, suffix, type_name);
	if (unit && !old)
		fprintf(writer->stream, "# UNIT %s %s\n", name, unit);
}

static void print_label(FILE *stream, const char *name, const char *value,
			bool first)
{
	char *safe = om_escape(value);

	if (!safe) {
		fputs("peerlane: out of memory\n", stderr);
		exit(1);
	}
	fprintf(stream, "%c%s=\"%s\"", first ? '{' : ',', name, safe);
	free(safe);
}

/* With @edge_ns the label le, where UINT64_MAX is infinity. */
static void print_head(const struct om_writer *writer, const char *suffix,
		       struct om_labels labels, const uint64_t *edge_ns)
{
	fprintf(writer->stream, "%s%s", writer->name, suffix);
	for (size_t i = 0; i < labels.count; i++)
		print_label(writer->stream, labels.list[i].name,
			    labels.list[i].value, !i);
	if (edge_ns) {
		fprintf(writer->stream, "%cle=\"", labels.count ? ',' : '{');
		if (*edge_ns == UINT64_MAX)
			fputs("+Inf", writer->stream);
		else
			print_seconds(writer->stream, *edge_ns);
		fputc('"', writer->stream);
	}
	fputs(labels.count || edge_ns ? "} " : " ", writer->stream);
}

void om_sample(struct om_writer *writer, struct om_labels labels,
	       uint64_t value)
{
	print_head(writer, suffixes[writer->type], labels, NULL);
	fprintf(writer->stream, "%ju\n", (uintmax_t)value);
}

void om_sample_seconds(struct om_writer *writer, struct om_labels labels,
		       uint64_t ns)
{
	print_head(writer, suffixes[writer->type], labels, NULL);
	print_seconds(writer->stream, ns);
	fputc('\n', writer->stream);
}

void om_histogram(struct om_writer *writer, struct om_labels labels,
		  const struct om_histogram *histogram)
{
	static const uint64_t infinity = UINT64_MAX;

	for (size_t i = 0; i < histogram->count; i++) {
		print_head(writer, "_bucket", labels, &histogram->edges_ns[i]);
		fprintf(writer->stream, "%ju\n", (uintmax_t)histogram->below[i]);
	}
	print_head(writer, "_bucket", labels, &infinity);
	fprintf(writer->stream, "%ju\n", (uintmax_t)histogram->samples);
	print_head(writer, "_count", labels, NULL);
	fprintf(writer->stream, "%ju\n", (uintmax_t)histogram->samples);
	print_head(writer, "_sum", labels, NULL);
	print_seconds(writer->stream, histogram->sum_ns);
	fputc('\n', writer->stream);
}

void om_end(struct om_writer *writer)
{
	if (writer->format == OM_OPENMETRICS)
		fputs("# EOF\n", writer->stream);
}
