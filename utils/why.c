// SPDX-License-Identifier: GPL-2.0
/* peerlane why: all that is known of a group, judged. Pure. */
#include "why.h"

void why_judge(const struct why_facts *facts, struct findings *findings)
{
	why_judge_locals(facts, findings);
	why_judge_lanes(facts, findings);
	why_judge_ranks(facts, findings);
	why_judge_flows(facts, findings);
	why_judge_ports(facts, findings);
	findings_sort(findings);
}
