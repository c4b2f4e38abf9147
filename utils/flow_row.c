// SPDX-License-Identifier: GPL-2.0
/* One flow as it is shown: which numbers, and how they read. */
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "units.h"

struct counters {
	uint32_t list[2];	/* added up */
	size_t count;
	bool reverse;		/* of the other direction */
};

/*
 * What a column counts. What the receiver answers is in the other direction, and
 * tells how this one fares.
 */
static const struct counters sources[FLOW_COLUMNS] = {
	[FLOW_RATE] = { { PEERLANE_COUNT_BYTES }, 1, false },
	[FLOW_PACKETS] = { { PEERLANE_COUNT_PACKETS }, 1, false },
	[FLOW_BYTES] = { { PEERLANE_COUNT_BYTES }, 1, false },
	[FLOW_CE] = { { PEERLANE_COUNT_CE }, 1, false },
	[FLOW_CNP] = { { PEERLANE_COUNT_REVERSE_CNP }, 1, true },
	[FLOW_NAK] = { { PEERLANE_COUNT_REVERSE_NAK_SEQUENCE,
			 PEERLANE_COUNT_REVERSE_NAK_OTHER }, 2, true },
	[FLOW_RNR] = { { PEERLANE_COUNT_REVERSE_RNR }, 1, true },
	[FLOW_RETX] = { { PEERLANE_COUNT_RETRANSMITTED }, 1, false },
	[FLOW_LOST] = { { PEERLANE_COUNT_LOST }, 1, false },
};

static const struct {
	const char *title;
	const char *live_title;
	bool right;
} titles[FLOW_COLUMNS] = {
	[FLOW_SOURCE] = { "SOURCE", "SOURCE", false },
	[FLOW_DESTINATION] = { "DESTINATION", "DESTINATION", false },
	[FLOW_TYPE] = { "TYPE", "TYPE", false },
	[FLOW_PROCESS] = { "PROCESS", "PROCESS", false },
	[FLOW_STATE] = { "STATE", "STATE", false },
	[FLOW_RATE] = { "RATE", "RATE", true },
	[FLOW_PACKETS] = { "PACKETS", "PACKETS/S", true },
	[FLOW_BYTES] = { "BYTES", "BYTES", true },
	[FLOW_CE] = { "CE%", "CE%", true },
	[FLOW_CNP] = { "CNP", "CNP", true },
	[FLOW_NAK] = { "NAK", "NAK", true },
	[FLOW_RNR] = { "RNR", "RNR", true },
	[FLOW_RETX] = { "RETX", "RETX", true },
	[FLOW_LOST] = { "LOST", "LOST", true },
	[FLOW_P50] = { "P50", "P50", true },
	[FLOW_P99] = { "P99", "P99", true },
	[FLOW_LABEL] = { "LABEL", "LABEL", false },
};

const char *flow_title(enum flow_column column, bool live)
{
	return live ? titles[column].live_title : titles[column].title;
}

bool flow_column_right(enum flow_column column)
{
	return titles[column].right;
}

struct flow_row flow_row_of(const struct flow_set *set, size_t i,
			    const struct flow_set *previous, bool live)
{
	size_t at = set->order[i];
	struct flow_row row = {
		.info = &set->infos[at], .qp = &set->qps[at], .live = live,
	};

	row.before = flow_set_find(previous, &row.info->key);
	if (row.before)
		row.elapsed_ns = set->when - previous->when;
	return row;
}

/* ---- numbers ------------------------------------------------------------ */

/* What @counters grew by. */
static enum rate_state grown(const struct flow_row *row,
			     const struct counters *counters, uint64_t *value)
{
	uint64_t sum = 0;

	if (!row->before || !row->elapsed_ns)
		return RATE_UNKNOWN;
	if (counters->reverse && !row->before->has_reverse)
		return RATE_UNKNOWN;
	for (size_t i = 0; i < counters->count; i++) {
		uint64_t delta;

		if (!peerlane_flow_since(row->info, row->before,
					 counters->list[i], &delta))
			return RATE_RESET;
		sum += delta;
	}
	*value = sum;
	return RATE_KNOWN;
}

static enum rate_state counted(const struct flow_row *row,
			       const struct counters *counters, uint64_t *value)
{
	uint64_t sum = 0;

	if (counters->reverse && !row->info->has_reverse)
		return RATE_UNKNOWN;
	if (row->live)
		return grown(row, counters, value);
	for (size_t i = 0; i < counters->count; i++)
		sum += peerlane_flow_counter(row->info, counters->list[i]);
	*value = sum;
	return RATE_KNOWN;
}

/* Live, by what was counted in the interval; else the kernel's average. */
static enum rate_state rate_value(const struct flow_row *row,
				  enum flow_column column, uint64_t *value)
{
	enum rate_state state;

	if (!row->live) {
		*value = row->info->rate_bytes;
		return RATE_KNOWN;
	}
	state = grown(row, &sources[column], value);
	if (state == RATE_KNOWN)
		*value = rate_of(0, *value, row->elapsed_ns).per_second;
	return state;
}

static enum rate_state share_value(const struct flow_row *row, uint64_t *value)
{
	uint64_t packets = 0;
	enum rate_state state = counted(row, &sources[FLOW_PACKETS], &packets);

	if (state == RATE_KNOWN)
		state = counted(row, &sources[FLOW_CE], value);
	if (state == RATE_KNOWN)
		*value = rate_share(*value, packets);
	return state;
}

static enum rate_state rtt_value(const struct flow_row *row, uint64_t ns,
				 uint64_t *value)
{
	*value = ns;
	return row->info->rtt.samples ? RATE_KNOWN : RATE_UNKNOWN;
}

enum rate_state flow_value(const struct flow_row *row, enum flow_column column,
			   uint64_t *value)
{
	*value = 0;
	switch (column) {
	case FLOW_RATE:
		return rate_value(row, column, value);
	case FLOW_PACKETS:
		return row->live ? rate_value(row, column, value) :
				   counted(row, &sources[column], value);
	case FLOW_CE:
		return share_value(row, value);
	case FLOW_P50:
		return rtt_value(row, row->info->rtt.p50, value);
	case FLOW_P99:
		return rtt_value(row, row->info->rtt.p99, value);
	default:
		return counted(row, &sources[column], value);
	}
}

/* ---- text --------------------------------------------------------------- */

void flow_end_text(const uint8_t address[16], uint32_t qpn, char to[64])
{
	char text[46];

	peerlane_address_text(address, text);
	if (qpn)
		snprintf(to, 64, "%s#%u", text, qpn);
	else
		snprintf(to, 64, "%s", text);
}

static void process_text(const struct peerlane_flow_qp *qp, char to[FLOW_CELL])
{
	if (!qp->found)
		return;
	if (qp->qp.pid)
		snprintf(to, FLOW_CELL, "%.*s(%d)", (int)sizeof(qp->qp.comm),
			 qp->qp.comm, qp->qp.pid);
	else
		snprintf(to, FLOW_CELL, "%.*s", (int)sizeof(qp->qp.comm),
			 qp->qp.comm);
}

static enum tint word_cell(const struct flow_row *row, enum flow_column column,
			   char to[FLOW_CELL])
{
	const struct peerlane_flow_info *info = row->info;
	enum tint tint = TINT_NONE;

	switch (column) {
	case FLOW_SOURCE:
		flow_end_text(info->key.saddr, info->peer_qpn, to);
		break;
	case FLOW_DESTINATION:
		flow_end_text(info->key.daddr, info->key.qpn, to);
		break;
	case FLOW_TYPE:
		snprintf(to, FLOW_CELL, "%s",
			 peerlane_flow_transport_name(info->key.transport));
		break;
	case FLOW_PROCESS:
		process_text(row->qp, to);
		break;
	case FLOW_STATE:
		if (!info->congested)
			break;
		snprintf(to, FLOW_CELL, "congested");
		tint = TINT_BAD;
		break;
	default:
		snprintf(to, FLOW_CELL, "%.*s", (int)sizeof(info->label),
			 info->label);
	}
	return tint;
}

static void number_text(enum flow_column column, uint64_t value, bool human,
			char to[FLOW_CELL])
{
	if (column == FLOW_CE)
		units_percent(to, value);
	else if (!human)
		snprintf(to, FLOW_CELL, "%ju", (uintmax_t)value);
	else if (column == FLOW_RATE)
		units_bits(to, value);
	else if (column == FLOW_P50 || column == FLOW_P99)
		units_ns(to, value);
	else
		units_si(to, value, "");
}

static enum tint number_tint(enum flow_column column, uint64_t value)
{
	if (!value)
		return TINT_NONE;
	switch (column) {
	case FLOW_CE:
	case FLOW_CNP:
	case FLOW_RNR:
	case FLOW_RETX:
		return TINT_WARN;
	case FLOW_NAK:
	case FLOW_LOST:
		return TINT_BAD;
	default:
		return TINT_NONE;
	}
}

enum tint flow_cell(const struct flow_row *row, enum flow_column column,
		    bool human, char to[FLOW_CELL])
{
	uint64_t value;

	to[0] = '\0';
	if (!titles[column].right)
		return word_cell(row, column, to);
	switch (flow_value(row, column, &value)) {
	case RATE_UNKNOWN:
		return TINT_NONE;
	case RATE_RESET:
		snprintf(to, FLOW_CELL, "reset");
		return TINT_WARN;
	default:
		number_text(column, value, human, to);
		return number_tint(column, value);
	}
}
