// SPDX-License-Identifier: GPL-2.0
/*
 * Errors on the link of a device, from which the kernel recovers: QEMU has the
 * root port above gpu0 report them.
 */
#include <glob.h>

#include "lifetime.h"

#define LENGTH	(2 * UNIT)

/*
 * The firmware leaves errors to a kernel that can also manage link power
 * (CONFIG_PCIEASPM); root ports then have the service.
 */
static bool kernel_handles_errors(void)
{
	glob_t found;
	bool is_there = !glob("/sys/bus/pci_express/devices/*:pcie002", 0, NULL,
			      &found);

	globfree(&found);
	if (!is_there)
		SKIP("errors of links are left to the firmware");
	return is_there;
}

/* Until the kernel has said that it is over. */
static void error(const char *name)
{
	int log = log_open();
	struct log_line line;
	char command[160];

	snprintf(command, sizeof(command),
		 "host qmp \"$NODE\" human-monitor-command command-line='pcie_aer_inject_error port0 %s' | grep -q OK",
		 name);
	CHECK_INT(system(command), 0);
	CHECK(log_find(log, "recovery successful", LONG, &line));
	close(log);
}

static void check_error(const char *name)
{
	int idle = open_device(), fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);

	memset(at, 'e', LENGTH);
	error(name);
	CHECK_INT(touch(at, false), SIGBUS);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	/* Still the same device, and its memory answers. */
	CHECK_INT(region_alloc(idle, LENGTH), 0);
	munmap(at, LENGTH);
	at = map(idle, LENGTH);
	memset(at, 'n', LENGTH);
	CHECK_INT(at[LENGTH - 1], 'n');
	munmap(at, LENGTH);
	close(fd);
	close(idle);
}

static void non_fatal_error(void)
{
	if (kernel_handles_errors())
		check_error("COMP_TIME");
}

/* The link is reset, and with it the device: its BARs are empty then. */
static void fatal_error(void)
{
	if (kernel_handles_errors())
		check_error("MALF_TLP");
}

static void memory_is_wiped_after_an_error(void)
{
	uint64_t free = bytes_free();

	if (!kernel_handles_errors())
		return;
	CHECK_INT(check_fresh(LENGTH), 0);
	CHECK(WAIT_FOR(bytes_free() == free, LIMBO_SECONDS));
	error("MALF_TLP");
	CHECK_INT(system("host bar-fill 1 0 0 4M 0x77"), 0);
	CHECK_INT(check_fresh(LENGTH), 0);
}

static const struct tap_case cases[] = {
	TAP_CASE(non_fatal_error),
	TAP_CASE(fatal_error),
	TAP_CASE(memory_is_wiped_after_an_error),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
