// SPDX-License-Identifier: GPL-2.0
/*
 * fail_nth_module_test MODULE [PARAMETERS]: loading and unloading.
 *
 * Most of what a load allocates is the kernel's, before the module has a say.
 * That part is measured by a load that is refused at its parameters, and left
 * out (FAIL_NTH_FIRST=1: not). Of the rest, two hundred, a sample has to do.
 */
#include <sys/syscall.h>

#include "fail_nth.h"
#include "lifetime.h"

#define COUNTS	DEBUGFS "peerlane/counts"

static const char *path, *params;
static char functions[2][32];	/* of gpu0 and gpu1 */

/* ---- calls ---- */

static int finit(const char *with)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, with, 0) ? -errno : 0;
	close(fd);
	return ret;
}

static int load(void)
{
	return finit(params);
}

static int load_refused(void)
{
	return finit("user_regions=none");
}

static int unload(void)
{
	return syscall(SYS_delete_module, "peerlane", O_NONBLOCK) ? -errno : 0;
}

/* A last reference may be put a moment after the call that ended it. */
static bool unload_soon(void)
{
	return WAIT_FOR(!unload(), LIMBO_SECONDS);
}

/* ---- there, or not ---- */

static void check_loaded(void)
{
	int fd = open_control();
	struct peerlane_list args = {
		.record_size = sizeof(struct peerlane_device_record),
		.count = HARNESS_DEVICES,
	};
	static struct peerlane_device_record records[HARNESS_DEVICES];

	args.array_ptr = (uintptr_t)records;
	CHECK_INT(CALL(fd, DEVICE_LIST, &args), 0);
	close(fd);
}

static void check_unloaded(void)
{
	CHECK(access("/sys/module/peerlane", F_OK));
	CHECK(access("/sys/class/peerlane", F_OK));
	CHECK(access("/sys/bus/pci/drivers/peerlane", F_OK));
	CHECK(access(DEBUGFS "peerlane", F_OK));
	CHECK(access(DEVICES "control", F_OK));
	CHECK(!strstr(read_text("/proc/devices"), "peerlane"));
}

static void check_devices(void)
{
	int fd;

	CHECK(has_node("gpu0") && has_node("gpu1"));
	fd = new_region(UNIT);
	CHECK(fd >= 0);
	close(fd);
}

/* ---- loading: without devices, whose binding has its own sweep ---- */

static void override(const char *function, const char *driver)
{
	char name[128];

	snprintf(name, sizeof(name),
		 "/sys/bus/pci/devices/%s/driver_override", function);
	CHECK_INT(write_text(name, driver), 0);
}

static bool release_devices(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (unbind_pci(functions[i]))
			return false;
		override(functions[i], "\n");
	}
	return true;
}

static void take_devices(void)
{
	int i;

	for (i = 0; i < 2; i++)
		CHECK_INT(bind_pci(functions[i]), 0);
	check_devices();
}

static bool begin_load(void)
{
	return unload_soon();
}

/* A load may do without debugfs, but we do not. */
static void end_load(int ret)
{
	if (ret)
		check_unloaded();
	else if (access(COUNTS, F_OK))
		CHECK(unload_soon());
	if (ret || access(COUNTS, F_OK))
		CHECK_INT(load(), 0);
	check_loaded();
}

static unsigned int points_of(int (*run)(void), int want)
{
	int ret;
	unsigned int points = fail_points(run, &ret);

	CHECK_INT(ret, want);
	return points;
}

static void loading(void)
{
	unsigned int refused, all;

	if (fail_file < 0) {
		SKIP(FAIL_UNAVAILABLE);
		return;
	}
	CHECK(release_devices() && unload_soon());
	refused = points_of(load_refused, -EINVAL);
	all = points_of(load, 0);
	printf("# %u failures are possible, %u of them before the module has a say\n",
	       all, refused);
	/* kmem_cache_create() shows one when it has no memory. */
	allow_splat("Call Trace:");
	FAIL_SWEEP(.begin = begin_load, .run = load, .end = end_load,
		   .first = refused, .stride = 8);
	take_devices();
}

/* ---- unloading: with them ---- */

static void end_unload(int ret)
{
	if (!ret) {
		check_unloaded();
		CHECK_INT(load(), 0);
	}
	check_loaded();
	check_devices();
}

static void unloading(void)
{
	FAIL_SWEEP(.run = unload, .end = end_unload);
}

static const struct tap_case cases[] = {
	TAP_CASE(loading),
	TAP_CASE(unloading),
};

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	path = argv[1];
	params = argc > 2 ? argv[2] : "";
	if (!CHECK(pci_of("gpu0", functions[0])) ||
	    !CHECK(pci_of("gpu1", functions[1])))
		return 1;
	return FAIL_RUN(cases);
}
