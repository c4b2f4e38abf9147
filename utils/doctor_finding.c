// SPDX-License-Identifier: GPL-2.0
/* Findings of peerlane doctor: a list that grows. */
#include <stdlib.h>

#include "doctor.h"

struct finding *find(struct findings *findings, const char *id,
		     enum severity severity, const char *subject)
{
	struct finding *finding;

	if (findings->count == findings->room) {
		findings->room = findings->room ? 2 * findings->room : 32;
		findings->list = must(reallocarray(findings->list,
						   findings->room,
						   sizeof(*findings->list)));
	}
	finding = &findings->list[findings->count++];
	*finding = (struct finding){
		.id = id, .severity = severity, .rank = PEERLANE_NOBODY,
	};
	finding->subject = format_text("%s", subject);
	finding->message = format_text("%s", "");
	finding->seen = format_text("%s", "");
	finding->remedy = format_text("%s", "");
	return finding;
}

static void set(char **text, const char *format, va_list args)
{
	free(*text);
	*text = format_args(format, args);
}

void say(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(&finding->message, format, args);
	va_end(args);
}

void seen(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(&finding->seen, format, args);
	va_end(args);
}

void remedy(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(&finding->remedy, format, args);
	va_end(args);
}

const char *severity_name(enum severity severity)
{
	static const char *const names[] = {
		[SEVERITY_OK] = "ok",
		[SEVERITY_NOTE] = "note",
		[SEVERITY_UNKNOWN] = "unknown",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_PROBLEM] = "problem",
	};

	return severity < SEVERITY_COUNT ? names[severity] : "unknown";
}

size_t findings_of(const struct findings *findings, enum severity severity)
{
	size_t count = 0;

	for (size_t i = 0; i < findings->count; i++)
		count += findings->list[i].severity == severity;
	return count;
}

static void swap(struct finding *one, struct finding *other)
{
	struct finding kept = *one;

	*one = *other;
	*other = kept;
}

/* There are few, and their order stays where weights are the same. */
void findings_sort(struct findings *findings)
{
	struct finding *list = findings->list;

	for (size_t i = 1; i < findings->count; i++)
		for (size_t k = i; k && list[k - 1].weight < list[k].weight; k--)
			swap(&list[k - 1], &list[k]);
}

static void finding_free(struct finding *finding)
{
	free(finding->subject);
	free(finding->message);
	free(finding->seen);
	free(finding->remedy);
}

void findings_move(struct findings *to, struct findings *from,
		   enum severity least)
{
	for (size_t i = 0; i < from->count; i++) {
		struct finding *finding = &from->list[i];
		struct finding *moved;

		if (finding->severity < least) {
			finding_free(finding);
			continue;
		}
		moved = find(to, finding->id, finding->severity, "");
		finding_free(moved);
		*moved = *finding;
	}
	free(from->list);
	*from = (struct findings){ 0 };
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		finding_free(&findings->list[i]);
	free(findings->list);
	*findings = (struct findings){ 0 };
}
