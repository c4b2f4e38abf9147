// SPDX-License-Identifier: GPL-2.0
/* Flows by the library: events, devices, and a module that goes. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow_case.h"

/* ---- events --------------------------------------------------------------------- */

static void easily_congested(uint32_t calm_windows)
{
	struct peerlane_flow_limits limits = {
		.threshold_on = 10000, .threshold_off = 5000,
		.calm_windows = calm_windows,
	};

	case_begin_observed();
	CHECK_INT(peerlane_flow_limits_set(&limits), 0);
}

/* Marked packets in two windows, so that the first ends */
static void congest(uint32_t first, uint32_t count)
{
	struct roce packet;
	uint32_t i;

	for (i = 0; i < count; i++) {
		packet = writes(first + i, 0);
		packet.tos = 3;
		roce_send_many(packet, 12);
	}
	pause_ms(1100);
	for (i = 0; i < count; i++) {
		packet = writes(first + i, 12);
		packet.tos = 3;
		roce_send(&packet);
	}
}

static void events(void)
{
	struct peerlane_flow_filter filter = { .congested = true };
	struct peerlane_events *events = NULL, *later = NULL;
	struct peerlane_event event = { 0 };

	easily_congested(4);
	CHECK_INT(peerlane_event_open(true, &events), 0);
	CHECK_INT(peerlane_event_next(events, 0, &event), -EAGAIN);
	congest(1, 1);
	CHECK_INT(peerlane_event_next(events, 10000, &event), 0);
	CHECK_INT(event.kind, PEERLANE_EVENT_CONGESTION_ON);
	CHECK_INT(event.flow.key.qpn, 1);
	CHECK_INT(event.share, 1000000);
	CHECK(!event.resync && event.sequence > 0 && event.time > 0);
	CHECK_INT(flow_count(&filter), 1);
	CHECK_INT(peerlane_event_open(true, &later), 0);
	CHECK_INT(peerlane_event_next(later, 0, &event), 0);
	CHECK(event.resync);
	CHECK_INT(event.kind, PEERLANE_EVENT_CONGESTION_ON);
	CHECK_INT(event.flow.key.qpn, 1);
	peerlane_event_close(later);
	CHECK_INT(peerlane_event_next(events, 30000, &event), 0);
	CHECK_INT(event.kind, PEERLANE_EVENT_CONGESTION_OFF);
	CHECK_INT(event.flow.key.qpn, 1);
	CHECK_INT(flow_count(&filter), 0);
	peerlane_event_close(events);
	case_end();
}

#define FLOOD 100

/* A reader that is too slow: what it is told adds up. */
static void events_lost(void)
{
	struct peerlane_events *events = NULL;
	struct peerlane_event event = { 0 };
	struct peerlane_flow_stats stats = { 0 };
	uint64_t heard = 0, lost = 0, again = 0;
	int small = 1;

	/* They stay so as long as this takes. */
	easily_congested(255);
	CHECK_INT(peerlane_event_open(false, &events), 0);
	CHECK_INT(setsockopt(peerlane_event_fd(events), SOL_SOCKET, SO_RCVBUF,
			     &small, sizeof(small)), 0);
	congest(1, FLOOD);
	pause_ms(300);
	while (!peerlane_event_next(events, 2000, &event)) {
		if (event.kind == PEERLANE_EVENT_LOST)
			lost += event.lost;
		else if (event.resync)
			again++;
		else
			heard++;
	}
	CHECK(heard > 0);
	CHECK(lost > 0);
	CHECK(again > 0);
	CHECK_INT(peerlane_flow_stats(&stats), 0);
	/* On a slow machine the packets of some flows fall into two windows. */
	CHECK(stats.event_sequence >= FLOOD / 2);
	CHECK_INT(heard + lost, stats.event_sequence);
	peerlane_event_close(events);
	case_end();
}

/* ---- devices ---------------------------------------------------------------------- */

static int raw_socket(uint32_t ifindex)
{
	struct sockaddr_ll {
		uint16_t family, protocol;
		int32_t ifindex;
		uint16_t type;
		uint8_t packet_type, length, address[8];
	} at = { .family = AF_PACKET, .ifindex = (int32_t)ifindex };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (void *)&at, sizeof(at))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* To a hardware address that nobody here has, as a mirror port gets it */
static size_t frame(uint8_t *data, const struct roce *packet)
{
	static const uint8_t head[14 + 20] = {
		2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0,
		0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0,
		10, 9, 0, 1, 10, 9, 0, 2
	};
	size_t size;

	memcpy(data, head, sizeof(head));
	size = roce_bytes(packet, data + sizeof(head)) + 20;
	data[16] = (uint8_t)(size >> 8);
	data[17] = (uint8_t)size;
	return size + 14;
}

static void mirror(void)
{
	struct peerlane_flow_filter filter = { 0 };
	struct peerlane_flow_info *list = NULL;
	struct roce packet = writes(6, 0);
	uint32_t out = 0;
	uint8_t data[256];
	size_t count = 0, size;
	int fd, i;

	case_begin();
	CHECK_INT(system("ip link add pl0 type veth peer name pl1 && ip link set pl0 up && ip link set pl1 up"),
		  0);
	CHECK_INT(peerlane_netdev_index("pl0", &out), 0);
	CHECK_INT(peerlane_netdev_index("pl1", &filter.ifindex), 0);
	CHECK_INT(peerlane_flow_observe("pl1", true), 0);
	fd = raw_socket(out);
	CHECK(fd >= 0);
	for (i = 0; i < 9; i++) {
		packet.psn = (uint32_t)i;
		size = frame(data, &packet);
		CHECK_INT(write(fd, data, size), size);
	}
	close(fd);
	pause_ms(200);
	CHECK_INT(peerlane_flow_list(&filter, &list, &count, NULL), 0);
	if (CHECK(count == 1)) {
		CHECK_INT(list[0].packets, 9);
		CHECK_INT(list[0].point, PEERLANE_AT_DEVICE);
		CHECK_INT(list[0].ifindex, filter.ifindex);
	}
	free(list);
	/* The device goes, its flow stays. */
	CHECK_INT(system("ip link del pl0"), 0);
	CHECK_INT(flow_count(NULL), 1);
	CHECK_INT(peerlane_flow_observe("pl1", false), -ENODEV);
	case_end();
}

static void nothing_of_this_host(void)
{
	struct peerlane_flow_info *list = NULL;
	struct peerlane_tcp_flow *tcp = NULL;
	struct peerlane_flow_qp qp = { .found = true };
	size_t count = 0, paired = 9;

	case_begin_observed();
	CHECK_INT(roce_send_many(writes(1, 0), 1), 0);
	CHECK_INT(peerlane_flow_list(NULL, &list, &count, NULL), 0);
	CHECK_INT(count, 1);
	CHECK_INT(peerlane_flow_join(list, count, &qp), 0);
	CHECK(!qp.found);
	free(list);
	CHECK_INT(peerlane_flow_pair_local(&paired), 0);
	CHECK_INT(paired, 0);
	CHECK_INT(peerlane_flow_tcp(&tcp, &count), 0);
	free(tcp);
	case_end();
}

/* It is taken out while somebody waits for events, and comes again. */
static void module_goes(void)
{
	struct peerlane_events *events = NULL;
	struct peerlane_flow_stats stats;
	struct peerlane_event event;

	case_begin_observed();
	CHECK_INT(peerlane_event_open(false, &events), 0);
	CHECK_INT(system("rmmod peerlane"), 0);
	CHECK_INT(peerlane_event_next(events, 10000, &event), -ENODEV);
	CHECK_HAS(peerlane_strerror(), "was unloaded");
	CHECK_INT(peerlane_flow_stats(&stats), -ENOENT);
	CHECK_HAS(peerlane_strerror(), "not loaded");
	CHECK_INT(peerlane_flow_list(NULL, NULL, NULL, NULL), -ENOENT);
	CHECK_INT(system("insmod $RIG_MODULE $RIG_PARAMS"), 0);
	CHECK_INT(peerlane_event_next(events, 0, &event), -ENODEV);
	peerlane_event_close(events);
	CHECK_INT(peerlane_flow_stats(&stats), 0);
	CHECK_INT(flow_count(NULL), 0);
	case_end();
}

static const struct tap_case cases[] = {
	TAP_CASE(events), TAP_CASE(events_lost), TAP_CASE(mirror),
	TAP_CASE(nothing_of_this_host), TAP_CASE(module_goes),
};

int main(void)
{
	return TAP_RUN(cases);
}
