// SPDX-License-Identifier: GPL-2.0
/* peerlane why: whose flows are whose, and what they say of a rank. */
#include "tap.h"

#include <stdlib.h>

#include "utils_why_make.h"

/* ---- what they say of a late rank ------------------------------------------------------- */

static void its_flow_is_told(void)
{
	struct peerlane_flow_info info = flow("aggregator 5", 4, 9);
	struct why_facts facts = group(4);
	const struct finding *finding;

	arrive(3, 1000, 4 * MS);
	info.ce = 200;
	info.retransmitted = 31;
	why_take_flow(&facts, &info, NULL);
	judge(&facts);
	finding = found("late", 3);
	if (!CHECK(finding))
		return;
	CHECK_HAS(finding->message, "; its flow to aggregator 5 has 2.00% CE marks, 31 packets sent again");
	CHECK_HAS(finding->remedy, "switches");
	CHECK(found("flow", 3));
	CHECK(!found("flows-seen", PEERLANE_NOBODY));
}

static void a_clean_flow_acquits_the_network(void)
{
	struct peerlane_flow_info info = flow("aggregator 5", 4, 9);
	struct why_facts facts = group(4);
	const struct finding *finding;

	arrive(3, 1000, 4 * MS);
	why_take_flow(&facts, &info, NULL);
	judge(&facts);
	finding = only("late", 3);
	CHECK_HAS(finding->message, "is clean");
	CHECK_HAS(finding->remedy, "not the network");
}

/* It is known still, and had no packet in the interval. */
static void an_idle_flow_acquits_nobody(void)
{
	struct peerlane_flow_info info = flow("aggregator 5", 4, 9);
	struct why_facts facts = group(4);

	arrive(3, 1000, 4 * MS);
	why_take_flow(&facts, &info, &info);
	CHECK_INT(ranks[3].to.flows, 0);
	judge(&facts);
	CHECK_HAS(only("late", 3)->message, "no packets from it were observed");
	CHECK_HAS(only("late", 3)->remedy, "is it the network, or");
	if (CHECK(found("flows-seen", PEERLANE_NOBODY)))
		CHECK_HAS(found("flows-seen", PEERLANE_NOBODY)->seen, "had a packet");
}

/* Segments go the other way. */
static void clean_results_acquit_nobody(void)
{
	struct peerlane_flow_info info = flow("aggregator 5", 9, 4);
	struct why_facts facts = group(4);

	arrive(3, 1000, 4 * MS);
	why_take_flow(&facts, &info, NULL);
	judge(&facts);
	CHECK_HAS(only("late", 3)->message, "no packets from it were observed");
	CHECK(!found("flows-seen", PEERLANE_NOBODY));
}

static void results_are_flows_too(void)
{
	struct peerlane_flow_info info = flow("aggregator 5", 9, 4);
	struct why_facts facts = group(4);

	arrive(3, 1000, 4 * MS);
	info.ce = 500;
	why_take_flow(&facts, &info, NULL);
	judge(&facts);
	if (CHECK(found("late", 3)))
		CHECK_HAS(found("late", 3)->message, "its flow from aggregator 5 has 5.00% CE marks");
}

static void others_flows_are_not_its(void)
{
	static const char *const labels[] = {
		"", "aggregator 55", "aggregator", "aggregator 6", "train",
	};
	struct why_facts facts = group(4);
	struct peerlane_flow_info info;

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		info = flow(labels[i], 4, 9);
		info.ce = 5000;
		why_take_flow(&facts, &info, NULL);
	}
	info = flow("aggregator 5", 99, 98);
	why_take_flow(&facts, &info, NULL);
	judge(&facts);
	CHECK_INT(bad(), 0);
	CHECK(found("flows-seen", PEERLANE_NOBODY));
}

static void a_node_with_two_ranks(void)
{
	struct peerlane_flow_info info = flow("aggregator 5", 4, 9);
	struct why_facts facts = group(4);

	arrive(3, 1000, 4 * MS);
	ranks[2].address[15] = 4;
	info.ce = 500;
	why_take_flow(&facts, &info, NULL);
	judge(&facts);
	if (CHECK(found("late", 3)))
		CHECK_HAS(found("late", 3)->message, "; its node's flow to");
	CHECK(!found("late", 2));
}

static void a_label_is_the_better_witness(void)
{
	struct peerlane_flow_info info = flow("rank 3 group 1", 4, 9);
	struct why_facts facts = group(4);

	facts.locals = locals;
	facts.local_count = 1;
	locals[0].last.rank = 3;
	strcpy(locals[0].last.label, "rank 3 group 1");
	strcpy(locals[0].path.device, "gpu0");
	strcpy(locals[0].path.nic, "mlx5_0");
	strcpy(locals[0].path.path, "host-bridge");
	info.point = PEERLANE_AT_LOCAL_OUT;
	info.retransmitted = 300;
	why_take_flow(&facts, &info, NULL);
	CHECK_INT(locals[0].to.flows, 1);
	CHECK_INT(ranks[3].to.flows, 0);
	arrive(3, 1000, 40 * MS);
	judge(&facts);
	if (CHECK(found("late", 3)))
		CHECK_HAS(found("late", 3)->message, "300 packets sent again; its PCIe path from gpu0 to mlx5_0 crosses the host bridge");
}

/* Two ranks have it: whose flows it is of is not known. */
static void a_label_of_two_ranks(void)
{
	struct peerlane_flow_info info = flow("train", 4, 9);
	struct why_facts facts = group(4);

	facts.locals = locals;
	facts.local_count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		locals[i].last.rank = 2 + i;
		strcpy(locals[i].last.label, "train");
	}
	CHECK_INT(why_namesakes(&facts, &locals[0]), 2);
	info.point = PEERLANE_AT_LOCAL_OUT;
	info.retransmitted = 300;
	why_take_flow(&facts, &info, NULL);
	arrive(3, 1000, 40 * MS);
	judge(&facts);
	if (CHECK(found("late", 3)))
		CHECK_HAS(found("late", 3)->message, "; the flows of its label to aggregator 5 have 300 packets sent again");
	if (CHECK(found("flow", 2)))
		CHECK_HAS(found("flow", 2)->message, "the flows of its label to the aggregators lose time");
	/* each its own */
	strcpy(locals[0].last.label, "train 2");
	CHECK_INT(why_namesakes(&facts, &locals[0]), 1);
	locals[0].last.label[0] = locals[1].last.label[0] = '\0';
	CHECK_INT(why_namesakes(&facts, &locals[0]), 1);
}

static void growth_of_flows(void)
{
	struct peerlane_flow_info before = flow("aggregator 5", 4, 9), now;
	struct why_facts facts = group(4);

	before.ce = 9000;
	now = before;
	now.packets += 10000;
	why_take_flow(&facts, &now, &before);
	CHECK_INT(ranks[3].to.packets, 10000);
	CHECK_INT(ranks[3].to.ce, 0);
}

static void a_little_loss_is_no_matter(void)
{
	struct why_flow few = { .flows = 1, .packets = 100, .retransmitted = 2 };
	struct why_flow rare = { .flows = 1, .packets = 100000,
				 .retransmitted = 50, .ce = 999 };
	struct why_flow none = { .flows = 1, .ce = 5 };

	CHECK(!why_flow_bad(&few) && !why_flow_bad(&rare));
	CHECK(!why_flow_bad(&none));
	few.retransmitted = 3;
	rare.ce = 1000;
	CHECK(why_flow_bad(&few) && why_flow_bad(&rare));
}

static void a_few_marks_are_no_matter(void)
{
	struct why_flow few = { .flows = 1, .packets = 50, .ce = 1 };
	struct why_flow odd = { .flows = 1, .packets = 399, .ce = 3 };
	struct why_flow most = { .flows = 1, .packets = UINT64_MAX,
				 .ce = UINT64_MAX / 100 };

	CHECK(!why_flow_bad(&few) && !why_flow_bad(&odd));
	CHECK(!why_flow_bad(&most));
	few.ce = 2;
	CHECK(!why_flow_bad(&few));
	few.ce = 3;
	odd.ce = 4;
	most.ce++;
	CHECK(why_flow_bad(&few) && why_flow_bad(&odd));
	CHECK(why_flow_bad(&most));
}

static const struct tap_case cases[] = {
	TAP_CASE(its_flow_is_told), TAP_CASE(a_clean_flow_acquits_the_network),
	TAP_CASE(an_idle_flow_acquits_nobody),
	TAP_CASE(clean_results_acquit_nobody),
	TAP_CASE(results_are_flows_too), TAP_CASE(others_flows_are_not_its),
	TAP_CASE(a_node_with_two_ranks), TAP_CASE(a_label_is_the_better_witness),
	TAP_CASE(a_label_of_two_ranks),
	TAP_CASE(growth_of_flows), TAP_CASE(a_little_loss_is_no_matter),
	TAP_CASE(a_few_marks_are_no_matter),
};

int main(void)
{
	int status = TAP_RUN(cases);

	findings_free(&findings);
	return status;
}
