// SPDX-License-Identifier: GPL-2.0
#include "flow_case.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int sink = -1;

void case_begin(void)
{
	CHECK_INT(roce_namespace(), 0);
	sink = roce_sink();
	CHECK(sink >= 0);
}

void case_begin_observed(void)
{
	case_begin();
	CHECK_INT(peerlane_flow_observe(NULL, true), 0);
	CHECK_STR(peerlane_strerror(), "");
}

void case_end(void)
{
	close(sink);
	roce_done();
}

struct peerlane_flow_key flow_key(uint32_t qpn)
{
	struct peerlane_flow_key key = { .qpn = qpn };

	peerlane_address_parse("127.0.0.1", key.saddr);
	peerlane_address_parse("127.0.0.1", key.daddr);
	return key;
}

struct peerlane_flow_info flow_get(uint32_t qpn)
{
	struct peerlane_flow_key key = flow_key(qpn);
	struct peerlane_flow_info info = { 0 };

	CHECK_INT(peerlane_flow_get(&key, &info, NULL), 0);
	CHECK_STR(peerlane_strerror(), "");
	return info;
}

size_t flow_count(const struct peerlane_flow_filter *filter)
{
	struct peerlane_flow_info *list = NULL;
	bool incomplete = true;
	size_t count = 0;

	CHECK_INT(peerlane_flow_list(filter, &list, &count, &incomplete), 0);
	CHECK_STR(peerlane_strerror(), "");
	CHECK(!incomplete);
	free(list);
	return count;
}

struct roce writes(uint32_t qpn, uint32_t psn)
{
	return (struct roce){ .opcode = ROCE_WRITE_ONLY, .qpn = qpn,
			      .psn = psn };
}

void pause_ms(int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}
