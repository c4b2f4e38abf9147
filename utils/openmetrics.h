/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes metrics as text, in OpenMetrics 1.0 or in the older format of Prometheus
 * (0.0.4), which textfile collectors and old servers read. Pure: it knows
 * nothing of flows.
 *
 * A family is begun once and its samples follow; what is not a name is made one.
 */
#ifndef PEERLANE_OPENMETRICS_H
#define PEERLANE_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum om_format { OM_OPENMETRICS, OM_PROMETHEUS };
enum om_type { OM_COUNTER, OM_GAUGE, OM_INFO, OM_HISTOGRAM };

struct om_label {
	const char *name;
	const char *value;
};

struct om_labels {
	const struct om_label *list;
	size_t count;
};

struct om_writer {
	FILE *stream;
	enum om_format format;
	enum om_type type;	/* of the family that was begun last */
	char name[128];		/* its name, without suffix */
};

void om_begin(struct om_writer *writer, FILE *stream, enum om_format format);
/* @name without _total or _info; @unit, or NULL, is its last part. */
void om_family(struct om_writer *writer, enum om_type type, const char *name,
	       const char *unit, const char *help);
/* A sample of the family: of a counter, a gauge or an info. */
void om_sample(struct om_writer *writer, struct om_labels labels,
	       uint64_t value);
/* The same in seconds, of ns. */
void om_sample_seconds(struct om_writer *writer, struct om_labels labels,
		       uint64_t ns);

/* @below[i] samples up to @edges_ns[i], and all of them. */
struct om_histogram {
	const uint64_t *edges_ns;
	const uint64_t *below;
	size_t count;
	uint64_t samples;
	uint64_t sum_ns;
};

void om_histogram(struct om_writer *writer, struct om_labels labels,
		  const struct om_histogram *histogram);
void om_end(struct om_writer *writer);

/*
 * @from as a metric's name in @to: letters, digits and underscores, none doubled
 * and none at an end; other characters become one. Returns whether anything is
 * left.
 */
bool om_name(const char *from, char *to, size_t room);
/* @value as it stands between the quotes of a label; freed by the caller. */
char *om_escape(const char *value);

#endif /* PEERLANE_OPENMETRICS_H */
