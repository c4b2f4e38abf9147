// SPDX-License-Identifier: GPL-2.0
/* What happened to a rank between two readings of "group top". Pure. */
#include "group_top.h"
#include "lateness.h"
#include "why.h"

/* NULL: there is nothing to compare with. Two aggregators count on their own. */
static const struct peerlane_rank_status *
seen_before(const struct rank_now *now, const struct rank_now *before)
{
	if (!now->is_seen || !before || !before->is_seen ||
	    now->aggregator != before->aggregator)
		return NULL;
	return &before->seen;
}

static void late_figures(struct rank_figures *figures,
			 const struct peerlane_rank_status *now,
			 const struct peerlane_rank_status *before)
{
	static const struct peerlane_rank_status zero;
	const struct why_rank all = why_rank_of(&zero, now);
	const struct why_rank grown = why_rank_of(before ? before : &zero, now);
	const struct why_rank *use = grown.grown.segments ? &grown : &all;

	figures->late_p99 = lateness_percentile(&use->grown, 990000);
	if (!use->grown.segments)
		return;
	figures->wait = use->grown.late_total / use->grown.segments;
	figures->last = (uint32_t)(rate_share(use->grown.last,
					      use->grown.segments) / 100);
}

static void local_figures(struct rank_figures *figures,
			  const struct peerlane_group_status *now,
			  const struct peerlane_group_status *before,
			  uint64_t elapsed_ns)
{
	figures->ops = rate_of(before->ops_done, now->ops_done, elapsed_ns);
	figures->sent = rate_of(before->bytes_sent, now->bytes_sent,
				elapsed_ns);
	figures->received = rate_of(before->bytes_received,
				    now->bytes_received, elapsed_ns);
}

struct rank_figures rank_figures_of(const struct rank_now *now,
				    const struct rank_now *before,
				    uint64_t elapsed_ns)
{
	const struct peerlane_rank_status *seen = seen_before(now, before);
	struct rank_figures figures = { 0 };

	if (now->is_seen)
		late_figures(&figures, &now->seen, seen);
	if (before && now->is_local && before->is_local)
		local_figures(&figures, &now->local, &before->local,
			      elapsed_ns);
	else if (seen)
		figures.sent = rate_of(seen->bytes, now->seen.bytes,
				       elapsed_ns);
	return figures;
}
