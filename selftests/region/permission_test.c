// SPDX-License-Identifier: GPL-2.0
/* Who may open what, and who sees whose regions. */
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "harness.h"

#define ALICE	1001
#define ROOM	16

static struct peerlane_region_record records[ROOM];

static int list(int control)
{
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)records, .count = ROOM,
		.record_size = sizeof(records[0]),
	};
	int ret = CALL(control, REGION_LIST, &args);

	return ret ? ret : (int)args.count;
}

static void check_mode(const char *path)
{
	struct stat stat_;

	CHECK_INT(stat(path, &stat_), 0);
	CHECK(S_ISCHR(stat_.st_mode));
	CHECK_INT(stat_.st_mode & 07777, 0660);
	CHECK_INT(stat_.st_uid, 0);
}

static void nodes_are_for_root(void)
{
	char path[64];

	snprintf(path, sizeof(path), DEVICES "%s", device_name());
	check_mode(path);
	check_mode(DEVICES "control");
}

static void try_to_open(void *arg)
{
	char path[64];

	(void)arg;
	become(ALICE, ALICE);
	CHECK_INT(open_device(), -EACCES);
	CHECK_INT(open_control(), -EACCES);
	snprintf(path, sizeof(path), DEVICES "%s", device_name());
	CHECK_INT(open(path, O_RDONLY), -1);
	CHECK_INT(errno, EACCES);
}

static void strangers_open_nothing(void)
{
	in_child(try_to_open, NULL);
}

static void try_to_write_attributes(void *arg)
{
	(void)arg;
	become(ALICE, ALICE);
	CHECK_INT(write_text(device_attr("user_limit"), "0"), -EACCES);
	CHECK_INT(open("/sys/kernel/debug/peerlane/counts", O_RDONLY), -1);
	CHECK_INT(open("/sys/kernel/debug/peerlane/regions", O_RDONLY), -1);
	CHECK_INT(write_text("/sys/bus/pci/drivers/peerlane/unbind", "x"),
		  -EACCES);
}

static void strangers_change_nothing(void)
{
	in_child(try_to_write_attributes, NULL);
}

/* ---- lists ---- */

/* A file of the device for a user who could not open the usual node. */
static int open_for_user(void)
{
	return open("/tmp/user-node", O_RDWR | O_CLOEXEC);
}

static void make_user_node(void)
{
	unsigned int major = 0, minor = 0;

	sscanf(read_text(device_attr("dev")), "%u:%u", &major, &minor);
	CHECK_INT(mknod("/tmp/user-node", S_IFCHR, makedev(major, minor)), 0);
	CHECK_INT(chmod("/tmp/user-node", 0666), 0);
}

static void list_as_user(void *arg)
{
	int control = open_control(), root = *(int *)arg, mine;

	become(ALICE, ALICE);
	mine = open_for_user();
	CHECK(mine >= 0);
	CHECK_INT(list(control), 1);
	CHECK_INT(records[0].id, region_info(mine).out_id);
	CHECK_INT(records[0].uid, ALICE);
	CHECK_INT(records[0].pid, getpid());
	CHECK(records[0].id != region_info(root).out_id);
	/* Not even the number of the others. */
	close(mine);
	CHECK_INT(list(control), 0);
	close(control);
}

static void a_user_sees_his_own_regions(void)
{
	int root = new_region(UNIT);

	make_user_node();
	in_child(list_as_user, &root);
	unlink("/tmp/user-node");
	close(root);
}

static void list_as_new_root(void *arg)
{
	int control = open_control(), mine;

	(void)arg;
	become(ALICE, ALICE);
	prctl(PR_SET_DUMPABLE, 1);	/* or /proc/self is root's */
	CHECK_INT(unshare(CLONE_NEWUSER), 0);
	mine = open_for_user();
	CHECK_INT(list(control), 1);
	/* Not mapped: the overflow id. */
	CHECK_INT(records[0].uid, 65534);
	CHECK_INT(write_text("/proc/self/setgroups", "deny"), 0);
	CHECK_INT(write_text("/proc/self/uid_map", "0 1001 1"), 0);
	CHECK_INT(getuid(), 0);
	/* Root of a namespace is no administrator here. */
	CHECK_INT(list(control), 1);
	CHECK_INT(records[0].uid, 0);
	close(mine);
	close(control);
}

static void root_of_a_user_namespace_sees_his_own(void)
{
	int root = new_region(UNIT);

	make_user_node();
	in_child(list_as_new_root, NULL);
	unlink("/tmp/user-node");
	close(root);
}

static void list_in_pid_namespace(void *arg)
{
	int control = open_control(), mine = open_device();

	CHECK_INT(getpid(), 1);
	CHECK_INT(list(control), 2);
	CHECK_INT(records[0].id, region_info(*(int *)arg).out_id);
	CHECK_INT(records[0].pid, 0);
	CHECK_INT(records[0].mapper_pid, 0);
	CHECK_INT(records[1].pid, 1);
	close(mine);
	close(control);
}

static void enter_pid_namespace(void *arg)
{
	CHECK_INT(unshare(CLONE_NEWPID), 0);
	in_child(list_in_pid_namespace, arg);
}

static void processes_have_the_numbers_of_the_caller(void)
{
	int fd = new_region(UNIT);
	void *at = map(fd, PAGE);

	in_child(enter_pid_namespace, &fd);
	munmap(at, PAGE);
	close(fd);
}

static void map_for_parent(void *arg)
{
	void *at = map(*(int *)arg, PAGE);

	CHECK(at != MAP_FAILED);
	CHECK_INT(touch(at, true), 0);
}

static void the_last_mapper_is_told(void)
{
	int control = open_control(), fd = new_region(UNIT);
	pid_t child;

	CHECK_INT(list(control), 1);
	CHECK_INT(records[0].mapper_pid, 0);
	child = spawn(map_for_parent, &fd);
	while (waitpid(child, NULL, WNOHANG) == 0) {
		int count = list(control);

		if (count == 1 && records[0].mapper_pid)
			CHECK_INT(records[0].mapper_pid, child);
	}
	/* A process that is gone has no number, its name is known. */
	CHECK_INT(list(control), 1);
	CHECK_STR(records[0].mapper_comm, "permission_test");
	CHECK_INT(records[0].pid, getpid());
	close(fd);
	close(control);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(nodes_are_for_root),
		TAP_CASE(strangers_open_nothing),
		TAP_CASE(strangers_change_nothing),
		TAP_CASE(a_user_sees_his_own_regions),
		TAP_CASE(root_of_a_user_namespace_sees_his_own),
		TAP_CASE(processes_have_the_numbers_of_the_caller),
		TAP_CASE(the_last_mapper_is_told),
	};

	return HARNESS_RUN(cases);
}
