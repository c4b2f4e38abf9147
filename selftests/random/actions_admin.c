// SPDX-License-Identifier: GPL-2.0
/* What an administrator does meanwhile: looks at everything, sets limits. */
#include <dirent.h>
#include <sys/syscall.h>

#include "actions.h"
#include "lifetime.h"

#define TRACING "/sys/kernel/tracing/"

static const char *some_name(struct actor *actor)
{
	return one_in(actor, 2) ? "gpu0" : "gpu1";
}

static const char *attr_of(const char *device, const char *attr)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/class/peerlane/%s/%s", device, attr);
	return path;
}

static void rest(struct actor *actor)
{
	usleep(dice(actor, 50) * 1000);
}

static int read_debugfs(struct actor *actor)
{
	rest(actor);
	if (!strstr(read_text("/sys/kernel/debug/peerlane/counts"), "regions"))
		return -EIO;
	read_text("/sys/kernel/debug/peerlane/regions");
	return 0;
}

static int read_sysfs(struct actor *actor)
{
	static const char *const attrs[] = {
		"size", "free", "limbo", "memtype", "bar", "user_limit",
		"uevent", "device/resource", "device/driver_override",
	};
	const char *device = some_name(actor);
	unsigned int i;

	rest(actor);
	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		read_text(attr_of(device, attrs[i]));
	/* It may be gone at any moment. */
	return read_text(attr_of(device, "size"))[0] ? 0 : -ENOENT;
}

/* As anybody else lists them, with all there is and with no room. */
static int list_all(struct actor *actor)
{
	struct peerlane_region_record *records;
	struct peerlane_list args = {
		.count = 2048, .record_size = sizeof(*records),
	};
	int fd = open_control(), ret;

	if (fd < 0)
		return fd;
	records = calloc(args.count, sizeof(*records));
	args.array_ptr = (uintptr_t)records;
	ret = CALL(fd, REGION_LIST, &args);
	free(records);
	close(fd);
	rest(actor);
	return ret;
}

static int limit_bytes(struct actor *actor)
{
	const char *device = some_name(actor);
	int ret = write_text(attr_of(device, "user_limit"),
			     one_in(actor, 2) ? "4194304" : "16777216");

	rest(actor);
	write_text(attr_of(device, "user_limit"), "0");
	return ret;
}

static int limit_regions(struct actor *actor)
{
	int ret = write_text(PARAMETERS "user_regions",
			     one_in(actor, 2) ? "8" : "60");

	rest(actor);
	write_text(PARAMETERS "user_regions", "65536");
	return ret;
}

/* While it is on, who mapped what cannot be taken away dies of it. */
static int kill_holders_for_a_while(struct actor *actor)
{
	int ret = write_text(PARAMETERS "revoke_kill", "1");

	usleep(dice(actor, 2000) * 1000);
	write_text(PARAMETERS "revoke_kill", "0");
	return ret;
}

/* They are recorded all the time: see random_run.sh. */
static int read_trace(struct actor *actor)
{
	rest(actor);
	read_text(TRACING "trace");
	return write_text(TRACING "trace", "");
}

/* The run itself has files open, so it must be refused. */
static int unload(struct actor *actor)
{
	rest(actor);
	if (!syscall(SYS_delete_module, "peerlane", O_NONBLOCK)) {
		complain(COMPLAINT_UNLOADED, "the module was unloaded");
		return 0;
	}
	return errno == EWOULDBLOCK ? 0 : -errno;
}

static int press_memory(struct actor *actor)
{
	int ret = write_text("/proc/sys/vm/drop_caches", "3");

	rest(actor);
	write_text("/proc/sys/vm/compact_memory", "1");
	return ret;
}

static int do_nothing(struct actor *actor)
{
	usleep(dice(actor, 500) * 1000);
	return 0;
}

const struct action admin_actions[] = {
	{ "read debugfs", read_debugfs, 1 },
	{ "read sysfs", read_sysfs, 1, { ENOENT } },
	{ "list as root", list_all, 1 },
	{ "limit bytes", limit_bytes, 1, { ENOENT, ENODEV } },
	{ "limit regions", limit_regions, 1 },
	{ "revoke_kill", kill_holders_for_a_while, 1 },
	{ "read trace", read_trace, 1 },
	{ "unload", unload, 1 },
	{ "drop caches and compact", press_memory, 1 },
	{ "rest", do_nothing, 1 },
	{}
};
