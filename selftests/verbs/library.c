// SPDX-License-Identifier: GPL-2.0
/*
 * The library's calls on the real module, with an RDMA device and two memory
 * devices of 256 MiB. In the environment: NODE, PCI_0 and PCI_1 (where the
 * memory devices are), OTHER_DRIVER (one that can take PCI_1).
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <peerlane.h>

#include "fill.h"
#include "tap.h"

#define MIB	(1UL << 20)
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)

static struct ibv_context *context;
static struct ibv_pd *pd;

static int bar_has(const struct peerlane_region *region, uint64_t offset,
		   size_t length, uint64_t seed)
{
	struct peerlane_region_info info;

	if (!CHECK_INT(peerlane_region_query(region, &info), 0))
		return -1;
	return host_says("pattern-check \"$NODE\" 0 %llu %zu %llu",
			 (unsigned long long)(info.dev_offset + offset), length,
			 (unsigned long long)seed);
}

static char *new_region(size_t length, struct peerlane_region **region)
{
	void *map = NULL;

	*region = NULL;
	if (!CHECK_INT(peerlane_region_alloc("gpu0", length, region), 0) ||
	    !CHECK_INT(peerlane_region_map(*region, &map), 0))
		printf("# %s\n", peerlane_strerror());
	return map;
}

/* Regions in the list with this state, of this process */
static int listed(const char *state)
{
	struct peerlane_region_info *list;
	size_t count, i;
	int n = 0;

	if (peerlane_region_list(&list, &count))
		return -1;
	for (i = 0; i < count; i++)
		n += list[i].pid == getpid() &&
		     !strcmp(peerlane_state_name(list[i].state), state);
	free(list);
	return n;
}

/* Limbo is polled: give it two seconds. */
static bool comes_to(const char *state, int want)
{
	int i;

	for (i = 0; i < 40 && listed(state) != want; i++)
		usleep(50000);
	return listed(state) == want;
}

static void devices_are_listed(void)
{
	struct peerlane_device_info *list = NULL;
	size_t count = 0, i;

	if (!CHECK_INT(peerlane_device_list(&list, &count), 0) ||
	    !CHECK_INT(count, 2))
		return;
	for (i = 0; i < count; i++) {
		CHECK_INT(list[i].bytes_total, 256 * MIB);
		CHECK_INT(list[i].bytes_free, 256 * MIB);
		CHECK_INT(list[i].bar, 2);
		CHECK_STR(peerlane_kind_name(list[i].kind), "bar");
		CHECK_STR(peerlane_memtype_name(list[i].memtype), "wc");
	}
	CHECK_STR(list[0].name, "gpu0");
	CHECK_STR(list[0].pci, getenv("PCI_0"));
	free(list);
}

static void a_device_is_found_by_name_and_address(void)
{
	struct peerlane_device_info info;
	const char *pci = getenv("PCI_1");

	CHECK_INT(peerlane_device_get("gpu1", &info), 0);
	CHECK_STR(info.pci, pci);
	CHECK_INT(peerlane_device_get(pci, &info), 0);
	CHECK_STR(info.name, "gpu1");
	CHECK_INT(peerlane_device_get(pci + 5, &info), 0);
	CHECK_STR(info.name, "gpu1");
	CHECK_INT(peerlane_device_get("gpu9", &info), -ENODEV);
	CHECK_HAS(peerlane_strerror(), "gpu9");
}

static bool driver_is(const char *pci, const char *name)
{
	char path[128], target[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", pci);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return !*name;
	target[n] = '\0';
	return !strcmp(strrchr(target, '/') + 1, name);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void unbind_and_bind(void)
{
	const char *pci = getenv("PCI_1");
	struct peerlane_device_info info;

	CHECK_INT(peerlane_device_bind(pci, false, NULL), -EBUSY);
	CHECK_INT(peerlane_device_unbind("gpu1"), 0);
	CHECK(driver_is(pci, ""));
	CHECK_INT(peerlane_device_get("gpu1", &info), -ENODEV);
	CHECK_INT(peerlane_device_unbind(pci), -ENODEV);
	CHECK_INT(peerlane_device_bind(pci + 5, false, &info), 0);
	CHECK_STR(info.pci, pci);
	CHECK(driver_is(pci, "peerlane"));
	CHECK_INT(peerlane_device_bind("not-pci", false, NULL), -EINVAL);
	CHECK_INT(peerlane_device_bind("00:1e.7", false, NULL), -ENOENT);
}

static void bind_takes_from_another_driver_only_by_force(void)
{
	const char *pci = getenv("PCI_1"), *other = getenv("OTHER_DRIVER");
	struct peerlane_device_info info;
	char path[128];

	CHECK_INT(peerlane_device_unbind(pci), 0);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver_override",
		 pci);
	put(path, other);
	put("/sys/bus/pci/drivers_probe", pci);
	if (!CHECK(driver_is(pci, other)))
		return;
	CHECK_INT(peerlane_device_bind(pci, false, &info), -EBUSY);
	CHECK_HAS(peerlane_strerror(), other);
	CHECK(driver_is(pci, other));
	CHECK_INT(peerlane_device_bind(pci, true, &info), 0);
	CHECK(driver_is(pci, "peerlane"));
	CHECK_STR(info.pci, pci);
}

static void unusable_functions_are_refused(void)
{
	/* The host bridge has no BAR. */
	CHECK_INT(peerlane_device_bind("00:00.0", false, NULL), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "BAR");
	CHECK(!driver_is("0000:00:00.0", "peerlane"));
}

static void alloc_is_zeroed_and_accounted(void)
{
	struct peerlane_device_info before, with, after = { 0 };
	struct peerlane_region *region;
	struct peerlane_region_info info;
	char *map;
	size_t i, set = 0;
	int try;

	CHECK_INT(peerlane_device_get("gpu0", &before), 0);
	map = new_region(3 * MIB, &region);
	if (!map)
		return;
	for (i = 0; i < 3 * MIB; i += 8)
		set += *(volatile uint64_t *)(void *)(map + i) != 0;
	CHECK_INT(set, 0);
	CHECK_INT(peerlane_region_query(region, &info), 0);
	CHECK_INT(info.length, 3 * MIB);
	CHECK_STR(peerlane_kind_name(info.kind), "bar");
	CHECK_STR(peerlane_state_name(info.state), "active");
	CHECK_STR(info.device, "gpu0");
	CHECK_INT(info.mappings, 1);
	CHECK_INT(listed("active"), 1);
	CHECK_INT(peerlane_device_get("gpu0", &with), 0);
	CHECK_INT(before.bytes_free - with.bytes_free, 4 * MIB);
	peerlane_region_free(region);
	for (try = 0; try < 40 && after.bytes_free != before.bytes_free; try++) {
		usleep(50000);
		CHECK_INT(peerlane_device_get("gpu0", &after), 0);
	}
	CHECK_INT(after.bytes_free, before.bytes_free);
}

static void alloc_refuses(void)
{
	struct peerlane_region *region = NULL;

	CHECK_INT(peerlane_region_alloc("gpu0", 0, &region), -EINVAL);
	CHECK_INT(peerlane_region_alloc("gpu0", 257 * MIB, &region), -ENOSPC);
	CHECK_HAS(peerlane_strerror(), "gpu0");
	CHECK_INT(peerlane_region_alloc("gpu9", 4096, &region), -ENODEV);
	CHECK_INT(peerlane_region_alloc("control", 4096, &region), -ENODEV);
	CHECK(!region);
}

static void copy_to_reaches_the_bar(void)
{
	static const struct { size_t offset, length; } at[] = {
		{ 0, 65536 }, { 1, 1 }, { 63, 130 }, { 4095, 8193 },
		{ 2 * MIB - 77, 3000 }, { 3 * MIB - 5, 5 },
	};
	struct peerlane_region *region;
	char *map = new_region(3 * MIB, &region), from[65536];
	size_t i;

	for (i = 0; map && i < sizeof(at) / sizeof(at[0]); i++) {
		fill(from, at[i].length, 50 + i);
		peerlane_copy_to(map + at[i].offset, from, at[i].length);
		CHECK_INT(bar_has(region, at[i].offset, at[i].length, 50 + i),
			  0);
	}
	CHECK_INT(bar_has(region, at[0].offset, 4096, 50), 3);
	peerlane_region_free(region);
}

static void copy_from_sees_what_the_device_has(void)
{
	struct peerlane_region *region;
	struct peerlane_region_info info;
	char *map = new_region(3 * MIB, &region), to[70000];
	int i;

	for (i = 0; map && i < 3; i++) {
		peerlane_region_query(region, &info);
		CHECK_INT(host_says("pattern-fill \"$NODE\" 0 %llu 66000 %d",
				    (unsigned long long)info.dev_offset + 13,
				    90 + i), 0);
		peerlane_copy_from(to + i, map + 13, 66000);
		CHECK_INT(fill_differs(to + i, 66000, 90 + (uint64_t)i), -1);
	}
	peerlane_region_free(region);
}

static void export_and_import(void)
{
	struct peerlane_region *region, *import = NULL;
	struct peerlane_region_info info;
	char *map = new_region(4 * MIB, &region), from[8192];
	void *theirs = NULL;
	int fd = -1;

	if (!map)
		return;
	CHECK_INT(peerlane_region_export(region, 1, 4096, false, &fd), -EINVAL);
	CHECK_INT(peerlane_region_export(region, 4 * MIB, 4096, false, &fd),
		  -EINVAL);
	CHECK_INT(fd, -1);
	CHECK_INT(peerlane_region_export(region, MIB, 2 * MIB, false, &fd), 0);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK_INT(lseek(fd, 0, SEEK_END), 2 * MIB);
	CHECK_INT(peerlane_region_import(fd, 0, 0, &import), 0);
	close(fd);
	if (!import)
		return;
	CHECK_INT(peerlane_region_query(import, &info), 0);
	CHECK_STR(peerlane_kind_name(info.kind), "dmabuf");
	CHECK_INT(info.length, 2 * MIB);
	if (CHECK(info.caps & PEERLANE_CAN_MMAP) &&
	    CHECK_INT(peerlane_region_map(import, &theirs), 0)) {
		fill(from, sizeof(from), 77);
		peerlane_copy_to(theirs, from, sizeof(from));
		CHECK_INT(bar_has(region, MIB, sizeof(from), 77), 0);
	}
	CHECK_INT(peerlane_region_query(region, &info), 0);
	CHECK_INT(info.exports, 1);
	peerlane_region_free(import);
	CHECK_INT(peerlane_region_import(0, 0, 0, &import), -EBADF);
	peerlane_region_free(region);
}

static void a_file_passes_to_another_process(void)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'x', from[5000];
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	struct peerlane_region *region, *theirs = NULL;
	int pair[2], fd, status = -1;
	void *map;

	if (!new_region(2 * MIB, &region))
		return;
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	fflush(stdout);
	if (!fork()) {
		if (recvmsg(pair[1], &msg, 0) != 1)
			_exit(1);
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
		if (peerlane_region_from_fd(fd, &theirs) ||
		    peerlane_region_map(theirs, &map))
			_exit(2);
		fill(from, sizeof(from), 88);
		peerlane_copy_to((char *)map + 999, from, sizeof(from));
		peerlane_region_free(theirs);
		_exit(0);
	}
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	fd = peerlane_region_fd(region);
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	CHECK_INT(sendmsg(pair[0], &msg, 0), 1);
	wait(&status);
	CHECK_INT(status, 0);
	CHECK_INT(bar_has(region, 999, sizeof(from), 88), 0);
	CHECK_INT(peerlane_region_from_fd(pair[0], &theirs), -EBADF);
	close(pair[0]);
	close(pair[1]);
	peerlane_region_free(region);
}

static bool writing_dies(char *at)
{
	int status = -1;

	fflush(stdout);
	if (!fork()) {
		*(volatile char *)at = 2;
		_exit(0);
	}
	wait(&status);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
}

static void revoke_ends_every_use(void)
{
	struct peerlane_region *region;
	struct peerlane_region_info info;
	char *map = new_region(2 * MIB, &region);
	struct ibv_mr *mr = NULL;
	int fd = -1;

	if (!map)
		return;
	map[0] = 1;
	CHECK_INT(peerlane_region_revoke(region), 0);
	CHECK(writing_dies(map));
	CHECK_INT(peerlane_region_query(region, &info), 0);
	CHECK(info.state != 0 && strcmp(peerlane_state_name(info.state), "active"));
	CHECK_INT(peerlane_region_revoke(region), -EBUSY);
	CHECK_INT(peerlane_region_export(region, 0, 4096, false, &fd), -ENODEV);
	CHECK_INT(peerlane_region_reg_mr(region, pd, 0, 4096, ACCESS, &mr),
		  -ENODEV);
	peerlane_region_free(region);
}

static void reg_mr_goes_by_the_mapping_on_rxe(void)
{
	struct peerlane_region *region;
	struct peerlane_region_info info;
	char *map = new_region(4 * MIB, &region);
	struct ibv_mr *mr = NULL;

	if (!map)
		return;
	CHECK_INT(peerlane_region_reg_mr(region, pd, 4097, MIB + 3, ACCESS, &mr),
		  0);
	if (mr) {
		CHECK(mr->addr == map + 4097);
		CHECK_INT(mr->length, MIB + 3);
		CHECK_STR(peerlane_strerror(), "");
		CHECK_INT(peerlane_region_query(region, &info), 0);
		CHECK_INT(info.exports, 0);
		CHECK_INT(info.attachments, 0);
		CHECK_INT(ibv_dereg_mr(mr), 0);
	}
	CHECK_INT(peerlane_region_reg_mr(region, pd, 4 * MIB, 1, ACCESS, &mr),
		  -EINVAL);
	CHECK_INT(peerlane_region_reg_mr(region, pd, 0, 0, ACCESS, &mr),
		  -EINVAL);
	peerlane_region_free(region);
}

static void reg_mr_takes_a_whole_region_and_many(void)
{
	struct peerlane_region *region;
	struct ibv_mr *mrs[200], *whole = NULL;
	int i, n = 0;

	if (!new_region(64 * MIB, &region))
		return;
	CHECK_INT(peerlane_region_reg_mr(region, pd, 0, 64 * MIB, ACCESS,
					 &whole), 0);
	for (i = 0; i < 200; i++)
		n += !peerlane_region_reg_mr(region, pd, (uint64_t)i * 4099,
					     5000, ACCESS, &mrs[n]);
	CHECK_INT(n, 200);
	while (n--)
		CHECK_INT(ibv_dereg_mr(mrs[n]), 0);
	CHECK(whole && !ibv_dereg_mr(whole));
	peerlane_region_free(region);
}

static void an_mr_outlives_its_region(void)
{
	struct peerlane_region *region;
	struct ibv_mr *mr = NULL;

	if (!new_region(2 * MIB, &region))
		return;
	CHECK_INT(peerlane_region_reg_mr(region, pd, 0, 2 * MIB, ACCESS, &mr),
		  0);
	peerlane_region_free(region);
	CHECK(comes_to("limbo", 1));
	CHECK(mr && !ibv_dereg_mr(mr));
	CHECK(comes_to("limbo", 0));
}

static void host_pages_are_registered_as_they_are(void)
{
	struct peerlane_region *region = NULL;
	struct peerlane_region_info info;
	struct ibv_mr *mr = NULL;
	char *memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *map = NULL;

	CHECK_INT(peerlane_region_host(memory + 1, 4096, false, &region),
		  -EINVAL);
	if (!CHECK_INT(peerlane_region_host(memory, MIB, false, &region), 0))
		return;
	CHECK_INT(peerlane_region_query(region, &info), 0);
	CHECK_STR(peerlane_kind_name(info.kind), "host");
	CHECK_INT(peerlane_region_map(region, &map), 0);
	CHECK(map == memory);
	CHECK_INT(peerlane_region_reg_mr(region, pd, 100, 5000, ACCESS, &mr),
		  0);
	CHECK(mr && mr->addr == memory + 100 && !ibv_dereg_mr(mr));
	peerlane_region_free(region);
	munmap(memory, MIB);
}

static const struct tap_case cases[] = {
	TAP_CASE(devices_are_listed),
	TAP_CASE(a_device_is_found_by_name_and_address),
	TAP_CASE(unbind_and_bind),
	TAP_CASE(bind_takes_from_another_driver_only_by_force),
	TAP_CASE(unusable_functions_are_refused),
	TAP_CASE(alloc_is_zeroed_and_accounted), TAP_CASE(alloc_refuses),
	TAP_CASE(copy_to_reaches_the_bar),
	TAP_CASE(copy_from_sees_what_the_device_has),
	TAP_CASE(export_and_import),
	TAP_CASE(a_file_passes_to_another_process),
	TAP_CASE(revoke_ends_every_use),
	TAP_CASE(reg_mr_goes_by_the_mapping_on_rxe),
	TAP_CASE(reg_mr_takes_a_whole_region_and_many),
	TAP_CASE(an_mr_outlives_its_region),
	TAP_CASE(host_pages_are_registered_as_they_are),
};

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int ret;

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	ibv_free_device_list(list);
	if (!pd) {
		printf("Bail out! no RDMA device\n");
		return 1;
	}
	ret = TAP_RUN(cases);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return ret;
}
