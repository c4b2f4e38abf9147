/* SPDX-License-Identifier: GPL-2.0 */
/* A group of four ranks, of which a test of peerlane why makes what it wants. */
#ifndef UTILS_WHY_MAKE_H
#define UTILS_WHY_MAKE_H

#include "tap.h"

#include "../../utils/why.h"

struct options options;

/* There are no ports here. */
const char *peerlane_port_state_name(uint32_t state)
{
	(void)state;
	return "";
}

#define MS	UINT64_C(1000000)

static struct why_rank ranks[4];
static struct why_seen views[1];
static struct why_local locals[2];
static struct findings findings;

/* As late as that to each of so many segments */
static void arrive(uint32_t rank, uint64_t segments, uint64_t late)
{
	struct peerlane_rank_status zero = { 0 };
	struct peerlane_rank_status last = {
		.rank = rank, .is_there = true, .segments = segments,
		.late_total = segments * late, .late_max = 2 * late,
	};
	uint32_t bucket = 0;

	while (late >> (bucket + 1))
		bucket++;
	last.late[bucket] = (uint32_t)segments;
	snprintf(last.peer, sizeof(last.peer), "10.0.0.%u:4000", rank + 1);
	ranks[rank] = why_rank_of(&zero, &last);
	ranks[rank].has_address = true;
	ranks[rank].address[10] = 0xff;
	ranks[rank].address[11] = 0xff;
	ranks[rank].address[12] = 10;
	ranks[rank].address[15] = (uint8_t)(rank + 1);
}

/* 1000 segments of each rank, hardly late, in two seconds */
static struct why_facts group(size_t count)
{
	struct why_facts facts = {
		.group = 77, .seconds = 2, .seen = views, .seen_count = 1,
		.points = 2,
	};

	memset(ranks, 0, sizeof(ranks));
	memset(locals, 0, sizeof(locals));
	views[0] = (struct why_seen){ .aggregator = 5, .ranks = ranks,
				     .count = count };
	for (uint32_t i = 0; i < count; i++)
		arrive(i, 1000, 10000 * (i + 1));
	return facts;
}

static void judge(const struct why_facts *facts)
{
	findings_free(&findings);
	why_judge(facts, &findings);
}

static const struct finding *found(const char *id, uint32_t rank)
{
	for (size_t i = 0; i < findings.count; i++)
		if (!strcmp(findings.list[i].id, id) &&
		    findings.list[i].rank == rank)
			return &findings.list[i];
	return NULL;
}

static inline size_t bad(void)
{
	return findings_of(&findings, SEVERITY_PROBLEM) +
	       findings_of(&findings, SEVERITY_WARNING);
}

/* The only thing that is wrong */
static inline const struct finding *only(const char *id, uint32_t rank)
{
	const struct finding *finding = found(id, rank);

	if (CHECK(finding && bad() == 1))
		return finding;
	for (size_t i = 0; i < findings.count; i++)
		printf("# %s %s: %s\n", findings.list[i].id,
		       findings.list[i].subject, findings.list[i].message);
	return finding ? finding : &(const struct finding){
		.message = "", .seen = "", .remedy = "",
	};
}

static inline struct peerlane_flow_info flow(const char *label, uint8_t from,
					     uint8_t to)
{
	struct peerlane_flow_info info = {
		.point = PEERLANE_AT_LOCAL_IN, .packets = 10000,
		.key.saddr = { [10] = 0xff, 0xff, 10, 0, 0, from },
		.key.daddr = { [10] = 0xff, 0xff, 10, 0, 0, to },
	};

	snprintf(info.label, sizeof(info.label), "%s", label);
	return info;
}

#endif /* UTILS_WHY_MAKE_H */
