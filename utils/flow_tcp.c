// SPDX-License-Identifier: GPL-2.0
/* peerlane flow tcp: connections of iWARP, which runs over TCP. */
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "units.h"

#define NUMBER(member) FLOW_FIELD(peerlane_tcp_flow, member)

static const struct flow_field numbers[] = {
	NUMBER(state),
	NUMBER(mss),
	NUMBER(cwnd),
	NUMBER(unacked),
	NUMBER(lost),
	NUMBER(reordering),
	NUMBER(srtt),
	NUMBER(rttvar),
	NUMBER(min_rtt),
	NUMBER(bytes_sent),
	NUMBER(bytes_retransmitted),
	NUMBER(bytes_acked),
	NUMBER(bytes_received),
	NUMBER(segments_out),
	NUMBER(segments_in),
	NUMBER(retransmitted),
	NUMBER(delivered),
	NUMBER(delivered_ce),
	NUMBER(reordered),
	NUMBER(pacing_rate),
	NUMBER(delivery_rate),
};

static void end_text(const uint8_t address[16], uint16_t port, char to[64])
{
	char text[46];

	peerlane_address_text(address, text);
	snprintf(to, 64, strchr(text, ':') ? "[%s]:%u" : "%s:%u", text, port);
}

/* What TCP knows is null where the device does TCP itself. */
static void add_number(struct json_object *object, const char *key, bool known,
		       uint64_t value)
{
	if (known)
		json_number(object, key, value);
	else
		json_object_object_add(object, key, NULL);
}

static struct json_object *tcp_json(const struct peerlane_tcp_flow *flow)
{
	struct json_object *object = must(json_object_new_object());
	char text[46];

	peerlane_address_text(flow->saddr, text);
	json_text(object, "saddr", text, sizeof(text));
	json_number(object, "sport", flow->sport);
	peerlane_address_text(flow->daddr, text);
	json_text(object, "daddr", text, sizeof(text));
	json_number(object, "dport", flow->dport);
	json_text(object, "device", flow->device, sizeof(flow->device));
	json_or_null(object, "lqpn", flow->lqpn, 0);
	json_or_null(object, "pid", flow->pid, 0);
	json_text(object, "comm", flow->comm, sizeof(flow->comm));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		add_number(object, numbers[i].name, flow->has_tcp,
			   flow_field_value(flow, &numbers[i]));
	return object;
}

static void print_json(const struct peerlane_tcp_flow *list, size_t count)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, tcp_json(&list[i]));
	json_print(stdout, array, options.pretty);
}

static void number_cell(struct table *table, bool known, enum tint tint,
			uint64_t value)
{
	if (known)
		table_cell(table, value ? tint : TINT_NONE, "%ju",
			   (uintmax_t)value);
	else
		table_cell(table, TINT_NONE, "%s", "");
}

static void time_cell(struct table *table, bool known, uint64_t ns)
{
	char text[UNITS_ROOM];

	if (!known || !options.human) {
		number_cell(table, known, TINT_NONE, ns);
		return;
	}
	units_ns(text, ns);
	table_cell(table, TINT_NONE, "%s", text);
}

static void rate_cell(struct table *table, bool known, uint64_t rate)
{
	char text[UNITS_ROOM];

	if (!known || !options.human) {
		number_cell(table, known, TINT_NONE, rate);
		return;
	}
	units_bits(text, rate);
	table_cell(table, TINT_NONE, "%s", text);
}

static void process_cell(struct table *table,
			 const struct peerlane_tcp_flow *flow)
{
	if (flow->pid)
		table_cell(table, TINT_NONE, "%.*s(%d)", (int)sizeof(flow->comm),
			   flow->comm, flow->pid);
	else
		table_cell(table, TINT_NONE, "%.*s", (int)sizeof(flow->comm),
			   flow->comm);
}

static void tcp_row(struct table *table, const struct peerlane_tcp_flow *flow)
{
	bool known = flow->has_tcp;
	char text[64];

	end_text(flow->saddr, flow->sport, text);
	table_cell(table, TINT_BOLD, "%s", text);
	end_text(flow->daddr, flow->dport, text);
	table_cell(table, TINT_BOLD, "%s", text);
	table_cell(table, TINT_NONE, "%.*s", (int)sizeof(flow->device),
		   flow->device);
	process_cell(table, flow);
	rate_cell(table, known, flow->delivery_rate);
	number_cell(table, known, TINT_NONE, flow->delivered);
	number_cell(table, known, TINT_WARN, flow->delivered_ce);
	number_cell(table, known, TINT_WARN, flow->retransmitted);
	number_cell(table, known, TINT_BAD, flow->lost);
	number_cell(table, known, TINT_NONE, flow->reordered);
	number_cell(table, known, TINT_NONE, flow->cwnd);
	time_cell(table, known, flow->srtt);
	time_cell(table, known, flow->min_rtt);
}

static void print_table(const struct peerlane_tcp_flow *list, size_t count)
{
	static const struct column columns[] = {
		{ "SOURCE", false }, { "DESTINATION", false },
		{ "DEVICE", false }, { "PROCESS", false }, { "RATE", true },
		{ "DELIVERED", true }, { "CE", true }, { "RETX", true },
		{ "LOST", true }, { "REORDERED", true }, { "CWND", true },
		{ "RTT", true }, { "MIN-RTT", true },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < count; i++)
		tcp_row(table, &list[i]);
	if (count)
		table_print(table);
	table_free(table);
}

int flow_tcp(int argc, char **argv)
{
	struct peerlane_tcp_flow *list = NULL;
	size_t count = 0;
	int error;

	if (argc)
		return usage_error("flow tcp takes no argument, got \"%s\"",
				   argv[0]);
	error = peerlane_flow_tcp(&list, &count);
	if (error)
		return library_error(error);
	if (options.json)
		print_json(list, count);
	else
		print_table(list, count);
	free(list);
	return STATUS_OK;
}
