// SPDX-License-Identifier: GPL-2.0
/*
 * The memory goes away in the middle of copies by an engine. Each kind of
 * importer sees what its contract says, and the memory's next owner finds it
 * zero and is not written to.
 */
#include "dma.h"
#include "lifetime.h"

#define LENGTH	(2 * UNIT)
#define SIZE	64

/* ---- copies in a loop, by one importer ---- */

struct loop {
	int region, dmabuf, importer;
	uint64_t offset, free;
	int (*copy)(int importer);
	struct task task;
	atomic_bool stop;
	atomic_uint copies;
};

static struct loop loop;	/* its thread may outlive a case that failed */

static int attached_copy(int importer)
{
	char data[SIZE];

	memset(data, 'o', sizeof(data));
	return importer_copy(importer, true, 0, data, sizeof(data));
}

static int umem_self_copy(int umem)
{
	return umem_copy(umem, UNIT, 0, SIZE);
}

static int loop_main(void *unused)
{
	int ret = 0;

	(void)unused;
	while (!ret && !atomic_load(&loop.stop)) {
		ret = loop.copy(loop.importer);
		if (!ret)
			atomic_fetch_add(&loop.copies, 1);
	}
	return ret;
}

static void region_begin(void)
{
	char *at;

	loop.free = bytes_free();
	loop.region = new_region(LENGTH);
	loop.offset = region_info(loop.region).out_dev_offset;
	loop.dmabuf = region_export(loop.region, 0, LENGTH, 0);
	at = map(loop.region, LENGTH);
	memset(at + UNIT, 'o', SIZE);
	munmap(at, LENGTH);
}

static bool more_copies(unsigned int than)
{
	return atomic_load(&loop.copies) > than;
}

static void loop_begin(int importer, int (*copy)(int importer))
{
	CHECK(importer >= 0);
	loop.importer = importer;
	loop.copy = copy;
	atomic_store(&loop.stop, false);
	atomic_store(&loop.copies, 0);
	task_begin(&loop.task, loop_main, NULL);
	CHECK(WAIT_FOR(more_copies(0), LONG));
}

static void attached(uint32_t mode)
{
	int importer;

	region_begin();
	importer = importer_attach(loop.dmabuf, mode);
	CHECK_INT(importer_map(importer), 0);
	loop_begin(importer, attached_copy);
}

static void imported(uint32_t mode)
{
	int umem;

	region_begin();
	umem = umem_get(loop.dmabuf, mode, 0, LENGTH);
	if (mode == PL_UMEM_DYNAMIC)
		CHECK_INT(dma_call(umem, PL_UMEM_MAP, NULL), 0);
	loop_begin(umem, umem_self_copy);
}

/* The copies stopped by themselves, as their mapping has gone. */
static void check_cut(void)
{
	must_end(task_ends(&loop.task, LONG));
	CHECK_INT(loop.task.ret, -ENOENT);
	CHECK_INT(loop.copy(loop.importer), -ENOENT);
}

static void check_goes_on(void)
{
	unsigned int before = atomic_load(&loop.copies);

	CHECK(WAIT_FOR(more_copies(before + 1), LONG));
	CHECK(task_runs(&loop.task));
}

static void stop(void)
{
	atomic_store(&loop.stop, true);
	must_end(task_ends(&loop.task, LONG));
	CHECK_INT(loop.task.ret, 0);
}

/* Two more copies' time; the importer may be there still. */
static void check_next_owner(void)
{
	char *at;
	int fd;

	CHECK(WAIT_FOR(bytes_free() == loop.free, LIMBO_SECONDS));
	fd = new_region(LENGTH);
	at = map(fd, LENGTH);
	CHECK_INT(region_info(fd).out_dev_offset, loop.offset);
	CHECK(is_zero(at, LENGTH));
	memset(at, 'n', LENGTH);
	usleep(500000);
	CHECK(at[0] == 'n' && !memcmp(at, at + 1, LENGTH - 1));
	munmap(at, LENGTH);
	close(fd);
}

static void loop_end(void)
{
	close(loop.importer);
	close(loop.dmabuf);
	close(loop.region);
}

/* ---- who lets go ---- */

static void revoke_cuts(void)
{
	CHECK_INT(region_revoke(loop.region), 0);
	/* Not in the middle of one, nor behind it. */
	CHECK_INT(loop.copy(loop.importer), -ENOENT);
	CHECK(wait_state(loop.region, PEERLANE_STATE_RELEASED));
	check_next_owner();
	check_cut();
}

static void dynamic_importer_revoked(void)
{
	attached(PL_DYNAMIC);
	revoke_cuts();
	CHECK_INT(importer_map(loop.importer), -ENODEV);
	loop_end();
}

static void dynamic_import_by_rdma_core_revoked(void)
{
	imported(PL_UMEM_DYNAMIC);
	revoke_cuts();
	CHECK_INT(dma_call(loop.importer, PL_UMEM_MAP, NULL), -ENODEV);
	loop_end();
}

/* Where there are none, the next best: they obey, though they pin. */
static void begin_revocable(void)
{
	if (umem_get(-1, PL_UMEM_REVOCABLE, 0, PAGE) == -EOPNOTSUPP)
		attached(PL_PINNED_REVOCABLE);
	else
		imported(PL_UMEM_REVOCABLE);
}

static void revocable_import_revoked(void)
{
	begin_revocable();
	revoke_cuts();
	loop_end();
}

static void unbind_cuts(void)
{
	unbind("gpu0");
	check_cut();
	rebind();
	check_next_owner();
}

static void dynamic_importer_unbound(void)
{
	attached(PL_DYNAMIC);
	unbind_cuts();
	CHECK_INT(importer_map(loop.importer), -ENODEV);
	loop_end();
}

static void revocable_import_unbound(void)
{
	begin_revocable();
	unbind_cuts();
	loop_end();
}

/* ---- who does not ---- */

static void revoke_waits(void)
{
	CHECK_INT(region_revoke(loop.region), 0);
	check_goes_on();
	CHECK_INT(state_of(loop.region), PEERLANE_STATE_REVOKED);
	stop();
	close(loop.importer);
	CHECK(wait_state(loop.region, PEERLANE_STATE_RELEASED));
	check_next_owner();
	close(loop.dmabuf);
	close(loop.region);
}

static void pinned_importer_revoked(void)
{
	attached(PL_PINNED);
	revoke_waits();
}

static void pinned_import_by_rdma_core_revoked(void)
{
	imported(PL_UMEM_PINNED);
	revoke_waits();
}

/* ---- removal ---- */

static struct task going;
static char pci[32];

static int unplug(void *unused)
{
	(void)unused;
	return system("host device-del bar0");
}

static int unbind_device(void *unused)
{
	(void)unused;
	return unbind_pci(pci);
}

/* It says that it waits, and does while the copies go on. */
static void removal_waits(int (*run)(void *unused))
{
	int log = log_open();
	struct log_line line;

	CHECK(pci_of("gpu0", pci));
	task_begin(&going, run, NULL);
	CHECK(log_find(log, "removal waits for", LONG, &line));
	CHECK_HAS(line.text, "1 DMA mappings");
	check_goes_on();
	CHECK(task_runs(&going));
	stop();
	CHECK(task_runs(&going));
	close(loop.importer);
	must_end(task_ends(&going, LONG));
	CHECK_INT(going.ret, 0);
	close(loop.dmabuf);
	close(loop.region);
	close(log);
}

static void bring_back(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", pci);
	CHECK(WAIT_FOR(!access(path, F_OK), LONG));
	CHECK_INT(pci_settle(), 0);
	CHECK_INT(bind_pci(pci), 0);
	CHECK(WAIT_FOR(has_node("gpu0"), LONG));
}

static void pinned_importer_unbound(void)
{
	attached(PL_PINNED);
	removal_waits(unbind_device);
	bring_back();
	check_next_owner();
}

static void pinned_import_by_rdma_core_unbound(void)
{
	imported(PL_UMEM_PINNED);
	removal_waits(unbind_device);
	bring_back();
	check_next_owner();
}

static void pinned_importer_unplugged(void)
{
	attached(PL_PINNED);
	removal_waits(unplug);
	CHECK_INT(system("host device-add bar0"), 0);
	bring_back();
	check_next_owner();
}

static void dynamic_importer_unplugged(void)
{
	attached(PL_DYNAMIC);
	CHECK(pci_of("gpu0", pci));
	CHECK_INT(unplug(NULL), 0);
	check_cut();
	CHECK_INT(system("host device-add bar0"), 0);
	bring_back();
	check_next_owner();
	loop_end();
}

/* ---- a process that dies in the middle ---- */

static void copies_until_killed(int sock)
{
	attached(PL_PINNED);
	stepped(sock);
}

static void importer_killed(void)
{
	uint64_t free = bytes_free();
	struct peer peer;

	peer_start(&peer, copies_until_killed);
	CHECK(hear(peer.sock));
	peer_kill(&peer);
	loop.offset = 0;
	loop.free = free;
	check_next_owner();
}

static const struct tap_case cases[] = {
	TAP_CASE(dynamic_importer_revoked),
	TAP_CASE(dynamic_import_by_rdma_core_revoked),
	TAP_CASE(revocable_import_revoked),
	TAP_CASE(dynamic_importer_unbound),
	TAP_CASE(revocable_import_unbound),
	TAP_CASE(pinned_importer_revoked),
	TAP_CASE(pinned_import_by_rdma_core_revoked),
	TAP_CASE(pinned_importer_unbound),
	TAP_CASE(pinned_import_by_rdma_core_unbound),
	TAP_CASE(pinned_importer_unplugged),
	TAP_CASE(dynamic_importer_unplugged),
	TAP_CASE(importer_killed),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
