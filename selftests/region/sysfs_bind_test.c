// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the driver does not take: each with one reason, the same from
 * PREFLIGHT, in the kernel's log, and from the command. Other functions than
 * the rig's are plugged into the slot of the second BAR device.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "harness.h"

#define FUNCTIONS	"/sys/bus/pci/devices/"
#define DRIVER		"/sys/bus/pci/drivers/peerlane/"
#define PLUG_SECONDS	60

static char slot[16];		/* where the second BAR device is */

static void find_slot(void)
{
	char path[PATH_MAX] = "";

	if (CHECK(realpath("/sys/class/peerlane/gpu1/device", path)))
		snprintf(slot, sizeof(slot), "%.15s", strrchr(path, '/') + 1);
}

static const char *attr_of(const char *function, const char *attr)
{
	static char path[256];

	snprintf(path, sizeof(path), FUNCTIONS "%s/%s", function, attr);
	return path;
}

static int ask(const char *function)
{
	struct peerlane_preflight args = { .flags = PEERLANE_PREFLIGHT_BIND };
	int fd = open_control(), ret;

	snprintf(args.target, sizeof(args.target), "%.15s", function);
	ret = CALL(fd, PREFLIGHT, &args);
	close(fd);
	return ret ? ret : args.out_bar;
}

/* A process's own view of the kernel's log from here on. */
static int open_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	lseek(fd, 0, SEEK_END);
	return fd;
}

/* Lines with "not bound"; the last is left in @line. */
static int count_refusals(int log, char *line, size_t size)
{
	char record[1024];
	int count = 0;
	ssize_t n;

	while ((n = read(log, record, sizeof(record) - 1)) > 0) {
		record[n] = '\0';
		if (!strstr(record, "not bound: "))
			continue;
		snprintf(line, size, "%s", strstr(record, "not bound: ") + 11);
		line[strcspn(line, "\n")] = '\0';
		count++;
	}
	return count;
}

static int bind_by_hand(const char *function)
{
	int ret;

	CHECK_INT(write_text(attr_of(function, "driver_override"), "peerlane"),
		  0);
	ret = write_text(DRIVER "bind", function);
	if (ret)
		write_text(attr_of(function, "driver_override"), "\n");
	return ret;
}

static void check_command(const char *function, const char *reason)
{
	char command[128], output[1024] = "";
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "peerlane device bind %s 2>&1",
		 function);
	pipe = popen(command, "r");
	n = fread(output, 1, sizeof(output) - 1, pipe);
	output[n] = '\0';
	CHECK(WEXITSTATUS(pclose(pipe)) == 1);
	CHECK_HAS(output, reason);
}

/* Refused with this errno and reason by whoever is asked. */
static void check_refused(const char *function, int err, const char *reason)
{
	char line[256] = "";
	int log = open_log();

	CHECK_INT(ask(function), err);
	CHECK_HAS(text, reason);
	CHECK_HAS(text, function);
	CHECK_INT(bind_by_hand(function), err);
	CHECK_INT(count_refusals(log, line, sizeof(line)), 1);
	CHECK_STR(line, text);
	close(log);
	check_command(function, reason);
	CHECK(access(attr_of(function, "driver"), F_OK) < 0);
	CHECK_STR(read_text(attr_of(function, "driver_override")), "(null)\n");
}

/* ---- the slot ---- */

static bool monitor(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "host qmp 1 human-monitor-command 'command-line=%s' >/run/monitor 2>&1",
		 command);
	if (!CHECK_INT(system(line), 0) ||
	    !CHECK(!strstr(read_text("/run/monitor"), "Error"))) {
		printf("# %s: %s\n", command, read_text("/run/monitor"));
		return false;
	}
	return true;
}

static bool is_there(const char *function)
{
	return !access(attr_of(function, "vendor"), F_OK);
}

/* Take the second BAR device out and put this one in. */
static bool settles(void)
{
	return CHECK(WAIT_FOR(is_there(slot), PLUG_SECONDS)) &&
	       CHECK_INT(pci_settle(), 0);
}

static bool plug(const char *device)
{
	char command[256];

	if (!CHECK_INT(system("host device-del bar1"), 0) ||
	    !CHECK(WAIT_FOR(!is_there(slot), PLUG_SECONDS)))
		return false;
	snprintf(command, sizeof(command), "device_add %s,id=odd,bus=port1",
		 device);
	return monitor(command) && settles();
}

static void restore(void)
{
	CHECK_INT(system("host device-del odd"), 0);
	CHECK(WAIT_FOR(!is_there(slot), PLUG_SECONDS));
	CHECK_INT(system("host device-add bar1"), 0);
	settles();
	CHECK_INT(bind_by_hand(slot), 0);
}

/* ---- cases ---- */

static void a_bound_one_would_be_taken(void)
{
	find_slot();
	CHECK_INT(ask(slot), 2);
	CHECK_HAS(text, "BAR 2 of ");
}

static void no_such_function(void)
{
	CHECK_INT(ask("00ff:ff:1f.7"), -ENOENT);
	CHECK_HAS(text, "no PCI function");
	check_command("00ff:ff:1f.7", "00ff:ff:1f.7");
}

static void a_function_without_memory(void)
{
	/* The bridge to what was ISA; a driver may have it. */
	CHECK_INT(ask("0000:00:1f.0"), -EINVAL);
	CHECK_HAS(text, "no memory BAR");
}

static void a_function_of_another_driver(void)
{
	char path[PATH_MAX] = "";

	CHECK_INT(system("modprobe pci-stub"), 0);
	CHECK_INT(write_text(DRIVER "unbind", slot), 0);
	CHECK_INT(write_text(attr_of(slot, "driver_override"), "pci-stub"), 0);
	CHECK_INT(write_text("/sys/bus/pci/drivers/pci-stub/bind", slot), 0);
	/* The BAR is as good as before; taking it is what needs a word. */
	CHECK_INT(ask(slot), 2);
	check_command(slot, "pci-stub");
	CHECK(write_text(DRIVER "bind", slot) < 0);
	CHECK(realpath(attr_of(slot, "driver"), path));
	CHECK_STR(strrchr(path, '/') + 1, "pci-stub");
	CHECK_INT(write_text("/sys/bus/pci/drivers/pci-stub/unbind", slot), 0);
	CHECK_INT(bind_by_hand(slot), 0);
	/* Only a module has a count of users; a built-in one stays. */
	CHECK_INT(system("test ! -e /sys/module/pci_stub/refcnt || rmmod pci-stub"), 0);
}

static void a_bar_that_is_too_small(void)
{
	monitor("object_add memory-backend-ram,id=small,size=1M");
	if (plug("ivshmem-plain,memdev=small"))
		check_refused(slot, -EINVAL, "at least 2097152 are needed");
	restore();
	monitor("object_del small");
}

/*
 * Who mapped the BAR by sysfs, uncached, loses it: there are never two types,
 * and never two owners.
 */
static void a_bar_that_is_mapped_by_sysfs(void)
{
	void *at;
	int fd;

	CHECK_INT(write_text(DRIVER "unbind", slot), 0);
	CHECK_INT(write_text(attr_of(slot, "enable"), "1"), 0);
	fd = open(attr_of(slot, "resource2"), O_RDWR | O_CLOEXEC);
	at = map(fd, PAGE);
	if (CHECK(at != MAP_FAILED)) {
		CHECK_INT(touch(at, false), 0);
		CHECK_INT(bind_by_hand(slot), 0);
		CHECK_INT(touch(at, false), SIGBUS);
		munmap(at, PAGE);
		CHECK(map(fd, PAGE) == MAP_FAILED);
	}
	close(fd);
}

static void a_device_keeps_its_name_over_a_rebind(void)
{
	CHECK_INT(write_text(DRIVER "unbind", slot), 0);
	CHECK(access(DEVICES "gpu1", F_OK) < 0);
	CHECK_INT(bind_by_hand(slot), 0);
	CHECK_INT(access(DEVICES "gpu1", F_OK), 0);
	CHECK_INT(access(DEVICES "gpu2", F_OK), -1);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_bound_one_would_be_taken),
		TAP_CASE(no_such_function),
		TAP_CASE(a_function_without_memory),
		TAP_CASE(a_function_of_another_driver),
		TAP_CASE(a_bar_that_is_too_small),
		TAP_CASE(a_bar_that_is_mapped_by_sysfs),
		TAP_CASE(a_device_keeps_its_name_over_a_rebind),
	};

	return HARNESS_RUN(cases);
}
