// SPDX-License-Identifier: GPL-2.0
/*
 * A device that comes and goes while processes open, map and call it.
 * $STRESS_SECONDS (10), $SEED.
 */
#include <infiniband/verbs.h>

#include "lifetime.h"
#include "lifetime_rdma.h"

#define USERS 3

static unsigned int seed;

static unsigned int dice(unsigned int sides)
{
	return rand_r(&seed) % sides;
}

/* What a device that goes at any moment may answer. */
static bool is_fair(int ret)
{
	return ret >= 0 || ret == -ENODEV || ret == -ENOENT || ret == -ENXIO ||
	       ret == -ENODATA || ret == -EBUSY;
}

static bool fair(int ret, const char *what)
{
	if (is_fair(ret))
		return ret >= 0;
	printf("# %s: %d\n", what, ret);
	tap.bad++;
	return false;
}

static void use_mapping(int fd, uint64_t length, struct rdma *rdma)
{
	char *at = map(fd, length);
	struct ibv_mr *mr;

	if (!fair(at == MAP_FAILED ? -errno : 0, "mmap"))
		return;
	touch(at + dice(length), true);
	if (!dice(8)) {
		mr = rdma_reg(rdma, at, length);
		if (mr)
			ibv_dereg_mr(mr);
		else if (errno != EFAULT)
			fair(-errno, "ibv_reg_mr");
	}
	touch(at + dice(length), false);
	munmap(at, length);
}

static void use_dmabuf(int fd)
{
	int dmabuf = region_export(fd, 0, UNIT, 0), import;

	if (!fair(dmabuf, "export"))
		return;
	import = import_dmabuf(-1, dmabuf, 0, 0);
	if (fair(import, "import")) {
		void *at = map(import, UNIT);

		if (fair(at == MAP_FAILED ? -errno : 0, "mmap of an import")) {
			touch(at, true);
			munmap(at, UNIT);
		}
		close(import);
	}
	close(dmabuf);
}

/* Whether the device was there. */
static bool use_once(struct rdma *rdma)
{
	uint64_t length = (1 + dice(4)) * UNIT;
	int fd = open_device();
	bool good;

	if (!fair(fd, "open"))
		return false;
	good = fair(region_alloc(fd, length), "alloc");
	if (good && dice(4))
		use_mapping(fd, length, rdma);
	if (good && !dice(3))
		use_dmabuf(fd);
	if (good && !dice(4))
		fair(region_revoke(fd), "revoke");
	region_info(fd);
	close(fd);
	return good;
}

static void user(int sock)
{
	unsigned long there = 0, away = 0;
	struct pollfd told = { .fd = sock, .events = POLLIN };
	struct rdma rdma;

	seed += getpid();
	if (!rdma_open(&rdma))
		return;
	while (!poll(&told, 1, 0) && !tap.bad) {
		if (use_once(&rdma)) {
			there++;
			continue;
		}
		away++;
		usleep(1000);
	}
	rdma_close(&rdma);
	printf("# %lu times there, %lu times away\n", there, away);
	CHECK(there > 0);
}

static void comes_and_goes(void)
{
	const char *text = getenv("STRESS_SECONDS");
	double end = now() + (text ? atof(text) : 10);
	struct peer peer[USERS];
	int i, rounds = 0;

	for (i = 0; i < USERS; i++)
		peer_start(&peer[i], user);
	while (now() < end && !tap.bad) {
		usleep(dice(100000));
		unbind("gpu0");
		usleep(dice(10000));
		rebind();
		rounds++;
	}
	for (i = 0; i < USERS; i++) {
		say(peer[i].sock);
		peer_end(&peer[i]);
	}
	printf("# %d rounds\n", rounds);
	check_fresh(4 * UNIT);
}

/* Wiping takes long; the device must not go under it. */
static void allocates_for_ever(int sock)
{
	struct pollfd told = { .fd = sock, .events = POLLIN };
	int fd;

	while (!poll(&told, 1, 0) && !tap.bad) {
		fd = new_region(48 * UNIT);
		/* What was given back last may not be there yet. */
		if (fd != -ENOSPC && fair(fd, "alloc of much"))
			close(fd);
		usleep(dice(20000));
	}
}

static void goes_during_wipe(void)
{
	struct peer peer;
	int i;

	peer_start(&peer, allocates_for_ever);
	for (i = 0; i < 10 && !tap.bad; i++) {
		usleep(dice(200000));
		unbind("gpu0");
		rebind();
	}
	say(peer.sock);
	peer_end(&peer);
}

static const struct tap_case cases[] = {
	TAP_CASE(comes_and_goes),
	TAP_CASE(goes_during_wipe),
};

int main(void)
{
	const char *text_seed = getenv("SEED");

	seed = text_seed ? (unsigned int)strtoul(text_seed, NULL, 0) :
			   (unsigned int)time(NULL);
	printf("# seed %u\n", seed);
	rdma_device();	/* before the first case counts open files */
	return HARNESS_RUN(cases);
}
