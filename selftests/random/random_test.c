// SPDX-License-Identifier: GPL-2.0
/*
 * random_test SECONDS SEED [ACTIONS]: processes with threads do everything that
 * the module lets them do, in random order, while devices come and go. Then the
 * cases below judge what was seen.
 */
#include "actions.h"
#include "functions.h"
#include "lifetime.h"
#include "process.h"
#include "watchdog.h"
#include "worker.h"

/* For everything to succeed once: so many tries, or so long a run. */
#define ENOUGH_TRIES		200
#define ENOUGH_SECONDS		300.0
#define END_SECONDS	60.0

static double seconds;

/* ---- the run ---- */

static void tend_until_stopped(struct crew *crew)
{
	double end = now() + seconds;
	struct actor parent;

	actor_init(&parent, 0, BOARD_SEATS - 1, 0);
	while (now() < end && !board_stopped()) {
		crew_tend(crew, &parent);
		if (watchdog_barks())
			break;
		usleep(100000);
	}
	board->stop = true;
	munmap(parent.buffer, ACTOR_BUFFER);
}

static bool has_ended_or_hangs(struct crew *crew)
{
	return crew_ended(crew) || watchdog_barks();
}

/* What is under way may take as long as the watchdog lets it. */
static void wait_for_end(struct crew *crew)
{
	if (!WAIT_FOR(has_ended_or_hangs(crew), WATCHDOG_SECONDS))
		crew_show(crew);
	crew_kill(crew);
	if (WAIT_FOR(crew_ended(crew), END_SECONDS))
		return;
	complain(COMPLAINT_HANG, "processes do not die");
	printf("Bail out! processes do not die\n");
	fflush(stdout);
	_exit(1);
}

static void nothing_hangs(void)
{
	/* The module is in use all the time, whatever the others do. */
	int control = open_control();
	struct crew *crew;

	CHECK(control >= 0);
	mailboxes_new();
	crew = crew_start();
	tend_until_stopped(crew);
	wait_for_end(crew);
	crew_delete(crew);
	mailboxes_delete();
	close(control);
	CHECK_INT(board->complaints[COMPLAINT_HANG], 0);
}

/* ---- what was seen ---- */

static void processes_end_by_themselves(void)
{
	CHECK_INT(board->complaints[COMPLAINT_DEATH], 0);
}

static void refusals_are_of_the_contract(void)
{
	CHECK_INT(board->complaints[COMPLAINT_ERRNO], 0);
	CHECK_INT(board->complaints[COMPLAINT_TEXT], 0);
}

static void memory_is_zero_when_given_out(void)
{
	CHECK_INT(board->complaints[COMPLAINT_DIRT], 0);
}

static void nobody_sees_bytes_of_another(void)
{
	CHECK_INT(board->complaints[COMPLAINT_FOREIGN], 0);
}

static void revoked_memory_is_out_of_reach(void)
{
	CHECK_INT(board->complaints[COMPLAINT_ALIVE], 0);
}

static void module_in_use_stays(void)
{
	CHECK_INT(board->complaints[COMPLAINT_UNLOADED], 0);
}

/* Returns how often it was tried. */
static unsigned int show_counts(int number)
{
	const struct action *action = action_by_number(number);
	unsigned int tries = board->counts[number][0];
	char line[512];
	int err, n;

	n = snprintf(line, sizeof(line), "# %-30s %6u ms at most %7u",
		     action->name, board->slowest[number],
		     board->counts[number][0]);
	for (err = 1; err < BOARD_ERRNOS && n < (int)sizeof(line); err++) {
		if (!board->counts[number][err])
			continue;
		tries += board->counts[number][err];
		n += snprintf(line + n, sizeof(line) - n, " %s %u",
			      strerrorname_np(err), board->counts[number][err]);
	}
	puts(line);
	return tries;
}

static bool must_have_succeeded(const struct action *action, unsigned int tries)
{
	return !action->may_never && (!action->can || action->can()) &&
	       (tries >= ENOUGH_TRIES || seconds >= ENOUGH_SECONDS);
}

/* Else it is the driver that does not what it seems to do. */
static void every_action_succeeds_at_times(void)
{
	const struct action *action;
	unsigned int tries;
	int i;

	printf("# %lu actions, seed %llu\n", board->actions, board->seed);
	for (i = 0; (action = action_by_number(i)); i++) {
		tries = show_counts(i);
		if (board->counts[i][0] || !must_have_succeeded(action, tries))
			continue;
		printf("# never succeeded: %s\n", action->name);
		tap.bad++;
	}
}

static void devices_are_whole_again(void)
{
	unsigned int bar;

	CHECK_INT(board->complaints[COMPLAINT_LOST], 0);
	for (bar = 0; bar < BARS; bar++) {
		struct peerlane_device_record record = {};
		char name[16];

		snprintf(name, sizeof(name), "gpu%u", bar);
		setenv("DEVICE", name, 1);
		unbind(name);
		rebind();
		CHECK(device_record(name, &record));
		CHECK_INT(record.bytes_free, record.bytes_total);
		CHECK_INT(record.regions, 0);
		check_fresh(record.bytes_total);
	}
	unsetenv("DEVICE");
}

static const struct tap_case cases[] = {
	TAP_CASE(nothing_hangs),
	TAP_CASE(processes_end_by_themselves),
	TAP_CASE(refusals_are_of_the_contract),
	TAP_CASE(memory_is_zero_when_given_out),
	TAP_CASE(nobody_sees_bytes_of_another),
	TAP_CASE(revoked_memory_is_out_of_reach),
	TAP_CASE(module_in_use_stays),
	TAP_CASE(every_action_succeeds_at_times),
	TAP_CASE(devices_are_whole_again),
};

int main(int argc, char **argv)
{
	unsigned long long seed;
	int ret;

	if (argc == 3 && !strcmp(argv[1], "--executed"))
		return executed_main(atoi(argv[2]));
	if (argc < 3) {
		fprintf(stderr, "usage: random_test SECONDS SEED [ACTIONS]\n");
		return 2;
	}
	seconds = atof(argv[1]);
	seed = strtoull(argv[2], NULL, 0);
	board_new(seed, argc > 3 ? strtoul(argv[3], NULL, 0) :
				   5000 * (unsigned long)seconds);
	printf("# seed %llu, %g s, at most %lu actions\n", seed, seconds,
	       board->most_actions);
	functions_init();
	pins_prepare();
	ret = HARNESS_RUN(cases);
	board_delete();
	return ret;
}
