// SPDX-License-Identifier: GPL-2.0
/* Facts for peerlane why, all from the library. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow.h"
#include "group.h"
#include "why.h"

/* What is read twice, before and after the interval */
struct look {
	struct peerlane_group_status *locals;
	size_t local_count;
	struct peerlane_lane_status *lanes;	/* of all ranks */
	size_t lane_count;
	struct group_sight sight;
	struct peerlane_flow_info *flows;
	size_t flow_count;
	int flow_error;
	char *no_flows;
	uint64_t when;
};

/* ---- one look ------------------------------------------------------------------- */

static int read_locals(uint64_t group, struct look *look)
{
	int error = peerlane_group_list(&look->locals, &look->local_count);
	size_t kept = 0;

	if (error)
		return error;
	for (size_t i = 0; i < look->local_count; i++)
		if (look->locals[i].group == group)
			look->locals[kept++] = look->locals[i];
	look->local_count = kept;
	return peerlane_lane_list(&look->lanes, &look->lane_count);
}

/* Without flows the rest is still worth telling. */
static void read_flows(struct look *look)
{
	bool incomplete;

	look->flow_error = peerlane_flow_list(NULL, &look->flows,
					      &look->flow_count, &incomplete);
	if (!look->flow_error)
		return;
	look->no_flows = library_reason(look->flow_error);
	look->flows = NULL;
	look->flow_count = 0;
}

static int look_at(uint64_t group, bool aloud, struct look *look)
{
	int error;

	*look = (struct look){ 0 };
	error = read_locals(group, look);
	if (!error)
		error = group_look(group, aloud, &look->sight);
	if (error)
		return error;
	look->when = monotonic_ns();
	read_flows(look);
	return 0;
}

static void look_free(struct look *look)
{
	group_sight_free(&look->sight);
	free(look->locals);
	free(look->lanes);
	free(look->flows);
	free(look->no_flows);
}

/* ---- ranks as an aggregator sees them ---------------------------------------------- */

/* "10.0.0.1:40001" or "[fe80::1%eth0]:40001" */
static bool address_of(const char *peer, uint8_t address[16])
{
	char text[PEERLANE_PEER_TEXT];
	size_t length;

	snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1,
		 peer + (*peer == '['));
	length = *peer == '[' ? strcspn(text, "%]") : strcspn(text, ":");
	text[length] = '\0';
	return !peerlane_address_parse(text, address);
}

static const struct peerlane_rank_status *
rank_before(const struct group_sight *before, uint64_t aggregator, uint32_t rank)
{
	static const struct peerlane_rank_status zero;

	for (size_t i = 0; i < before->count; i++) {
		const struct group_seen *seen = &before->list[i];

		if (seen->aggregator.id != aggregator)
			continue;
		for (size_t k = 0; k < seen->count; k++)
			if (seen->ranks[k].rank == rank)
				return &seen->ranks[k];
	}
	return &zero;
}

static void take_seen(struct why_seen *to, const struct group_seen *seen,
		      const struct group_sight *before)
{
	uint64_t most = 0;

	to->aggregator = seen->aggregator.id;
	to->count = seen->count;
	to->ranks = must(calloc(seen->count + 1, sizeof(*to->ranks)));
	for (size_t i = 0; i < seen->count; i++) {
		const struct peerlane_rank_status *last = &seen->ranks[i];
		const struct peerlane_rank_status *first =
			rank_before(before, to->aggregator, last->rank);
		struct why_rank *rank = &to->ranks[i];

		*rank = why_rank_of(first, last);
		rank->has_address = address_of(last->peer, rank->address);
		rank->was_behind = first->segments;
		if (first->segments > most)
			most = first->segments;
	}
	for (size_t i = 0; i < to->count; i++)
		to->ranks[i].was_behind = most - to->ranks[i].was_behind;
}

static void take_sight(struct why_facts *facts, const struct group_sight *sight,
		       const struct group_sight *before)
{
	facts->refused = sight->refused;
	facts->seen = must(calloc(sight->count + 1, sizeof(*facts->seen)));
	for (size_t i = 0; i < sight->count; i++)
		take_seen(&facts->seen[facts->seen_count++], &sight->list[i],
			  before);
}

/* ---- ranks of this node -------------------------------------------------------------- */

static uint64_t ops_before(const struct look *before, uint64_t id)
{
	for (size_t i = 0; i < before->local_count; i++)
		if (before->locals[i].id == id)
			return before->locals[i].ops_done;
	return 0;
}

static uint64_t messages_before(const struct look *before,
				const struct peerlane_lane_status *lane)
{
	for (size_t i = 0; i < before->lane_count; i++) {
		const struct peerlane_lane_status *first = &before->lanes[i];

		if (first->id == lane->id && first->qpn == lane->qpn)
			return first->messages;
	}
	return 0;
}

static void take_lanes(struct why_local *local, const struct look *look,
		       const struct look *before)
{
	local->lanes = must(calloc(look->lane_count + 1, sizeof(*local->lanes)));
	for (size_t i = 0; i < look->lane_count; i++) {
		const struct peerlane_lane_status *lane = &look->lanes[i];
		struct why_lane *to = &local->lanes[local->lane_count];

		if (lane->id != local->last.id)
			continue;
		to->last = *lane;
		to->messages = lane->messages - messages_before(before, lane);
		local->lane_count++;
	}
}

static void take_locals(struct why_facts *facts, const struct look *look,
			const struct look *before)
{
	facts->locals = must(calloc(look->local_count + 1,
				    sizeof(*facts->locals)));
	for (size_t i = 0; i < look->local_count; i++) {
		struct why_local *local = &facts->locals[facts->local_count++];

		local->last = look->locals[i];
		local->ops = local->last.ops_done -
			     ops_before(before, local->last.id);
		take_lanes(local, look, before);
	}
}

/* ---- PCI paths ----------------------------------------------------------------------- */

/* How bad a way is: further down is worse */
static int badness(const char *path)
{
	static const char *const names[] = {
		"switch", "root-port", "unknown", "host-bridge", "iommu", "none",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(path, names[i]))
			return (int)i;
	return -1;
}

static void ask_path(const char *device, const struct peerlane_port_info *port,
		     struct why_path *path)
{
	struct peerlane_preflight_info info = { 0 };
	int error = peerlane_preflight(device, port->pci, &info);

	*path = (struct why_path){ 0 };
	if (error && error != -EREMOTEIO)
		return;
	snprintf(path->device, sizeof(path->device), "%s", device);
	snprintf(path->nic, sizeof(path->nic), "%s", port->device);
	snprintf(path->path, sizeof(path->path), "%s",
		 error ? "none" : peerlane_path_name(info.path));
	snprintf(path->text, sizeof(path->text), "%s",
		 error ? peerlane_strerror() : info.text);
}

/* Which NIC is used is not known; the nearest one is what could be. */
static void nearest(const struct facts *ports, const char *device,
		    struct why_path *best)
{
	struct why_path path;

	for (size_t i = 0; i < ports->port_count; i++) {
		const struct peerlane_port_info *port = &ports->ports[i].info;

		if (!*port->pci || port->software)
			continue;
		ask_path(device, port, &path);
		if (*path.path && (!*best->path ||
				   badness(path.path) < badness(best->path)))
			*best = path;
	}
}

static void take_path(const struct facts *ports, struct why_local *local,
		      const struct peerlane_region_info *region)
{
	struct why_path path = { 0 };
	char device[sizeof(region->device) + 1];

	if (region->pid != local->last.pid || !*region->device)
		return;
	snprintf(device, sizeof(device), "%.*s", (int)sizeof(region->device),
		 region->device);
	nearest(ports, device, &path);
	if (*path.path && badness(path.path) > badness(local->path.path))
		local->path = path;
}

static void take_paths(struct why_facts *facts)
{
	struct peerlane_region_info *regions = NULL;
	size_t count = 0;

	if (!facts->local_count || peerlane_region_list(&regions, &count))
		return;
	for (size_t i = 0; i < facts->local_count; i++)
		for (size_t k = 0; k < count && facts->locals[i].last.pid > 0; k++)
			take_path(&facts->ports, &facts->locals[i], &regions[k]);
	free(regions);
}

/* ---- flows ------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
	const struct peerlane_flow_info *one = a;
	const struct peerlane_flow_info *other = b;

	return flow_key_compare(&one->key, &other->key);
}

static void take_flows(struct why_facts *facts, const struct look *look,
		       struct look *before)
{
	struct peerlane_flow_point *points = NULL;

	if (!peerlane_flow_points(&points, &facts->points))
		free(points);
	if (before->flow_count)
		qsort(before->flows, before->flow_count,
		      sizeof(*before->flows), by_key);
	for (size_t i = 0; i < look->flow_count; i++) {
		const struct peerlane_flow_info *now = &look->flows[i];
		const struct peerlane_flow_info *was = NULL;

		if (before->flow_count)
			was = bsearch(now, before->flows, before->flow_count,
				      sizeof(*before->flows), by_key);
		why_take_flow(facts, now, was);
	}
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void wait_until(uint64_t end)
{
	const struct timespec time = {
		.tv_sec = (time_t)(end / 1000000000),
		.tv_nsec = (long)(end % 1000000000),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) ==
	       EINTR)
		;
}

static void take_all(struct why_facts *facts, struct look *before,
		     struct look *look)
{
	static const struct group_sight never;

	struct timespec now = { 0 };

	clock_gettime(CLOCK_BOOTTIME, &now);
	facts->now = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	facts->seconds = before ?
		(double)(look->when - before->when) / 1e9 : 0;
	take_sight(facts, &look->sight, before ? &before->sight : &never);
	take_locals(facts, look, before ? before : &(struct look){ 0 });
	take_flows(facts, look, before ? before : &(struct look){ 0 });
	take_paths(facts);
	facts->no_flows = look->no_flows;
	look->no_flows = NULL;
}

/* Ports are sampled at both ends of the interval, which passes meanwhile. */
static int read_twice(double interval, struct why_facts *facts,
		      struct look *before)
{
	const struct request request = { .interval = interval };
	struct look look = { 0 };
	int error = facts_read(&request, &facts->ports);

	if (error)
		return error;
	wait_until(before->when + (uint64_t)(interval * 1e9));
	error = look_at(facts->group, false, &look);
	if (!error)
		take_all(facts, before, &look);
	look_free(&look);
	return error;
}

int why_read(uint64_t group, double interval, struct why_facts *facts)
{
	const struct request once = { 0 };
	struct look look = { 0 };
	int error = look_at(group, true, &look);

	*facts = (struct why_facts){ .group = group };
	if (!error && interval > 0 && look.local_count + look.sight.count) {
		error = read_twice(interval, facts, &look);
	} else if (!error) {
		error = facts_read(&once, &facts->ports);
		if (!error)
			take_all(facts, NULL, &look);
	}
	look_free(&look);
	return error;
}

void why_free(struct why_facts *facts)
{
	for (size_t i = 0; i < facts->seen_count; i++)
		free(facts->seen[i].ranks);
	free(facts->seen);
	for (size_t i = 0; i < facts->local_count; i++)
		free(facts->locals[i].lanes);
	free(facts->locals);
	free(facts->no_flows);
	facts_free(&facts->ports);
}
