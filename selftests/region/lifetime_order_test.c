// SPDX-License-Identifier: GPL-2.0
/* Which of file, mapping, MR and dma-buf goes last, and in which process. */
#include <infiniband/verbs.h>

#include "lifetime.h"
#include "lifetime_rdma.h"

#define LENGTH UNIT

/* ---- orders of closing ---- */

enum { FILE_, MAPPING, MR, DMABUF, KINDS };

struct held {
	int fd, dmabuf;
	char *at;
	struct ibv_mr *mr;
};

static void end_one(struct held *held, int kind)
{
	switch (kind) {
	case FILE_:
		close(held->fd);
		break;
	case MAPPING:
		munmap(held->at, LENGTH);
		break;
	case MR:
		CHECK_INT(ibv_dereg_mr(held->mr), 0);
		break;
	case DMABUF:
		close(held->dmabuf);
		break;
	}
}

/* While one of the four is left, the memory is nobody else's. */
static void check_held(uint64_t free, uint64_t offset, const int *order,
		       int done)
{
	int fd;

	usleep(20000);
	if (bytes_free() != free) {
		CHECK(!"given back too early");
		printf("# order %d %d %d %d, after %d\n", order[0], order[1],
		       order[2], order[3], done + 1);
	}
	fd = new_region(LENGTH);
	CHECK(region_info(fd).out_dev_offset != offset);
	close(fd);
	CHECK(WAIT_FOR(bytes_free() == free, LIMBO_SECONDS));
}

static void try_order(struct rdma *rdma, const int *order)
{
	uint64_t before = bytes_free(), offset;
	struct held held;
	int i;

	held.fd = new_region(LENGTH);
	held.at = map(held.fd, LENGTH);
	held.mr = rdma_reg(rdma, held.at, LENGTH);
	held.dmabuf = region_export(held.fd, 0, LENGTH, 0);
	CHECK(held.fd >= 0 && held.at != MAP_FAILED && held.mr &&
	      held.dmabuf >= 0);
	if (tap.bad)
		return;
	offset = region_info(held.fd).out_dev_offset;
	CHECK_INT(bytes_free(), before - LENGTH);
	for (i = 0; i < KINDS; i++) {
		end_one(&held, order[i]);
		if (i < KINDS - 1)
			check_held(before - LENGTH, offset, order, i);
	}
	CHECK(WAIT_FOR(bytes_free() == before, LIMBO_SECONDS));
}

static int try_orders(struct rdma *rdma, int *order, int fixed)
{
	int i, swap, tried = 0;

	if (fixed == KINDS) {
		try_order(rdma, order);
		return 1;
	}
	for (i = fixed; i < KINDS; i++) {
		swap = order[fixed], order[fixed] = order[i], order[i] = swap;
		tried += try_orders(rdma, order, fixed + 1);
		swap = order[fixed], order[fixed] = order[i], order[i] = swap;
	}
	return tried;
}

static void every_order(void)
{
	int order[KINDS] = { FILE_, MAPPING, MR, DMABUF };
	struct rdma rdma;

	if (rdma_open(&rdma))
		CHECK_INT(try_orders(&rdma, order, 0), 24);
	rdma_close(&rdma);
}

/* ---- fork ---- */

static char *shared;

static void child_writes(int sock)
{
	CHECK_INT(differs(shared, LENGTH, 0x100), -1);
	stepped(sock);
	CHECK_INT(differs(shared, LENGTH, 0x200), -1);
	fill(shared, LENGTH, 0x300);
	stepped(sock);
}

static void forked_child_shares(void)
{
	int fd = new_region(LENGTH);
	struct peer peer;

	shared = map(fd, LENGTH);
	fill(shared, LENGTH, 0x100);
	peer_start(&peer, child_writes);
	CHECK(hear(peer.sock));
	fill(shared, LENGTH, 0x200);
	step(&peer);
	CHECK_INT(differs(shared, LENGTH, 0x300), -1);
	CHECK_INT(region_info(fd).out_mappings, 2);
	say(peer.sock);
	peer_end(&peer);
	CHECK_INT(region_info(fd).out_mappings, 1);
	munmap(shared, LENGTH);
	close(fd);
}

static void child_alone(int sock)
{
	prctl(PR_SET_PDEATHSIG, 0);	/* it may outlive its parent */
	stepped(sock);
	CHECK_INT(differs(shared, LENGTH, 0x400), -1);
	CHECK_INT(touch(shared, true), 0);
	stepped(sock);
}

static void mapping_survives_parents_close(void)
{
	int fd = new_region(LENGTH);
	uint64_t free = bytes_free(), offset = region_info(fd).out_dev_offset;
	struct peer peer;

	shared = map(fd, LENGTH);
	fill(shared, LENGTH, 0x400);
	/* Before fork(), which would hand down the file too. */
	close(fd);
	peer_start(&peer, child_alone);
	CHECK(hear(peer.sock));
	munmap(shared, LENGTH);
	CHECK_INT(bytes_free(), free);
	CHECK(check_fresh(LENGTH) != offset);
	step(&peer);
	say(peer.sock);
	peer_end(&peer);
	CHECK(WAIT_FOR(bytes_free() == free + LENGTH, LIMBO_SECONDS));
}

static void grandchild_keeps(int sock)
{
	struct peer peer;
	int fd = new_region(LENGTH);

	shared = map(fd, LENGTH);
	fill(shared, LENGTH, 0x400);
	close(fd);
	peer_start(&peer, child_alone);
	CHECK(hear(peer.sock));
	/* This process ends; the other end of its child goes to our parent. */
	send_file(sock, peer.sock);
	hear(sock);
}

static void mapping_survives_parents_exit(void)
{
	uint64_t free = bytes_free();
	int sock, status = -1;
	struct peer peer;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	peer_start(&peer, grandchild_keeps);
	sock = recv_file(peer.sock);
	say(peer.sock);
	peer_end(&peer);
	CHECK_INT(bytes_free(), free - LENGTH);
	say(sock);
	CHECK(hear(sock));
	say(sock);
	CHECK(WAIT_FOR(waitpid(-1, &status, WNOHANG) > 0, LONG));
	CHECK_INT(status, 0);
	close(sock);
	CHECK(WAIT_FOR(bytes_free() == free, LIMBO_SECONDS));
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void child_with_parents_pin(int sock)
{
	CHECK_INT(differs(shared, LENGTH, 0x500), -1);
	munmap(shared, LENGTH);
	stepped(sock);
}

/* The pin is the parent's: what the child does with its mapping is no matter. */
static void parents_memory_region(void)
{
	int fd = new_region(LENGTH);
	uint64_t free = bytes_free();
	struct peer peer;
	struct ibv_mr *mr;
	struct rdma rdma;

	rdma_open(&rdma);
	shared = map(fd, LENGTH);
	mr = rdma_reg(&rdma, shared, LENGTH);
	CHECK(mr);
	fill(shared, LENGTH, 0x500);
	peer_start(&peer, child_with_parents_pin);
	CHECK(hear(peer.sock));
	say(peer.sock);
	peer_end(&peer);
	CHECK_INT(differs(shared, LENGTH, 0x500), -1);
	munmap(shared, LENGTH);
	close(fd);
	usleep(300000);
	CHECK_INT(bytes_free(), free);
	CHECK_INT(ibv_dereg_mr(mr), 0);
	CHECK(WAIT_FOR(bytes_free() == free + LENGTH, LIMBO_SECONDS));
	rdma_close(&rdma);
}

/* ---- dma-bufs that outlive everything ---- */

static void exports_and_leaves(int sock)
{
	int fd = new_region(LENGTH);

	fill(map(fd, LENGTH), LENGTH, 0x600);
	send_file(sock, region_export(fd, 0, LENGTH, 0));
	hear(sock);
}

static void dmabuf_outlives_its_process(void)
{
	uint64_t free = bytes_free();
	struct peer peer;
	int dmabuf, import;
	char *at;

	peer_start(&peer, exports_and_leaves);
	dmabuf = recv_file(peer.sock);
	say(peer.sock);
	peer_end(&peer);
	CHECK_INT(bytes_free(), free - LENGTH);
	import = import_dmabuf(-1, dmabuf, 0, 0);
	CHECK(import >= 0);
	close(dmabuf);
	at = map(import, LENGTH);
	close(import);
	/* Only a mapping of the dma-buf is left. */
	usleep(300000);
	CHECK_INT(bytes_free(), free - LENGTH);
	CHECK_INT(differs(at, LENGTH, 0x600), -1);
	munmap(at, LENGTH);
	CHECK(WAIT_FOR(bytes_free() == free, LIMBO_SECONDS));
}

/* Two dma-bufs of one region, one of them revoked into limbo, one closed. */
static void several_dmabufs(void)
{
	int fd = new_region(2 * LENGTH), i, dmabuf[8];
	uint64_t free = bytes_free();

	for (i = 0; i < 8; i++) {
		dmabuf[i] = region_export(fd, (i & 1) * LENGTH, LENGTH, 0);
		CHECK(dmabuf[i] >= 0);
	}
	CHECK_INT(region_info(fd).out_exports, 8);
	close(fd);
	for (i = 0; i < 7; i++)
		close(dmabuf[i]);
	usleep(100000);
	CHECK_INT(bytes_free(), free);
	close(dmabuf[7]);
	CHECK(WAIT_FOR(bytes_free() == free + 2 * LENGTH, LIMBO_SECONDS));
}

static const struct tap_case cases[] = {
	TAP_CASE(every_order),
	TAP_CASE(forked_child_shares),
	TAP_CASE(mapping_survives_parents_close),
	TAP_CASE(mapping_survives_parents_exit),
	TAP_CASE(parents_memory_region),
	TAP_CASE(dmabuf_outlives_its_process),
	TAP_CASE(several_dmabufs),
};

int main(void)
{
	rdma_device();	/* before the first case counts open files */
	return HARNESS_RUN(cases);
}
