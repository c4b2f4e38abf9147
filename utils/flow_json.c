// SPDX-License-Identifier: GPL-2.0
/* A flow as a JSON object: the same keys wherever one is printed. */
#include <string.h>

#include "flow.h"

/* "rate-bytes" as the key "rate_bytes" */
static const char *key_of(uint32_t counter)
{
	static char key[40];
	const char *name = peerlane_flow_counter_name(counter);
	size_t i = 0;

	for (; name[i] && i + 1 < sizeof(key); i++)
		key[i] = name[i] == '-' ? '_' : name[i];
	key[i] = '\0';
	return key;
}

static uint32_t next_counter(uint32_t counter)
{
	return counter + 1 == PEERLANE_COUNTERS ? PEERLANE_COUNT_MISSING :
						  counter + 1;
}

static bool is_reverse(uint32_t counter)
{
	return counter >= PEERLANE_COUNT_REVERSE_PACKETS;
}

static bool is_rtt(uint32_t counter)
{
	return counter == PEERLANE_COUNT_RTT_MAX ||
	       (counter > PEERLANE_COUNT_RTT_SAMPLES &&
		counter < PEERLANE_COUNT_REVERSE_PACKETS);
}

static bool is_known(const struct peerlane_flow_info *info, uint32_t counter)
{
	if (is_reverse(counter))
		return info->has_reverse;
	return !is_rtt(counter) || info->rtt.samples;
}

static void add_counters(struct json_object *object,
			 const struct peerlane_flow_info *info)
{
	for (uint32_t i = 0; i < PEERLANE_COUNTERS_END; i = next_counter(i)) {
		if (is_known(info, i))
			json_number(object, key_of(i),
				    peerlane_flow_counter(info, i));
		else
			json_object_object_add(object, key_of(i), NULL);
	}
}

uint64_t flow_field_value(const void *structure, const struct flow_field *field)
{
	const char *at = (const char *)structure + field->offset;
	uint32_t narrow;
	uint64_t wide;

	if (field->size == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

static void add_address(struct json_object *object, const char *key,
			const uint8_t address[16])
{
	char text[46];

	peerlane_address_text(address, text);
	json_text(object, key, text, sizeof(text));
}

static void add_point(struct json_object *object,
		      const struct peerlane_flow_info *info)
{
	char name[16] = "";

	if (info->ifindex)
		peerlane_netdev_name(info->ifindex, name);
	json_text(object, "point", peerlane_flow_point_name(info->point),
		  SIZE_MAX);
	json_or_null(object, "ifindex", info->ifindex, 0);
	json_text(object, "netdev", name, sizeof(name));
}

static void add_process(struct json_object *object,
			const struct peerlane_flow_qp *qp)
{
	static const struct peerlane_qp_info none;
	const struct peerlane_qp_info *info = qp->found ? &qp->qp : &none;
	const char *end = "";

	if (qp->found)
		end = qp->sender ? "sender" : "receiver";
	json_text(object, "local", end, SIZE_MAX);
	json_text(object, "device", info->device, sizeof(info->device));
	json_or_null(object, "pid", info->pid, 0);
	json_text(object, "comm", info->comm, sizeof(info->comm));
}

/* Buckets with samples; null if none were asked for. */
static struct json_object *histogram_json(const uint32_t *histogram)
{
	struct json_object *array;

	if (!histogram)
		return NULL;
	array = must(json_object_new_array());
	for (uint32_t i = 0; i < PEERLANE_RTT_HISTOGRAM; i++) {
		struct json_object *object;
		uint64_t low;
		uint64_t high;

		if (!histogram[i])
			continue;
		object = must(json_object_new_object());
		peerlane_rtt_bucket(i, &low, &high);
		json_number(object, "low", low);
		if (high == UINT64_MAX)
			json_object_object_add(object, "high", NULL);
		else
			json_number(object, "high", high);
		json_number(object, "samples", histogram[i]);
		json_object_array_add(array, object);
	}
	return array;
}

/* What totals grew by; null where that is not known, as after a reset. */
static struct json_object *since_json(const struct flow_row *row)
{
	struct json_object *object;

	if (!row->live || !row->before)
		return NULL;
	object = must(json_object_new_object());
	for (uint32_t i = 0; i < PEERLANE_COUNTERS_END; i = next_counter(i)) {
		uint64_t delta;

		if (!peerlane_flow_counter_is_total(i))
			continue;
		if (is_known(row->info, i) && is_known(row->before, i) &&
		    peerlane_flow_since(row->info, row->before, i, &delta))
			json_number(object, key_of(i), delta);
		else
			json_object_object_add(object, key_of(i), NULL);
	}
	return object;
}

static void add_flag(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key,
			       must(json_object_new_boolean(value)));
}

struct json_object *flow_json(const struct flow_row *row,
			      const uint32_t *histogram)
{
	struct json_object *object = must(json_object_new_object());
	const struct peerlane_flow_info *info = row->info;

	add_address(object, "saddr", info->key.saddr);
	add_address(object, "daddr", info->key.daddr);
	json_text(object, "transport",
		  peerlane_flow_transport_name(info->key.transport), SIZE_MAX);
	json_number(object, "qpn", info->key.qpn);
	json_or_null(object, "peer_qpn", info->peer_qpn, 0);
	json_text(object, "pairing", peerlane_flow_pairing_name(info->pairing),
		  SIZE_MAX);
	json_text(object, "label", info->label, sizeof(info->label));
	add_point(object, info);
	json_number(object, "sport", info->sport);
	json_number(object, "dscp", info->dscp);
	json_or_null(object, "pmtu", info->pmtu, 0);
	add_flag(object, "congested", info->congested);
	add_process(object, row->qp);
	add_counters(object, info);
	json_object_object_add(object, "histogram", histogram_json(histogram));
	if (row->before && row->live)
		json_number(object, "elapsed", row->elapsed_ns);
	else
		json_object_object_add(object, "elapsed", NULL);
	json_object_object_add(object, "since", since_json(row));
	return object;
}
