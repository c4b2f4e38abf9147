// SPDX-License-Identifier: GPL-2.0
/* A device that is unplugged, removed or reset while its memory is in use. */
#include <infiniband/verbs.h>

#include "lifetime.h"
#include "lifetime_rdma.h"

#define LENGTH (2 * UNIT)

/* All there is of use, in this process. */
struct use {
	struct rdma rdma;
	struct ibv_mr *mr;
	char *at, *of_dmabuf;
	uint64_t offset;
	int fd, idle, dmabuf;
};

static void use_begin(struct use *use)
{
	use->idle = open_device();
	use->fd = new_region(LENGTH);
	use->offset = region_info(use->fd).out_dev_offset;
	use->at = map(use->fd, LENGTH);
	use->dmabuf = region_export(use->fd, 0, LENGTH, 0);
	use->of_dmabuf = map(use->dmabuf, LENGTH);
	rdma_open(&use->rdma);
	use->mr = rdma_reg(&use->rdma, use->at, LENGTH);
	CHECK(use->mr);
	fill(use->of_dmabuf, LENGTH, 0x100);
}

static void check_cut(const struct use *use)
{
	CHECK_INT(touch(use->at, true), SIGBUS);
	CHECK_INT(touch(use->of_dmabuf, false), SIGBUS);
	CHECK(map(use->fd, PAGE) == MAP_FAILED && errno == ENODEV);
	CHECK_INT(region_export(use->fd, 0, PAGE, 0), -ENODEV);
}

static void use_end(struct use *use)
{
	rdma_close(&use->rdma);
	munmap(use->at, LENGTH);
	munmap(use->of_dmabuf, LENGTH);
	close(use->dmabuf);
	close(use->fd);
	close(use->idle);
}

static void unpin(struct use *use)
{
	CHECK_INT(ibv_dereg_mr(use->mr), 0);
}

/* ---- what takes the device away ---- */

static char pci[32];

static const char *pci_file(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", pci, name);
	return path;
}

static bool has_function(void)
{
	return !access(pci_file("vendor"), F_OK);
}

static int unplug(void *unused)
{
	(void)unused;
	return system("host device-del bar0");
}

static int remove_function(void *unused)
{
	(void)unused;
	return write_text(pci_file("remove"), "1");
}

static void bring_back(void)
{
	CHECK(WAIT_FOR(has_function(), LONG));
	CHECK_INT(pci_settle(), 0);
	CHECK_INT(bind_pci(pci), 0);
	CHECK(WAIT_FOR(has_node("gpu0"), LONG));
}

static struct task going;

/* It waits for the pin and says so; cut from the first moment. */
static void go(int (*run)(void *unused), struct use *use)
{
	int log = log_open();
	struct log_line line;

	CHECK(pci_of("gpu0", pci));
	task_begin(&going, run, NULL);
	CHECK(log_find(log, "removal waits for", LONG, &line));
	CHECK_HAS(line.text, log_name());
	CHECK(task_runs(&going));
	check_cut(use);
	CHECK(!has_node("gpu0"));
	unpin(use);
	must_end(task_ends(&going, 2 * LONG));
	CHECK_INT(going.ret, 0);
	close(log);
}

static void check_after(const struct use *use)
{
	check_cut(use);
	CHECK_INT(region_alloc(use->idle, UNIT), -ENODEV);
	CHECK_INT(check_fresh(LENGTH), use->offset);
}

static void unplugged(void)
{
	struct use use;

	use_begin(&use);
	go(unplug, &use);
	CHECK(!has_function());
	/* Another board comes into the slot, and it is not zero. */
	CHECK_INT(system("host bar-fill 1 0 0 4M 0x5a"), 0);
	CHECK_INT(system("host device-add bar0"), 0);
	bring_back();
	check_after(&use);
	use_end(&use);
}

static void holds_pin(int sock)
{
	struct use use;

	use_begin(&use);
	stepped(sock);
}

static void unplugged_holder_killed(void)
{
	int log = log_open();
	struct log_line line;
	struct peer peer;

	CHECK(pci_of("gpu0", pci));
	peer_start(&peer, holds_pin);
	CHECK(hear(peer.sock));
	task_begin(&going, unplug, NULL);
	CHECK(log_find(log, "removal waits for", LONG, &line));
	peer_kill(&peer);
	must_end(task_ends(&going, 2 * LONG));
	CHECK_INT(going.ret, 0);
	CHECK_INT(system("host device-add bar0"), 0);
	bring_back();
	check_fresh(LENGTH);
	close(log);
}

static void removed_and_rescanned(void)
{
	struct use use;

	use_begin(&use);
	go(remove_function, &use);
	CHECK(!has_function());
	CHECK_INT(write_text("/sys/bus/pci/rescan", "1"), 0);
	bring_back();
	check_after(&use);
	use_end(&use);
}

/* The other device works on while one is unplugged. */
static void other_device(void)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH), other[32];

	CHECK(pci_of("gpu1", other));
	fill(at, LENGTH, 0x200);
	CHECK_INT(system("host device-del bar1"), 0);
	CHECK(!has_node("gpu1"));
	CHECK_INT(differs(at, LENGTH, 0x200), -1);
	CHECK_INT(state_of(fd), PEERLANE_STATE_ACTIVE);
	CHECK_INT(system("host device-add bar1"), 0);
	snprintf(pci, sizeof(pci), "%s", other);
	CHECK(WAIT_FOR(has_function(), LONG));
	CHECK_INT(pci_settle(), 0);
	CHECK_INT(bind_pci(pci), 0);
	CHECK(WAIT_FOR(has_node("gpu1"), LONG));
	CHECK_INT(differs(at, LENGTH, 0x200), -1);
	munmap(at, LENGTH);
	close(fd);
}

/* ---- reset ---- */

static bool can_reset(void)
{
	CHECK(pci_of("gpu0", pci));
	if (!access(pci_file("reset"), W_OK))
		return true;
	SKIP("the function has no reset");
	return false;
}

static void reset(void)
{
	CHECK_INT(write_text(pci_file("reset"), "1"), 0);
}

static void reset_revokes(void)
{
	struct peerlane_region_record record = {};
	struct pollfd wait = { .events = POLLIN };
	struct use use;
	uint64_t id, free;
	int fd;

	if (!can_reset())
		return;
	use_begin(&use);
	id = region_info(use.fd).out_id;
	free = bytes_free();
	reset();
	check_cut(&use);
	wait.fd = use.fd;
	CHECK_INT(poll(&wait, 1, 0), 1);
	CHECK(wait.revents & POLLHUP);
	/* Still the same device, and the pinned memory is nobody's. */
	CHECK(has_node("gpu0"));
	CHECK(region_record(id, &record));
	CHECK_INT(record.state, PEERLANE_STATE_REVOKED);
	CHECK_INT(record.pinned_units, 2);
	fd = new_region(LENGTH);
	CHECK(region_info(fd).out_dev_offset != use.offset);
	close(fd);
	CHECK(WAIT_FOR(bytes_free() == free, LIMBO_SECONDS));
	unpin(&use);
	CHECK(wait_state(use.fd, PEERLANE_STATE_RELEASED));
	CHECK(WAIT_FOR(bytes_free() == free + LENGTH, LIMBO_SECONDS));
	/* An empty region survives a reset. */
	CHECK_INT(region_alloc(use.idle, LENGTH), 0);
	CHECK_INT(region_info(use.idle).out_dev_offset, use.offset);
	use_end(&use);
}

/* What memory holds after a reset is nobody's business to predict. */
static void reset_memory_is_wiped(void)
{
	uint64_t free = bytes_free();

	if (!can_reset())
		return;
	CHECK_INT(check_fresh(LENGTH), 0);
	/* It is wiped, and known to be. */
	CHECK(WAIT_FOR(bytes_free() == free, LIMBO_SECONDS));
	reset();
	CHECK_INT(system("host bar-fill 1 0 0 4M 0x77"), 0);
	CHECK_INT(check_fresh(LENGTH), 0);
}

static void allocates(int sock)
{
	struct pollfd told = { .fd = sock, .events = POLLIN };
	int fd, n = 0;
	char *at;

	while (!poll(&told, 1, 0) && !tap.bad) {
		fd = new_region(8 * UNIT);
		if (fd < 0) {
			CHECK(fd == -ENODEV || fd == -ENOSPC);
			continue;
		}
		at = map(fd, UNIT);
		if (at != MAP_FAILED) {
			touch(at, true);
			munmap(at, UNIT);
		}
		close(fd);
		n++;
	}
	CHECK(n > 0);
}

static void reset_against_use(void)
{
	struct peer peer;
	int i;

	if (!can_reset())
		return;
	peer_start(&peer, allocates);
	for (i = 0; i < 5; i++) {
		usleep(100000);
		reset();
	}
	say(peer.sock);
	peer_end(&peer);
}

static const struct tap_case cases[] = {
	TAP_CASE(unplugged),
	TAP_CASE(unplugged_holder_killed),
	TAP_CASE(removed_and_rescanned),
	TAP_CASE(other_device),
	TAP_CASE(reset_revokes),
	TAP_CASE(reset_memory_is_wiped),
	TAP_CASE(reset_against_use),
};

int main(void)
{
	rdma_device();	/* before the first case counts open files */
	return HARNESS_RUN(cases);
}
