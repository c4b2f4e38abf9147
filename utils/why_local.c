// SPDX-License-Identifier: GPL-2.0
/* peerlane why: what ranks and ports of this node say themselves. Pure. */
#include <stdlib.h>
#include <string.h>

#include "why.h"

#define WEIGHT_ENDED	400
#define WEIGHT_JOINING	250

/* ---- how it is ------------------------------------------------------------------- */

static struct finding *find_rank(const struct why_local *local, const char *id,
				 enum severity severity,
				 struct findings *findings)
{
	char *subject = format_text("rank %u", local->last.rank);
	struct finding *finding = find(findings, id, severity, subject);

	free(subject);
	finding->rank = local->last.rank;
	return finding;
}

static void tell_ended(const struct why_local *local, struct findings *findings)
{
	const struct peerlane_group_status *last = &local->last;
	struct finding *finding = find_rank(local, "ended", SEVERITY_PROBLEM,
					    findings);
	bool has_text = *last->text;

	/* Not the one that was told of it, but the one whose fault it is */
	finding->rank = last->fault_cause ? last->fault_rank : PEERLANE_NOBODY;
	finding->weight = WEIGHT_ENDED;
	say(finding, "the group ended for it: %.*s",
	    (int)sizeof(last->text), has_text ? last->text : "no reason is known");
	seen(finding, "cause %s, %ju operations done, %ju failed",
	     peerlane_ending_name(last->fault_cause),
	     (uintmax_t)last->ops_done, (uintmax_t)last->ops_failed);
	remedy(finding, "man libpeerlane-group says what each cause means; begin the group anew when that is mended");
}

static void tell_joining(const struct why_local *local,
			 struct findings *findings)
{
	struct finding *finding = find_rank(local, "joining", SEVERITY_PROBLEM,
					    findings);

	finding->rank = PEERLANE_NOBODY;
	finding->weight = WEIGHT_JOINING;
	say(finding, "waits for the others to join, or for an aggregator");
	seen(finding, "state joining, of %u ranks", local->last.ranks);
	remedy(finding, "peerlane group show %ju on the aggregator's node says who is there",
	       (uintmax_t)local->last.group);
}

static void tell_failed(const struct why_local *local,
			struct findings *findings)
{
	struct finding *finding = find_rank(local, "failed", SEVERITY_WARNING,
					    findings);

	finding->weight = 1;
	say(finding, "had operations that failed");
	seen(finding, "%ju failed, %ju done",
	     (uintmax_t)local->last.ops_failed,
	     (uintmax_t)local->last.ops_done);
	remedy(finding, "the process was told the reason of each");
}

static void judge_state(const struct why_local *local,
			struct findings *findings)
{
	const char *state = peerlane_group_state_name(local->last.state);

	if (local->last.status)
		tell_ended(local, findings);
	else if (!strcmp(state, "joining"))
		tell_joining(local, findings);
	else if (local->last.ops_failed)
		tell_failed(local, findings);
}

/* ---- how its memory is reached ------------------------------------------------------- */

bool why_path_bad(const struct why_path *path)
{
	return !strcmp(path->path, "host-bridge") ||
	       !strcmp(path->path, "iommu") || !strcmp(path->path, "none");
}

static void judge_path(const struct why_local *local, struct findings *findings)
{
	const struct why_path *path = &local->path;
	struct finding *finding;

	if (!why_path_bad(path))
		return;
	finding = find_rank(local, "pci-path", SEVERITY_NOTE, findings);
	say(finding, "its memory on %.*s is %s from %.*s",
	    (int)sizeof(path->device), path->device,
	    !strcmp(path->path, "none") ? "not reached" :
	    !strcmp(path->path, "iommu") ? "reached through the IOMMU" :
					   "reached through the host bridge",
	    (int)sizeof(path->nic), path->nic);
	seen(finding, "%.*s", (int)sizeof(path->text), path->text);
	remedy(finding, "a NIC below the same switch, or ACS off there: man peerlane-device, path");
}

void why_judge_locals(const struct why_facts *facts, struct findings *findings)
{
	for (size_t i = 0; i < facts->local_count; i++) {
		judge_state(&facts->locals[i], findings);
		judge_path(&facts->locals[i], findings);
	}
}

/* ---- ports ------------------------------------------------------------------------------ */

/*
 * What a port counts concerns all that use it, so it explains and does not
 * accuse; only what does not work at all is a finding of its own.
 */
void why_judge_ports(const struct why_facts *facts, struct findings *findings)
{
	struct findings all = { 0 };

	for (size_t i = 0; i < facts->ports.port_count; i++) {
		judge_port(&facts->ports.ports[i], &all);
		judge_counters(&facts->ports.ports[i], &all);
	}
	for (size_t i = 0; i < all.count; i++)
		if (all.list[i].severity == SEVERITY_UNKNOWN)
			all.list[i].severity = SEVERITY_OK;
		else if (all.list[i].severity == SEVERITY_WARNING)
			all.list[i].severity = SEVERITY_NOTE;
		else if (all.list[i].severity == SEVERITY_NOTE)
			all.list[i].severity = SEVERITY_OK;
	findings_move(findings, &all, SEVERITY_NOTE);
}
