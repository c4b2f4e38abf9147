// SPDX-License-Identifier: GPL-2.0
/*
 * Groups in one process, from many seeds: all operations complete with the right
 * results, and what goes wrong ends the group on all ranks with the right name.
 *
 * group_sim_test SEED WINDOW TROUBLE runs one of them.
 */
#include <stdlib.h>

#include "tap.h"

#include "group_sim.h"

#define SEEDS		60	/* for each window */
#define SEEDS_PLANTED	200

static struct sim sim;

/* How many of them ended with a fault */
static u32 run_all(enum sim_trouble trouble)
{
	u32 seed, window, faults = 0;

	for (window = 1; window <= SIM_WINDOW; window++)
		for (seed = 0; seed < SEEDS; seed++) {
			if (CHECK(sim_run(&sim, seed, window, trouble))) {
				faults += sim.aggregators[0].has_fault;
				continue;
			}
			printf("# seed %u window %u trouble %u: %s\n", seed,
			       window, trouble, sim.wrong);
			return faults;
		}
	return faults;
}

/* A simulation that finds nothing when something is wrong is of no use. */
static void find(enum sim_trouble trouble, const char *what)
{
	u32 seed, found = 0;

	for (seed = 0; seed < SEEDS_PLANTED && !found; seed++)
		if (!sim_run(&sim, seed, 1 + seed % SIM_WINDOW, trouble))
			found++;
	CHECK(found);
	CHECK_HAS(sim.wrong, what);
	printf("# after %u seeds: %s\n", seed, sim.wrong);
}

static void all_operations_complete(void)
{
	CHECK_INT(run_all(SIM_NONE), 0);
}

static void a_rank_that_stops_is_named_late(void)
{
	/* Some stop when all is done. */
	CHECK(run_all(SIM_STOPS) > SEEDS);
}

static void a_rank_with_another_count_is_named(void)
{
	CHECK_INT(run_all(SIM_COUNTS), SEEDS * SIM_WINDOW);
}

static void what_is_said_twice_counts_once(void)
{
	CHECK_INT(run_all(SIM_REPEATS), 0);
}

static void who_goes_beyond_the_window_is_named(void)
{
	CHECK_INT(run_all(SIM_FORGES), SEEDS * SIM_WINDOW);
}

static void who_babbles_is_named(void)
{
	CHECK_INT(run_all(SIM_BABBLES), SEEDS * SIM_WINDOW);
}

static void a_sum_in_order_of_arrival_is_found(void)
{
	find(SIM_SUMS_AS_THEY_COME, "is wrong");
}

static void a_result_one_element_too_far_is_found(void)
{
	find(SIM_PUTS_ONE_TOO_FAR, "is wrong");
}

static void a_place_that_is_read_too_long_is_found(void)
{
	find(SIM_PUTS_FROM_PLACE, "is wrong");
}

static void a_result_that_is_forgotten_is_found(void)
{
	find(SIM_FORGETS_RESULT, "rank ");
}

static void a_result_before_its_data_is_found(void)
{
	find(SIM_OVERTAKES, "is wrong");
}

static void an_own_result_where_others_still_read_is_found(void)
{
	find(SIM_HASTENS, "is wrong");
}

static const struct tap_case cases[] = {
	TAP_CASE(all_operations_complete),
	TAP_CASE(a_rank_that_stops_is_named_late),
	TAP_CASE(a_rank_with_another_count_is_named),
	TAP_CASE(what_is_said_twice_counts_once),
	TAP_CASE(who_goes_beyond_the_window_is_named),
	TAP_CASE(who_babbles_is_named),
	TAP_CASE(a_sum_in_order_of_arrival_is_found),
	TAP_CASE(a_result_one_element_too_far_is_found),
	TAP_CASE(a_place_that_is_read_too_long_is_found),
	TAP_CASE(a_result_that_is_forgotten_is_found),
	TAP_CASE(a_result_before_its_data_is_found),
	TAP_CASE(an_own_result_where_others_still_read_is_found),
};

int main(int count, char **words)
{
	if (count < 4)
		return TAP_RUN(cases);
	sim_run(&sim, strtoul(words[1], NULL, 10),
		(u32)strtoul(words[2], NULL, 10),
		(enum sim_trouble)strtoul(words[3], NULL, 10));
	printf("%s\n", sim.wrong);
	return sim.wrong[0] != 0;
}
