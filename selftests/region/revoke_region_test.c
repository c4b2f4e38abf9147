// SPDX-License-Identifier: GPL-2.0
/* REGION_REVOKE: one region is taken away from everybody. */
#include <infiniband/verbs.h>

#include "lifetime.h"
#include "lifetime_rdma.h"

#define LENGTH (4 * UNIT)

/* ---- mappings ---- */

static char *inherited;

static void both_mappings(int sock)
{
	int fd = recv_file(sock);
	char *own = map_at(fd, UNIT, UNIT);
	int i;

	CHECK_INT(touch(inherited, true), 0);
	CHECK_INT(touch(own, true), 0);
	stepped(sock);
	for (i = 0; i < 4; i++)
		CHECK_INT(touch(inherited + i * UNIT, i & 1), SIGBUS);
	CHECK_INT(touch(own, false), SIGBUS);
	CHECK(map(fd, PAGE) == MAP_FAILED && errno == ENODEV);
	/* The state of the file is everybody's. */
	CHECK_INT(region_revoke(fd), -EBUSY);
}

static void cuts_other_processes(void)
{
	int fd = new_region(LENGTH), i;
	struct peer peer[3];

	inherited = map(fd, LENGTH);
	fill(inherited, LENGTH, 0x1000);
	for (i = 0; i < 3; i++) {
		peer_start(&peer[i], both_mappings);
		send_file(peer[i].sock, fd);
		CHECK(hear(peer[i].sock));
	}
	CHECK_INT(region_revoke(fd), 0);
	CHECK_INT(touch(inherited, true), SIGBUS);
	for (i = 0; i < 3; i++) {
		say(peer[i].sock);
		peer_end(&peer[i]);
	}
	munmap(inherited, LENGTH);
	close(fd);
}

/* A mapping in pieces, moved, made read-only, locked: each is cut. */
static void cuts_odd_mappings(void)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH), *moved, *place, *part, *locked;

	fill(at, LENGTH, 0x2000);
	munmap(at + UNIT, PAGE);
	mprotect(at + 2 * UNIT, UNIT, PROT_READ);
	place = mmap(NULL, UNIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moved = mremap(at + 3 * UNIT, UNIT, UNIT, MREMAP_MAYMOVE | MREMAP_FIXED,
		       place);
	CHECK(moved == place);
	CHECK_INT(differs(moved, UNIT, 0x2000 + 3 * UNIT / 8), -1);
	part = map_at(fd, PAGE, 2 * UNIT - PAGE);
	CHECK_INT(touch(part, true), 0);
	locked = mmap(NULL, UNIT, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	CHECK(locked != MAP_FAILED);
	mlock(locked, UNIT);

	CHECK_INT(region_revoke(fd), 0);
	CHECK_INT(touch(at, true), SIGBUS);
	CHECK_INT(touch(at + UNIT + PAGE, true), SIGBUS);
	CHECK_INT(touch(at + 2 * UNIT, false), SIGBUS);
	CHECK_INT(touch(moved, true), SIGBUS);
	CHECK_INT(touch(part, true), SIGBUS);
	CHECK_INT(touch(locked, false), SIGBUS);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));

	munmap(at, 3 * UNIT);
	munmap(moved, UNIT);
	munmap(part, PAGE);
	munmap(locked, UNIT);
	close(fd);
}

static void touches_later(int sock)
{
	CHECK_INT(touch(inherited, true), SIGBUS);
	stepped(sock);
}

static void child_of_revoked(void)
{
	int fd = new_region(UNIT);
	struct peer peer;

	inherited = map(fd, UNIT);
	CHECK_INT(touch(inherited, true), 0);
	CHECK_INT(region_revoke(fd), 0);
	peer_start(&peer, touches_later);
	CHECK(hear(peer.sock));
	peer_end(&peer);
	munmap(inherited, UNIT);
	close(fd);
}

static void cuts_dmabufs(void)
{
	int fd = new_region(LENGTH), dmabuf = region_export(fd, UNIT, UNIT, 0);
	int import = import_dmabuf(-1, dmabuf, 0, 0);
	char *at = map(dmabuf, UNIT), *again = map(import, UNIT);

	CHECK_INT(touch(at, true), 0);
	CHECK_INT(touch(again, true), 0);
	CHECK_INT(region_revoke(fd), 0);
	CHECK_INT(touch(at, true), SIGBUS);
	CHECK_INT(touch(again, true), SIGBUS);
	CHECK(map(dmabuf, PAGE) == MAP_FAILED && errno == ENODEV);
	CHECK(map(import, PAGE) == MAP_FAILED && errno == ENODEV);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	munmap(at, UNIT);
	munmap(again, UNIT);
	close(import);
	close(dmabuf);
	close(fd);
}

/* ---- calls ---- */

static void calls_afterwards(void)
{
	int fd = new_region(UNIT);
	struct peerlane_region_status info;

	CHECK_INT(region_revoke(fd), 0);
	CHECK_INT(region_revoke(fd), -EBUSY);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	CHECK_INT(region_revoke(fd), -EBUSY);
	CHECK_INT(region_alloc(fd, UNIT), -ENODEV);
	CHECK_INT(region_export(fd, 0, PAGE, 0), -ENODEV);
	CHECK_HAS(text, "revoked");
	CHECK(map(fd, PAGE) == MAP_FAILED && errno == ENODEV);
	info = region_info(fd);
	CHECK_INT(info.out_caps, 0);
	CHECK_INT(info.out_mappings, 0);
	close(fd);
}

static void empty_region(void)
{
	int fd = open_device();

	CHECK_INT(region_revoke(fd), -ENODATA);
	CHECK_INT(region_alloc(fd, UNIT), 0);
	close(fd);
}

static int poll_for_ever(void *fd)
{
	struct pollfd wait = { .fd = *(int *)fd, .events = POLLIN };

	return poll(&wait, 1, LONG * 1000) == 1 ? wait.revents : 0;
}

static void poll_wakes(void)
{
	int fd = new_region(UNIT);
	static struct task task;

	task_begin(&task, poll_for_ever, &fd);
	usleep(100000);
	CHECK(task_runs(&task));
	CHECK_INT(region_revoke(fd), 0);
	CHECK(task_ends(&task, LIMBO_SECONDS));
	CHECK(task.ret & POLLHUP);
	close(fd);
}

/* ---- pins ---- */

/* Everything that is free is taken; none of it lies in [from, from + UNIT * n). */
static void check_not_given(uint64_t from, uint64_t length, uint64_t left)
{
	int fds[128], n = 0;
	uint64_t offset;

	CHECK(WAIT_FOR(bytes_free() == left, LIMBO_SECONDS));
	while (left >= UNIT && n < 128) {
		fds[n] = new_region(UNIT);
		if (!CHECK(fds[n] >= 0))
			break;
		offset = region_info(fds[n++]).out_dev_offset;
		CHECK(offset + UNIT <= from || offset >= from + length);
		left -= UNIT;
	}
	CHECK_INT(new_region(UNIT), -ENOSPC);
	while (n)
		close(fds[--n]);
}

static void touches_too_late(int sock)
{
	CHECK_INT(touch(inherited, true), SIGBUS);
	say(sock);
}

static void limbo(void)
{
	struct peerlane_region_record record = {};
	struct peerlane_device_record device = {};
	int fd = new_region(LENGTH), import, dmabuf;
	char *at = map(fd, LENGTH);
	struct peerlane_region_status info = region_info(fd);
	uint64_t free = bytes_free();
	struct ibv_mr *mr;
	struct peer peer;
	struct rdma rdma;

	rdma_open(&rdma);
	dmabuf = region_export(fd, 0, LENGTH, 0);
	import = import_dmabuf(-1, dmabuf, 0, 0);
	/* From the middle of one unit to the middle of the next. */
	mr = rdma_reg(&rdma, at + UNIT + UNIT / 2, UNIT);
	CHECK(mr);
	CHECK_INT(region_revoke(fd), 0);
	usleep(300000);

	CHECK(region_record(info.out_id, &record));
	CHECK_INT(record.state, PEERLANE_STATE_REVOKED);
	CHECK_INT(record.pinned_units, 2);
	CHECK_INT(record.pid, getpid());
	CHECK_INT(record.mapper_pid, getpid());
	CHECK_INT(bytes_free(), free);
	CHECK(device_record("gpu0", &device));
	CHECK_INT(device.bytes_limbo, LENGTH);
	CHECK_INT(region_revoke(fd), -EBUSY);
	check_not_given(info.out_dev_offset, LENGTH, free);
	/* No new pin on it. */
	CHECK(!rdma_reg(&rdma, at, UNIT) && errno == EFAULT);
	CHECK(!rdma_reg(&rdma, at + UNIT, UNIT) && errno == EFAULT);

	/* Who only finds it gone has pinned nothing. */
	inherited = at;
	peer_start(&peer, touches_too_late);
	CHECK(hear(peer.sock));
	peer_end(&peer);
	CHECK(region_record(info.out_id, &record));
	CHECK_INT(record.mapper_pid, getpid());

	/* Nobody is left but the pin. */
	close(import);
	close(dmabuf);
	munmap(at, LENGTH);
	close(fd);
	CHECK(WAIT_FOR(region_record(info.out_id, &record) &&
		       record.state == PEERLANE_STATE_LIMBO, LIMBO_SECONDS));
	CHECK_INT(record.pinned_units, 2);
	CHECK_INT(record.mapper_pid, getpid());
	check_not_given(info.out_dev_offset, LENGTH, free);

	CHECK_INT(ibv_dereg_mr(mr), 0);
	CHECK(WAIT_FOR(!region_record(info.out_id, &record), LIMBO_SECONDS));
	CHECK(WAIT_FOR(bytes_free() == free + LENGTH, LIMBO_SECONDS));
	rdma_close(&rdma);
}

/* The file stays: the memory goes back all the same. */
static void released_under_its_file(void)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);
	uint64_t free = bytes_free(), offset = region_info(fd).out_dev_offset;
	struct ibv_mr *mr;
	struct rdma rdma;

	rdma_open(&rdma);
	mr = rdma_reg(&rdma, at, LENGTH);
	CHECK(mr);
	fill(at, LENGTH, 0x3000);
	CHECK_INT(region_revoke(fd), 0);
	CHECK_INT(ibv_dereg_mr(mr), 0);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	CHECK(WAIT_FOR(bytes_free() == free + LENGTH, LIMBO_SECONDS));
	CHECK_INT(check_fresh(LENGTH), offset);
	CHECK_INT(touch(at, false), SIGBUS);
	rdma_close(&rdma);
	munmap(at, LENGTH);
	close(fd);
}

static void page_in_a_pipe(void)
{
	int fd = new_region(LENGTH), ends[2];
	char *at = map(fd, LENGTH), byte = 0;
	struct peerlane_region_record record = {};
	uint64_t id = region_info(fd).out_id;
	struct iovec iov = { at + 3 * UNIT, PAGE };

	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	at[3 * UNIT] = 'p';
	CHECK_INT(vmsplice(ends[1], &iov, 1, 0), PAGE);
	CHECK_INT(region_revoke(fd), 0);
	usleep(300000);
	CHECK(region_record(id, &record));
	CHECK_INT(record.state, PEERLANE_STATE_REVOKED);
	CHECK_INT(record.pinned_units, 1);
	/* Not wiped under the pipe. */
	CHECK_INT(read(ends[0], &byte, 1), 1);
	CHECK_INT(byte, 'p');
	close(ends[0]);
	close(ends[1]);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	munmap(at, LENGTH);
	close(fd);
}

/* ---- who holds it ---- */

static void maps_and_waits(int sock)
{
	int fd = recv_file(sock);

	prctl(PR_SET_NAME, "borrower");
	CHECK_INT(touch(map(fd, UNIT), true), 0);
	stepped(sock);
}

static void check_command(uint64_t id, pid_t pid)
{
	char command[256], want[32], line[4096] = "";
	const char *tree = getenv("TREE");
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "%s/build/bin/peerlane",
		 tree ? tree : "");
	if (access(command, X_OK))
		return;
	snprintf(command, sizeof(command), "%s/build/bin/peerlane region list -j",
		 tree);
	pipe = popen(command, "re");
	n = fread(line, 1, sizeof(line) - 1, pipe);
	line[n] = '\0';
	CHECK_INT(pclose(pipe), 0);
	snprintf(want, sizeof(want), "%d", pid);
	CHECK_HAS(line, "borrower");
	CHECK_HAS(line, want);
	snprintf(want, sizeof(want), "%lu", id);
	CHECK_HAS(line, want);
}

static void list_names_the_mapper(void)
{
	int fd = new_region(UNIT);
	struct peerlane_region_record record = {};
	uint64_t id = region_info(fd).out_id;
	struct peer peer;

	peer_start(&peer, maps_and_waits);
	send_file(peer.sock, fd);
	CHECK(hear(peer.sock));
	CHECK(region_record(id, &record));
	CHECK_INT(record.pid, getpid());
	CHECK_INT(record.mapper_pid, peer.pid);
	CHECK_STR(record.mapper_comm, "borrower");
	CHECK_INT(record.mappings, 1);
	check_command(id, peer.pid);
	say(peer.sock);
	peer_end(&peer);
	close(fd);
}

/* ---- the other kinds ---- */

static void host_pages(void)
{
	char *at = mmap(NULL, UNIT, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = pin_host(-1, at, UNIT, 0);

	CHECK(fd >= 0);
	CHECK_INT(region_revoke(fd), 0);
	CHECK(wait_state(fd, PEERLANE_STATE_RELEASED));
	CHECK_INT(region_revoke(fd), -EBUSY);
	/* They are the caller's own. */
	CHECK_INT(touch(at, true), 0);
	close(fd);
	munmap(at, UNIT);
}

static void imported(void)
{
	int fd = new_region(UNIT), dmabuf = region_export(fd, 0, UNIT, 0);
	int import = import_dmabuf(-1, dmabuf, 0, 0);

	CHECK_INT(region_revoke(import), 0);
	CHECK(map(import, PAGE) == MAP_FAILED && errno == ENODEV);
	CHECK_INT(state_of(fd), PEERLANE_STATE_ACTIVE);
	CHECK(wait_state(import, PEERLANE_STATE_RELEASED));
	close(dmabuf);
	/* The revoked import does not hold the dma-buf any more. */
	CHECK(WAIT_FOR(region_info(fd).out_exports == 0, LIMBO_SECONDS));
	close(import);
	close(fd);
}

static const struct tap_case cases[] = {
	TAP_CASE(cuts_other_processes),
	TAP_CASE(cuts_odd_mappings),
	TAP_CASE(child_of_revoked),
	TAP_CASE(cuts_dmabufs),
	TAP_CASE(calls_afterwards),
	TAP_CASE(empty_region),
	TAP_CASE(poll_wakes),
	TAP_CASE(limbo),
	TAP_CASE(released_under_its_file),
	TAP_CASE(page_in_a_pipe),
	TAP_CASE(list_names_the_mapper),
	TAP_CASE(host_pages),
	TAP_CASE(imported),
};

int main(void)
{
	rdma_device();	/* before the first case counts open files */
	return HARNESS_RUN(cases);
}
