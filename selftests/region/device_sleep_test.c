// SPDX-License-Identifier: GPL-2.0
/*
 * A device that is put to sleep and woken. The module pl_awake ends the
 * machine's sleep before it has come to the devices that this test needs.
 */
#include "lifetime.h"

#define LENGTH	(2 * UNIT)
#define STATE	"/sys/power/state"

static char pci[32];

static bool has_function(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", pci);
	return !access(path, F_OK);
}

/* To be put to sleep before pl_awake is asked, it must come after it. */
static void come_last(void)
{
	char path[64];

	CHECK(pci_of("gpu0", pci));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", pci);
	CHECK_INT(write_text(path, "1"), 0);
	CHECK_INT(write_text("/sys/bus/pci/rescan", "1"), 0);
	CHECK(WAIT_FOR(has_function(), LONG));
	CHECK_INT(bind_pci(pci), 0);
	CHECK(WAIT_FOR(has_node("gpu0"), LONG));
	/* One after the other, in order. */
	CHECK_INT(write_text("/sys/power/pm_async", "0"), 0);
	CHECK_INT(write_text("/sys/power/sync_on_suspend", "0"), 0);
}

static void sleep_and_wake(void)
{
	int log = log_open();
	struct log_line line;

	CHECK_INT(write_text(STATE, "freeze"), -EBUSY);
	CHECK(log_find(log, "pl_awake", LONG, &line));
	close(log);
}

static void sleep_revokes(void)
{
	int fd, idle;
	char *at;

	come_last();
	idle = open_device();
	fd = new_region(LENGTH);
	at = map(fd, LENGTH);
	memset(at, 'a', LENGTH);
	sleep_and_wake();
	CHECK_INT(touch(at, false), SIGBUS);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	CHECK_INT(region_alloc(idle, LENGTH), 0);
	munmap(at, LENGTH);
	close(fd);
	close(idle);
}

/* What memory holds after a sleep is nobody's business to predict. */
static void memory_is_wiped_after_sleep(void)
{
	uint64_t free = bytes_free();

	/* It is wiped, and known to be. */
	CHECK_INT(check_fresh(LENGTH), 0);
	CHECK(WAIT_FOR(bytes_free() == free, LIMBO_SECONDS));
	sleep_and_wake();
	CHECK_INT(system("host bar-fill 1 0 0 4M 0x77"), 0);
	CHECK_INT(check_fresh(LENGTH), 0);
}

/* Limbo goes on where it was. */
static void limbo_survives_sleep(void)
{
	int fd = new_region(LENGTH), pair[2];
	char *at = map(fd, LENGTH);
	struct iovec page = { at, PAGE };

	CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
	memset(at, 'l', PAGE);
	CHECK_INT(vmsplice(pair[1], &page, 1, 0), PAGE);
	sleep_and_wake();
	sleep_and_wake();
	CHECK_INT(state_of(fd), PEERLANE_STATE_REVOKED);
	close(pair[0]);
	close(pair[1]);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	munmap(at, LENGTH);
	close(fd);
}

static const struct tap_case cases[] = {
	TAP_CASE(sleep_revokes),
	TAP_CASE(memory_is_wiped_after_sleep),
	TAP_CASE(limbo_survives_sleep),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
