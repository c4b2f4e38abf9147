// SPDX-License-Identifier: GPL-2.0
/* Names, counters by number, addresses, histograms. */
#include "lib_fake.h"

static void names(void)
{
	CHECK_STR(peerlane_flow_transport_name(PEERLANE_FLOW_RC), "rc");
	CHECK_STR(peerlane_flow_transport_name(PEERLANE_FLOW_XRC), "xrc");
	CHECK_STR(peerlane_flow_transport_name(7), "vendor7");
	CHECK_STR(peerlane_flow_transport_name(8), "unknown");
	CHECK_STR(peerlane_flow_point_name(PEERLANE_AT_DEVICE), "device");
	CHECK_STR(peerlane_flow_point_name(UINT32_MAX), "unknown");
	CHECK_STR(peerlane_flow_pairing_name(PEERLANE_PAIRED_USER), "user");
	CHECK_STR(peerlane_flow_pairing_name(4), "unknown");
	CHECK_STR(peerlane_event_name(PEERLANE_EVENT_LOST), "lost");
	CHECK_STR(peerlane_event_name(PEERLANE_EVENT_CONGESTION_ON),
		  "congestion-on");
	CHECK_STR(peerlane_event_name(PEERLANE_EVENT_CONGESTION_OFF),
		  "congestion-off");
	CHECK_STR(peerlane_event_name(0), "unknown");
}

static void found_by_name(void)
{
	uint32_t number = 77;

	fake_reset();
	CHECK_INT(peerlane_flow_transport_find("ud", &number), 0);
	CHECK_INT(number, PEERLANE_FLOW_UD);
	CHECK_INT(peerlane_flow_transport_find("u", &number), -EINVAL);
	CHECK_STR(peerlane_strerror(), "no transport \"u\" (EINVAL)");
	CHECK_INT(number, PEERLANE_FLOW_UD);
	CHECK_INT(peerlane_flow_point_find("local-in", &number), 0);
	CHECK_INT(number, PEERLANE_AT_LOCAL_IN);
	CHECK_INT(peerlane_flow_point_find("", &number), -EINVAL);
	CHECK_INT(peerlane_flow_counter_find("rtt-p99", &number), 0);
	CHECK_INT(number, PEERLANE_COUNT_RTT_P99);
	CHECK_INT(peerlane_flow_counter_find("unknown", &number), -EINVAL);
	CHECK_INT(number, PEERLANE_COUNT_RTT_P99);
	fake_finish();
}

/* Each number that has a name is found by it, and reads a place of its own. */
static void counters(void)
{
	struct peerlane_flow_info info;
	uint32_t id, found, named = 0, other, hits;

	for (id = 0; id < PEERLANE_COUNTERS_END + 5; id++) {
		if (!strcmp(peerlane_flow_counter_name(id), "unknown")) {
			CHECK_INT(peerlane_flow_counter(&info, id), 0);
			CHECK(!peerlane_flow_counter_is_total(id));
			CHECK_STR(peerlane_flow_counter_unit(id), "");
			continue;
		}
		named++;
		CHECK_INT(peerlane_flow_counter_find(
				  peerlane_flow_counter_name(id), &found), 0);
		CHECK_INT(found, id);
		CHECK(*peerlane_flow_counter_unit(id));
	}
	CHECK_INT(named, PEERLANE_COUNTERS + 15);
	memset(&info, 0, sizeof(info));
	info.rtt.p50 = 5;
	info.reverse.rnr = 6;
	info.bytes = UINT64_MAX;
	CHECK(peerlane_flow_counter(&info, PEERLANE_COUNT_BYTES) == UINT64_MAX);
	CHECK_INT(peerlane_flow_counter(&info, PEERLANE_COUNT_RTT_P50), 5);
	CHECK_INT(peerlane_flow_counter(&info, PEERLANE_COUNT_REVERSE_RNR), 6);
	for (other = 0, hits = 0; other < PEERLANE_COUNTERS_END; other++)
		hits += peerlane_flow_counter(&info, other) != 0;
	CHECK_INT(hits, 3);
}

static void growth(void)
{
	struct peerlane_flow_info before = { .age = 100, .packets = 10 };
	struct peerlane_flow_info now = { .age = 1100, .packets = 25 };
	uint64_t delta = 99;

	CHECK(peerlane_flow_since(&now, &before, PEERLANE_COUNT_PACKETS,
				  &delta));
	CHECK_INT(delta, 15);
	/* set to zero in between */
	now.packets = 9;
	CHECK(!peerlane_flow_since(&now, &before, PEERLANE_COUNT_PACKETS,
				   &delta));
	/* another flow of the same name */
	now.packets = 25;
	now.age = 99;
	CHECK(!peerlane_flow_since(&now, &before, PEERLANE_COUNT_PACKETS,
				   &delta));
	CHECK_INT(delta, 15);
	now.age = 1100;
	now.packets = UINT64_MAX;
	CHECK(peerlane_flow_since(&now, &before, PEERLANE_COUNT_PACKETS,
				  &delta));
	CHECK(delta == UINT64_MAX - 10);
}

static void addresses(void)
{
	static const char *const good[] = {
		"192.0.2.1", "2001:db8::1", "::", "0.0.0.0", "fe80::1"
	};
	static const char *const bad[] = {
		"", "192.0.2", "192.0.2.256", "2001:db8::1%eth0", "host", "1"
	};
	uint8_t address[16];
	char text[46];
	size_t i;

	fake_reset();
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_INT(peerlane_address_parse(good[i], address), 0);
		peerlane_address_text(address, text);
		CHECK_STR(text, good[i]);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(peerlane_address_parse(bad[i], address), -EINVAL);
	peerlane_address_text(address, text);
	CHECK_STR(text, "fe80::1");
	memset(address, 0xff, sizeof(address));
	peerlane_address_text(address, text);
	CHECK_STR(text, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	fake_finish();
}

static void network_devices(void)
{
	uint32_t index = 0;
	char name[16];

	fake_reset();
	CHECK_INT(peerlane_netdev_index("lo", &index), 0);
	CHECK(index > 0);
	peerlane_netdev_name(index, name);
	CHECK_STR(name, "lo");
	peerlane_netdev_name(4000000000U, name);
	CHECK_STR(name, "4000000000");
	CHECK_INT(peerlane_netdev_index("", &index), -ENODEV);
	CHECK_INT(peerlane_netdev_index("a-name-longer-than-any-has", &index),
		  -ENODEV);
	CHECK_HAS(peerlane_strerror(), "no network device");
	fake_finish();
}

/* Each bucket begins where the one before ends. */
static void buckets(void)
{
	uint64_t low, high, end = 0;
	uint32_t i;

	for (i = 0; i < PEERLANE_RTT_HISTOGRAM; i++) {
		peerlane_rtt_bucket(i, &low, &high);
		CHECK(low == end);
		CHECK(high > low);
		end = high;
	}
	CHECK(end == UINT64_MAX);
	peerlane_rtt_bucket(31, &low, &high);
	CHECK_INT(low, 31 * 64);
	CHECK_INT(high, 2048);
	peerlane_rtt_bucket(32, &low, &high);
	CHECK_INT(low, 2048);
	CHECK_INT(high, 2048 + 128);
	peerlane_rtt_bucket(383, &low, &high);
	CHECK(low == 31ULL << 28);
	peerlane_rtt_bucket(UINT32_MAX, &low, &high);
	CHECK(low == 31ULL << 28);
}

static void percentiles(void)
{
	uint32_t histogram[PEERLANE_RTT_HISTOGRAM] = { 0 };
	uint64_t low, high, value;

	CHECK_INT(peerlane_rtt_percentile(histogram, 500000), 0);
	histogram[10] = 99;
	histogram[100] = 1;
	CHECK_INT(peerlane_rtt_percentile(histogram, 500000), 10 * 64 + 32);
	CHECK_INT(peerlane_rtt_percentile(histogram, 990000), 10 * 64 + 32);
	peerlane_rtt_bucket(100, &low, &high);
	value = peerlane_rtt_percentile(histogram, 990001);
	CHECK(value >= low && value < high);
	CHECK_INT(peerlane_rtt_percentile(histogram, 1000000), value);
	CHECK_INT(peerlane_rtt_percentile(histogram, UINT32_MAX), value);
	CHECK_INT(peerlane_rtt_percentile(histogram, 0), 10 * 64 + 32);
	memset(histogram, 0xff, sizeof(histogram));
	peerlane_rtt_bucket(191, &low, &high);
	value = peerlane_rtt_percentile(histogram, 500000);
	CHECK(value >= low && value < high);
	CHECK(peerlane_rtt_percentile(histogram, 1000000) == 31ULL << 28);
}

static const struct tap_case cases[] = {
	TAP_CASE(names), TAP_CASE(found_by_name), TAP_CASE(counters),
	TAP_CASE(growth), TAP_CASE(addresses), TAP_CASE(network_devices),
	TAP_CASE(buckets), TAP_CASE(percentiles),
};

int main(void)
{
	return TAP_RUN(cases);
}
