// SPDX-License-Identifier: GPL-2.0
/* Unbinding a device whose memory is in use, without pins on it. */
#include <sys/epoll.h>

#include "lifetime.h"

#define LENGTH (2 * UNIT)

/* What every call says on a region whose device is gone. */
static void check_gone(int fd)
{
	CHECK_INT(region_alloc(fd, UNIT), -ENODEV);
	CHECK(text[0]);
	CHECK_INT(region_export(fd, 0, PAGE, 0), -ENODEV);
	CHECK(map(fd, PAGE) == MAP_FAILED && errno == ENODEV);
	CHECK_INT(region_revoke(fd), -EBUSY);
	CHECK_INT(state_of(fd), PEERLANE_STATE_RELEASED);
}

/* An open file without memory: it can get none, not even of the next device. */
static void check_gone_empty(int fd)
{
	CHECK_INT(region_alloc(fd, UNIT), -ENODEV);
	CHECK_INT(region_alloc(fd, 64 * UNIT), -ENODEV);
	CHECK(map(fd, PAGE) == MAP_FAILED && errno == ENODEV);
	CHECK_INT(state_of(fd), PEERLANE_STATE_EMPTY);
}

static void idle_file(void)
{
	int fd = open_device();

	unbind("gpu0");
	check_gone_empty(fd);
	CHECK(!has_node("gpu0"));
	rebind();
	check_gone_empty(fd);
	close(fd);
	check_fresh(LENGTH);
}

static void memory_without_mapping(void)
{
	int fd = new_region(LENGTH);

	unbind("gpu0");
	check_gone(fd);
	rebind();
	check_gone(fd);
	close(fd);
}

static void mapping(void)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);
	uint64_t offset = region_info(fd).out_dev_offset;

	fill(at, LENGTH, 0x1000);
	unbind("gpu0");
	CHECK_INT(touch(at, false), SIGBUS);
	CHECK_INT(touch(at + LENGTH - 1, true), SIGBUS);
	check_gone(fd);
	rebind();
	/* The old mapping does not come back with the device. */
	CHECK_INT(touch(at, false), SIGBUS);
	CHECK_INT(check_fresh(LENGTH), offset);
	munmap(at, LENGTH);
	close(fd);
}

static void mapping_without_file(void)
{
	int fd = open_device();
	char *at = map(fd, LENGTH);

	close(fd);
	fill(at, LENGTH, 0x2000);
	unbind("gpu0");
	CHECK_INT(touch(at, true), SIGBUS);
	rebind();
	CHECK_INT(touch(at, true), SIGBUS);
	munmap(at, LENGTH);
	check_fresh(LENGTH);
}

/* Firmware, or whoever had the device in between, left something there. */
static void rebound_memory_is_wiped(void)
{
	int fd = new_region(LENGTH);

	close(fd);
	unbind("gpu0");
	CHECK_INT(system("host bar-fill 1 0 0 8M 0xa5"), 0);
	rebind();
	check_fresh(4 * UNIT);
}

static void poll_wakes(void)
{
	int fd = new_region(UNIT), epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	CHECK_INT(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	CHECK_INT(poll(&wait, 1, 0), 0);
	unbind_begin("gpu0");
	CHECK_INT(epoll_wait(epoll, &event, 1, LONG * 1000), 1);
	CHECK(event.events & EPOLLHUP);
	CHECK_INT(poll(&wait, 1, 0), 1);
	CHECK(wait.revents & POLLHUP);
	must_end(unbind_ends(LONG));
	close(epoll);
	close(fd);
	rebind();
}

/* ---- other processes ---- */

static char *inherited;

static void touches_inherited(int sock)
{
	CHECK_INT(touch(inherited, true), 0);
	stepped(sock);
	CHECK_INT(touch(inherited, false), SIGBUS);
	CHECK_INT(touch(inherited + LENGTH - 1, true), SIGBUS);
}

static void forked_child(void)
{
	int fd = open_device();
	struct peer peer;

	inherited = map(fd, LENGTH);
	fill(inherited, LENGTH, 0x3000);
	peer_start(&peer, touches_inherited);
	CHECK(hear(peer.sock));
	/* The child alone has it now. */
	munmap(inherited, LENGTH);
	close(fd);
	unbind("gpu0");
	say(peer.sock);
	peer_end(&peer);
	rebind();
	check_fresh(LENGTH);
}

static void maps_received(int sock)
{
	int fd = recv_file(sock);
	char *at = map(fd, LENGTH);

	CHECK_INT(touch(at, true), 0);
	stepped(sock);
	CHECK_INT(touch(at, false), SIGBUS);
	check_gone(fd);
}

static void passed_file(void)
{
	int fd = new_region(LENGTH);
	struct peer peer;

	peer_start(&peer, maps_received);
	send_file(peer.sock, fd);
	close(fd);
	CHECK(hear(peer.sock));
	unbind("gpu0");
	say(peer.sock);
	peer_end(&peer);
	rebind();
}

/* Nobody has it open: it lies in a socket. */
static void file_in_flight(void)
{
	int fd = new_region(LENGTH), pair[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	send_file(pair[0], fd);
	close(fd);
	unbind("gpu0");
	rebind();
	fd = recv_file(pair[1]);
	check_gone(fd);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

/* ---- dma-bufs ---- */

static void dmabuf_mapped(void)
{
	int fd = new_region(LENGTH);
	int dmabuf = region_export(fd, UNIT, UNIT, 0);
	char *at = map(dmabuf, UNIT), *whole = map(fd, LENGTH);

	CHECK(dmabuf >= 0);
	fill(whole, LENGTH, 0x4000);
	CHECK_INT(differs(at, UNIT, 0x4000 + UNIT / 8), -1);
	unbind("gpu0");
	CHECK_INT(touch(at, false), SIGBUS);
	CHECK_INT(touch(whole, false), SIGBUS);
	CHECK(map(dmabuf, PAGE) == MAP_FAILED && errno == ENODEV);
	check_gone(fd);
	rebind();
	CHECK_INT(touch(at, true), SIGBUS);
	CHECK(map(dmabuf, PAGE) == MAP_FAILED && errno == ENODEV);
	munmap(at, UNIT);
	munmap(whole, LENGTH);
	close(dmabuf);
	close(fd);
	check_fresh(LENGTH);
}

static void dmabuf_alone(void)
{
	int fd = new_region(LENGTH);
	int dmabuf = region_export(fd, 0, LENGTH, 0);
	int import = import_dmabuf(-1, dmabuf, 0, 0);
	char *at = map(import, LENGTH);

	close(fd);
	close(dmabuf);
	CHECK(import >= 0);
	CHECK_INT(touch(at, true), 0);
	unbind("gpu0");
	CHECK_INT(touch(at, true), SIGBUS);
	CHECK(map(import, PAGE) == MAP_FAILED && errno == ENODEV);
	rebind();
	CHECK_INT(touch(at, true), SIGBUS);
	munmap(at, LENGTH);
	close(import);
}

/* ---- the other device ---- */

static int new_on(const char *device, uint64_t length)
{
	int fd;

	setenv("DEVICE", device, 1);
	fd = new_region(length);
	unsetenv("DEVICE");
	return fd;
}

static void other_device(void)
{
	int fd = new_region(LENGTH), other = new_on("gpu1", LENGTH);
	char *at = map(fd, LENGTH), *far = map(other, LENGTH);

	CHECK(other >= 0);
	fill(far, LENGTH, 0x5000);
	unbind("gpu0");
	CHECK_INT(touch(at, false), SIGBUS);
	CHECK_INT(differs(far, LENGTH, 0x5000), -1);
	CHECK_INT(state_of(other), PEERLANE_STATE_ACTIVE);
	CHECK_STR(region_info(other).out_device, "gpu1");
	rebind();
	CHECK_INT(differs(far, LENGTH, 0x5000), -1);
	munmap(at, LENGTH);
	munmap(far, LENGTH);
	close(fd);
	close(other);
}

/* Ten files and ten mappings of one device, all in use. */
static void many_regions(void)
{
	char *at[10];
	int fd[10], i;

	for (i = 0; i < 10; i++) {
		fd[i] = new_region(UNIT);
		at[i] = map(fd[i], UNIT);
		CHECK_INT(touch(at[i], true), 0);
	}
	unbind("gpu0");
	for (i = 0; i < 10; i++) {
		CHECK_INT(touch(at[i], true), SIGBUS);
		CHECK_INT(state_of(fd[i]), PEERLANE_STATE_RELEASED);
	}
	rebind();
	CHECK_INT(check_fresh(UNIT), 0);
	for (i = 0; i < 10; i++) {
		munmap(at[i], UNIT);
		close(fd[i]);
	}
}

static const struct tap_case cases[] = {
	TAP_CASE(idle_file),
	TAP_CASE(memory_without_mapping),
	TAP_CASE(mapping),
	TAP_CASE(mapping_without_file),
	TAP_CASE(rebound_memory_is_wiped),
	TAP_CASE(poll_wakes),
	TAP_CASE(forked_child),
	TAP_CASE(passed_file),
	TAP_CASE(file_in_flight),
	TAP_CASE(dmabuf_mapped),
	TAP_CASE(dmabuf_alone),
	TAP_CASE(other_device),
	TAP_CASE(many_regions),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
