// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes that were made elsewhere: by mknod() on a tmpfs, on the overlay that the
 * root of a container is, on a disk. GUP refuses long-term pins of shared
 * mappings of files whose file system tracks dirty pages (as those of disks and
 * of 9p do, since 6.5); ours must not look like one.
 */
#include <infiniband/verbs.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "harness.h"

#define LENGTH	(UNIT + PAGE)

static dev_t number_of_device(void)
{
	unsigned int major = 0, minor = 0;

	CHECK_INT(sscanf(read_text(device_attr("dev")), "%u:%u", &major,
			 &minor), 2);
	return makedev(major, minor);
}

/* A file of a new node in this folder; the node is gone again. */
static int open_node_in(const char *folder)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/peerlane-node", folder);
	unlink(path);
	CHECK_INT(mknod(path, S_IFCHR | 0600, number_of_device()), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	unlink(path);
	return fd;
}

static struct ibv_context *open_nic(void)
{
	const char *name = getenv("RDMA_DEV");
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *nic = NULL;
	int i;

	for (i = 0; name && list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			nic = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!nic)
		SKIP("no RDMA device");
	return nic;
}

static void use(int fd)
{
	char *at = map(fd, LENGTH);

	if (!CHECK(at != MAP_FAILED))
		return;
	at[0] = 3;
	at[LENGTH - 1] = 4;
	CHECK_INT(madvise(at, LENGTH, MADV_DONTNEED), 0);
	CHECK_INT(at[0] + at[LENGTH - 1], 7);
	munmap(at, LENGTH);
}

static void pin(int fd)
{
	struct ibv_context *nic = open_nic();
	char *at = map(fd, LENGTH);
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	if (nic && CHECK(at != MAP_FAILED)) {
		pd = ibv_alloc_pd(nic);
		mr = ibv_reg_mr(pd, at, LENGTH, IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_REMOTE_WRITE);
		if (!CHECK(mr))
			printf("# ibv_reg_mr: %s\n", strerror(errno));
		else
			CHECK_INT(ibv_dereg_mr(mr), 0);
		ibv_dealloc_pd(pd);
	}
	munmap(at, LENGTH);
	if (nic)
		ibv_close_device(nic);
}

static void try(int fd, void (*what)(int fd))
{
	if (fd < 0)
		return;
	what(fd);
	close(fd);
}

static void the_usual_node_works(void)
{
	try(open_device(), use);
}

static void the_usual_node_can_be_pinned(void)
{
	try(open_device(), pin);
}

static void a_node_on_tmpfs_works(void)
{
	try(open_node_in("/tmp"), use);
}

static void a_node_on_tmpfs_can_be_pinned(void)
{
	try(open_node_in("/tmp"), pin);
}

/* The root of a test machine is an overlay. */
static void a_node_on_overlay_works(void)
{
	try(open_node_in("/"), use);
}

static void a_node_on_overlay_can_be_pinned(void)
{
	try(open_node_in("/"), pin);
}

/* The rig's output folder is on 9p. */
static void a_node_on_a_writeback_file_system_works(void)
{
	try(open_node_in(getenv("OUT")), use);
}

static void a_node_on_a_writeback_file_system_can_be_pinned(void)
{
	try(open_node_in(getenv("OUT")), pin);
}

static void a_node_on_a_nodev_mount_is_none(void)
{
	char path[] = "/tmp/nodev.XXXXXX", node[64];

	if (!CHECK(mkdtemp(path)) ||
	    !CHECK_INT(mount("nodev", path, "tmpfs", MS_NODEV, NULL), 0))
		return;
	snprintf(node, sizeof(node), "%s/node", path);
	CHECK_INT(mknod(node, S_IFCHR | 0666, number_of_device()), 0);
	CHECK_INT(open(node, O_RDWR), -1);
	CHECK_INT(errno, EACCES);
	umount(path);
	rmdir(path);
}

/* Numbers of ours without a device behind them. */
static void a_node_of_no_device_is_none(void)
{
	dev_t number = number_of_device();
	int fd;

	CHECK_INT(mknod("/tmp/none", S_IFCHR | 0600,
			makedev(major(number), 255)), 0);
	fd = open("/tmp/none", O_RDWR);
	CHECK_INT(fd, -1);
	CHECK_INT(errno, ENXIO);
	unlink("/tmp/none");
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(the_usual_node_works),
		TAP_CASE(the_usual_node_can_be_pinned),
		TAP_CASE(a_node_on_tmpfs_works),
		TAP_CASE(a_node_on_tmpfs_can_be_pinned),
		TAP_CASE(a_node_on_overlay_works),
		TAP_CASE(a_node_on_overlay_can_be_pinned),
		TAP_CASE(a_node_on_a_writeback_file_system_works),
		TAP_CASE(a_node_on_a_writeback_file_system_can_be_pinned),
		TAP_CASE(a_node_on_a_nodev_mount_is_none),
		TAP_CASE(a_node_of_no_device_is_none),
	};

	return HARNESS_RUN(cases);
}
