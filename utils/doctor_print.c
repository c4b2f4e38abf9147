// SPDX-License-Identifier: GPL-2.0
/* Findings as text and as JSON. */
#include "doctor.h"

static const enum tint tints[] = {
	[SEVERITY_OK] = TINT_GOOD,
	[SEVERITY_NOTE] = TINT_NONE,
	[SEVERITY_UNKNOWN] = TINT_NONE,
	[SEVERITY_WARNING] = TINT_WARN,
	[SEVERITY_PROBLEM] = TINT_BAD,
};

struct json_object *finding_json(const struct finding *finding)
{
	struct json_object *object = must(json_object_new_object());

	json_text(object, "id", finding->id, SIZE_MAX);
	json_text(object, "severity", severity_name(finding->severity),
		  SIZE_MAX);
	json_text(object, "subject", finding->subject, SIZE_MAX);
	json_text(object, "message", finding->message, SIZE_MAX);
	json_text(object, "seen", finding->seen, SIZE_MAX);
	json_text(object, "remedy", finding->remedy, SIZE_MAX);
	return object;
}

static void print_finding(const struct finding *finding)
{
	property(severity_name(finding->severity), tints[finding->severity],
		 "%s %s: %s", finding->id, finding->subject, finding->message);
	property("  seen", TINT_NONE, "%s", finding->seen);
	if (*finding->remedy)
		property("  do", TINT_NONE, "%s", finding->remedy);
}

void findings_print(const struct findings *findings, bool all)
{
	for (int severity = SEVERITY_COUNT - 1; severity >= 0; severity--) {
		if (severity == SEVERITY_OK && !all)
			break;
		for (size_t i = 0; i < findings->count; i++)
			if ((int)findings->list[i].severity == severity)
				print_finding(&findings->list[i]);
	}
}
