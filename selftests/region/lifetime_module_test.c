// SPDX-License-Identifier: GPL-2.0
/*
 * Unloading the module. While anything of it is in use delete_module(2) fails
 * with EWOULDBLOCK: it is the module's reference count that refuses. (EBUSY is
 * what delete_module() says of a module that is already going.)
 */
#include <infiniband/verbs.h>
#include <sys/syscall.h>

#include "lifetime.h"
#include "lifetime_rdma.h"

#define LENGTH (2 * UNIT)
#define LOADS 20

static int unload(void)
{
	return syscall(SYS_delete_module, "peerlane", O_NONBLOCK) ? -errno : 0;
}

static int load(void)
{
	const char *path = getenv("MODULE"), *params = getenv("MODULE_PARAMS");
	int fd = open(path ? path : "", O_RDONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, params ? params : "", 0))
		ret = -errno;
	close(fd);
	return ret;
}

/* The devices are bound by driver_override as soon as there is a driver. */
static void reload(void)
{
	int ret = load();

	if (!CHECK_INT(ret, 0)) {
		printf("Bail out! the module cannot be loaded again\n");
		exit(1);
	}
	CHECK(WAIT_FOR(has_node("gpu0") && has_node("gpu1"), LONG));
}

/* A last reference may be put a moment after the call that ended it. */
static void unload_soon(void)
{
	int ret = -EAGAIN;

	CHECK(WAIT_FOR((ret = unload()) != -EWOULDBLOCK, LIMBO_SECONDS));
	if (!CHECK_INT(ret, 0))
		printf("# %s", read_text("/sys/kernel/debug/peerlane/regions"));
	CHECK(!has_node("control"));
}

static void check_refused(const char *by)
{
	int ret = unload();

	if (!CHECK_INT(ret, -EWOULDBLOCK))
		printf("# with %s\n", by);
	if (!ret)	/* what follows would only crash */
		_exit(1);
	CHECK(has_node("gpu0"));
}

static void refused_by_files(void)
{
	int fd = open_control();

	check_refused("an open control file");
	close(fd);
	fd = open_device();
	check_refused("an empty region");
	CHECK_INT(region_alloc(fd, LENGTH), 0);
	check_refused("a region");
	close(fd);
	unload_soon();
	reload();
}

static void refused_by_mapping(void)
{
	int fd = open_device();
	char *at = map(fd, LENGTH);

	close(fd);
	check_refused("a mapping");
	fill(at, LENGTH, 0x100);
	check_refused("a touched mapping");
	CHECK_INT(differs(at, LENGTH, 0x100), -1);
	munmap(at, LENGTH);
	unload_soon();
	reload();
}

static void refused_by_dmabuf(void)
{
	int fd = new_region(LENGTH), dmabuf = region_export(fd, 0, LENGTH, 0);
	char *at;

	close(fd);
	CHECK(dmabuf >= 0);
	check_refused("a dma-buf");
	at = map(dmabuf, LENGTH);
	close(dmabuf);
	check_refused("a mapping of a dma-buf");
	munmap(at, LENGTH);
	unload_soon();
	reload();
}

static void refused_by_host_pages(void)
{
	static _Alignas(4096) char own[4 * PAGE];
	int fd = pin_host(-1, own, sizeof(own), 0);

	CHECK(fd >= 0);
	check_refused("pinned host pages");
	close(fd);
	unload_soon();
	reload();
}

/*
 * An O_PATH descriptor has the file's mount and nothing else of ours: a super
 * block that outlives the module would meet a freed file_system_type.
 */
static void refused_by_path(void)
{
	static _Alignas(4096) char own[PAGE];
	int fd = pin_host(-1, own, sizeof(own), 0), path;
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	path = open(name, O_PATH | O_CLOEXEC);
	CHECK(path >= 0);
	close(fd);
	/* Until limbo has ended it is the region that refuses. */
	CHECK(WAIT_FOR(strstr(read_text("/sys/kernel/debug/peerlane/counts"),
			      "regions 0"), LIMBO_SECONDS));
	usleep(300000);
	check_refused("an O_PATH descriptor");
	close(path);
	unload_soon();
	reload();
}

/* Unbinding leaves files; the module's text must stay for them. */
static void refused_after_unbind(void)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);

	CHECK_INT(touch(at, true), 0);
	unbind("gpu0");
	CHECK_INT(unload(), -EWOULDBLOCK);
	CHECK_INT(touch(at, true), SIGBUS);
	munmap(at, LENGTH);
	close(fd);
	CHECK(WAIT_FOR(unload() == 0, LIMBO_SECONDS));
	reload();
}

/* ---- an MR that outlives mapping and file ---- */

static char *host_bytes;

static void write_by_rdma(struct rdma *rdma, struct ibv_mr *host,
			  struct ibv_mr *old, void *at, char byte)
{
	memset(host_bytes, byte, UNIT);
	CHECK_INT(rdma_copy(rdma, IBV_WR_RDMA_WRITE, host, (uintptr_t)at,
			    old->rkey), IBV_WC_SUCCESS);
	memset(host_bytes, 0, UNIT);
	CHECK_INT(rdma_copy(rdma, IBV_WR_RDMA_READ, host, (uintptr_t)at,
			    old->rkey), IBV_WC_SUCCESS);
	CHECK_INT(host_bytes[0], byte);
	CHECK_INT(host_bytes[UNIT - 1], byte);
}

/* All memory that is not pinned goes to others, and stays theirs. */
static void check_others(struct rdma *rdma, struct ibv_mr *host,
			 struct ibv_mr *old, void *at, uint64_t offset)
{
	uint64_t length = bytes_free() - offset, where;
	int before = -1, after;
	char *data;

	CHECK(length >= LENGTH);
	if (offset)
		before = new_region(offset);
	after = new_region(length);
	if (!CHECK(after >= 0) || !CHECK(!offset || before >= 0))
		return;
	where = region_info(after).out_dev_offset;
	CHECK_INT(where, offset + LENGTH);
	data = map(after, 2 * UNIT);
	CHECK(is_zero(data, 2 * UNIT));
	write_by_rdma(rdma, host, old, at, 'w');
	CHECK(is_zero(data, 2 * UNIT));
	munmap(data, 2 * UNIT);
	close(after);
	if (before >= 0)
		close(before);
}

static void memory_region_outlives_all(void)
{
	struct ibv_mr *old, *host;
	struct rdma rdma;
	uint64_t offset, free = bytes_free();
	int fd = open_device();
	char *at = map(fd, LENGTH);

	host_bytes = mmap(NULL, UNIT, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!rdma_open(&rdma) || !rdma_connect(&rdma))
		return;
	host = rdma_reg(&rdma, host_bytes, UNIT);
	old = rdma_reg(&rdma, at, LENGTH);
	if (!CHECK(host && old))
		return;
	offset = region_info(fd).out_dev_offset;
	munmap(at, LENGTH);
	close(fd);

	check_refused("an MR");
	usleep(300000);		/* limbo had its time */
	check_refused("an MR");
	CHECK_INT(bytes_free(), free - LENGTH);
	write_by_rdma(&rdma, host, old, at, 'v');
	check_others(&rdma, host, old, at, offset);
	CHECK(WAIT_FOR(bytes_free() == free - LENGTH, LIMBO_SECONDS));
	check_refused("an MR");

	CHECK_INT(ibv_dereg_mr(old), 0);
	CHECK(WAIT_FOR(bytes_free() == free, LIMBO_SECONDS));
	CHECK_INT(check_fresh(LENGTH), offset);
	CHECK_INT(ibv_dereg_mr(host), 0);
	rdma_close(&rdma);
	munmap(host_bytes, UNIT);
	unload_soon();
	reload();
}

/* ---- again and again ---- */

static void use_a_little(int sock)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);

	(void)sock;
	touch(at, true);
	region_export(fd, 0, UNIT, 0);
	/* and leaves, with all of it */
}

static void load_and_unload(void)
{
	struct peer peer;
	int i;

	for (i = 0; i < LOADS && !tap.bad; i++) {
		peer_start(&peer, use_a_little);
		peer_end(&peer);
		unload_soon();
		reload();
	}
	printf("# %d times\n", i);
}

/* Opens and closes as fast as it can, whether there is a module or not. */
static void opens_for_ever(int sock)
{
	void *at;
	int fd;

	(void)sock;
	for (;;) {
		fd = new_region(UNIT);
		if (fd < 0)
			continue;
		at = map(fd, UNIT);
		close(fd);
		touch(at, true);
		munmap(at, UNIT);
	}
}

static void unload_against_open(void)
{
	int i, tries = 0, refused = 0, ret;
	struct peer peer;

	for (i = 0; i < 5 && !tap.bad; i++) {
		peer_start(&peer, opens_for_ever);
		for (tries = 0; tries < 300; tries++) {
			ret = unload();
			if (ret != -EWOULDBLOCK)
				break;
			refused++;
			usleep(1000);
		}
		peer_kill(&peer);
		if (ret == -EWOULDBLOCK)
			unload_soon();
		else
			CHECK_INT(ret, 0);
		reload();
	}
	printf("# %d times, refused %d times\n", i, refused);
}

static const struct tap_case cases[] = {
	TAP_CASE(refused_by_files),
	TAP_CASE(refused_by_mapping),
	TAP_CASE(refused_by_dmabuf),
	TAP_CASE(refused_by_host_pages),
	TAP_CASE(refused_by_path),
	TAP_CASE(refused_after_unbind),
	TAP_CASE(memory_region_outlives_all),
	TAP_CASE(load_and_unload),
	TAP_CASE(unload_against_open),
};

int main(void)
{
	rdma_device();	/* before the first case counts open files */
	return HARNESS_RUN(cases);
}
