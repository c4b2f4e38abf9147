// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that are killed at any point of anything: nothing of them stays.
 * $SEED repeats a run, $KILLS says how many there are.
 */
#include <infiniband/verbs.h>

#include "lifetime.h"
#include "lifetime_rdma.h"

#define SLOTS 6

static unsigned int seed;

static unsigned int dice(unsigned int sides)
{
	return rand_r(&seed) % sides;
}

/* What the victim has; it never cleans up on purpose. */
struct slot {
	int fd, dmabuf;
	char *at;
	uint64_t length;
	struct ibv_mr *mr;
};

static void drop(struct slot *slot)
{
	if (slot->mr)
		ibv_dereg_mr(slot->mr);
	if (slot->at)
		munmap(slot->at, slot->length);
	if (slot->dmabuf >= 0)
		close(slot->dmabuf);
	if (slot->fd >= 0)
		close(slot->fd);
	*slot = (struct slot) { .fd = -1, .dmabuf = -1 };
}

static void map_slot(struct slot *slot)
{
	char *at = map(slot->fd, slot->length);
	uint64_t i;

	if (at == MAP_FAILED)
		return;
	slot->at = at;
	for (i = 0; i < slot->length; i += PAGE * 16)
		at[i] = 1;
}

static void pin_own(struct slot *slot)
{
	static _Alignas(4096) char own[64 * PAGE];

	drop(slot);
	slot->fd = pin_host(-1, own, sizeof(own), 0);
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	usleep(dice(30000));
	_exit(0);
}

static void act(struct slot *slot, struct rdma *rdma)
{
	switch (dice(11)) {
	case 0:
	case 1:
	case 2:
		drop(slot);
		slot->length = (1 + dice(4)) * UNIT;
		slot->fd = new_region(slot->length);
		break;
	case 3:
	case 4:
		if (slot->fd >= 0 && !slot->at)
			map_slot(slot);
		break;
	case 5:
		if (slot->at && !slot->mr)
			slot->mr = rdma_reg(rdma, slot->at, slot->length);
		break;
	case 6:
		if (slot->fd >= 0 && slot->dmabuf < 0)
			slot->dmabuf = region_export(slot->fd, 0, UNIT, 0);
		break;
	case 7:
		if (slot->dmabuf >= 0 && slot->fd >= 0) {
			close(slot->fd);
			slot->fd = import_dmabuf(-1, slot->dmabuf, 0, 0);
		}
		break;
	case 8:
		pin_own(slot);
		break;
	case 9:
		if (slot->fd >= 0)
			region_revoke(slot->fd);
		break;
	case 10:
		if (!dice(4))
			fork_once();
		break;
	}
}

static void ignore_fault(int number)
{
	(void)number;
	_exit(3);	/* it touched what another step revoked */
}

static void victim(int sock)
{
	struct slot slots[SLOTS];
	struct rdma rdma = {};
	int i;

	signal(SIGBUS, ignore_fault);
	for (i = 0; i < SLOTS; i++)
		slots[i] = (struct slot) { .fd = -1, .dmabuf = -1 };
	say(sock);
	rdma.context = ibv_open_device(rdma_device());
	if (rdma.context)
		rdma.pd = ibv_alloc_pd(rdma.context);
	while (rdma.pd)
		act(&slots[dice(SLOTS)], &rdma);
}

static void kill_one(void)
{
	struct peer peer;

	seed = seed * 1103515245 + 12345;
	peer_start(&peer, victim);
	hear(peer.sock);
	usleep(dice(dice(2) ? 20000 : 200000));
	peer_kill(&peer);
}

static void killed_anywhere(void)
{
	const char *text_kills = getenv("KILLS");
	int kills = text_kills ? atoi(text_kills) : 60, i;

	printf("# seed %u, %d kills\n", seed, kills);
	for (i = 0; i < kills; i++)
		kill_one();
	/* The harness waits for the memory. No pin is left either: */
	unbind("gpu0");
	rebind();
	check_fresh(8 * UNIT);
}

/* Two at once, and the device goes away in the middle. */
static void killed_during_unbind(void)
{
	struct peer peer[2];
	int i, round;

	for (round = 0; round < 8; round++) {
		for (i = 0; i < 2; i++) {
			seed = seed * 1103515245 + 12345;
			peer_start(&peer[i], victim);
			hear(peer[i].sock);
		}
		usleep(dice(200000));
		unbind_begin("gpu0");
		usleep(dice(100000));
		for (i = 0; i < 2; i++)
			peer_kill(&peer[i]);
		must_end(unbind_ends(LONG));
		rebind();
	}
	check_fresh(8 * UNIT);
}

/* A killed process whose memory another has: it lives as long as that one. */
static void makes_and_waits(int sock)
{
	int fd = new_region(UNIT);

	fill(map(fd, UNIT), UNIT, 0x700);
	send_file(sock, fd);
	stepped(sock);
}

static void killed_owner(void)
{
	uint64_t free = bytes_free();
	struct peer peer;
	char *at;
	int fd;

	peer_start(&peer, makes_and_waits);
	fd = recv_file(peer.sock);
	peer_kill(&peer);
	at = map(fd, UNIT);
	CHECK_INT(differs(at, UNIT, 0x700), -1);
	CHECK_INT(bytes_free(), free - UNIT);
	munmap(at, UNIT);
	close(fd);
}

static const struct tap_case cases[] = {
	TAP_CASE(killed_anywhere),
	TAP_CASE(killed_during_unbind),
	TAP_CASE(killed_owner),
};

int main(void)
{
	const char *text_seed = getenv("SEED");

	seed = text_seed ? (unsigned int)strtoul(text_seed, NULL, 0) :
			   (unsigned int)time(NULL);
	rdma_device();	/* before the first case counts open files */
	return HARNESS_RUN(cases);
}
