// SPDX-License-Identifier: GPL-2.0
/*
 * Revocation against whoever takes the memory at that moment: faults, mmap,
 * fork, mremap, GUP by ibv_reg_mr, vmsplice and O_DIRECT.
 *
 * One rule for all: what begins after REGION_REVOKE has returned must fail.
 * $STRESS_SECONDS is for the whole program (10), $SEED repeats the dice.
 */
#include <infiniband/verbs.h>

#include "disk.h"
#include "lifetime.h"
#include "lifetime_rdma.h"

#define LENGTH		UNIT
#define TOUCHERS	2
#define DISK		"/dev/nvme0n1"

static unsigned int seed;
static double share;			/* seconds for one case */

static unsigned int dice(unsigned int *own, unsigned int sides)
{
	return rand_r(own) % sides;
}

/* ---- one victim: in memory that forked children share ---- */

struct victim {
	int fd;
	char *at;
	atomic_bool gone;		/* REGION_REVOKE has returned */
	atomic_bool stop;
	atomic_ulong good, refused, late;
};

static struct victim *victim;

static void victim_new(void)
{
	memset(victim, 0, sizeof(*victim));
	victim->fd = new_region(LENGTH);
	victim->at = map(victim->fd, LENGTH);
	CHECK(victim->fd >= 0 && victim->at != MAP_FAILED);
}

static void victim_end(void)
{
	munmap(victim->at, LENGTH);
	close(victim->fd);
}

/* @was_gone: before the attempt. */
static void count(bool was_gone, bool good)
{
	atomic_fetch_add(good ? &victim->good : &victim->refused, 1);
	if (was_gone && good)
		atomic_fetch_add(&victim->late, 1);
}

static __thread sigjmp_buf escape;

static void faulted(int number)
{
	siglongjmp(escape, number);
}

static bool poke(char *at)
{
	if (sigsetjmp(escape, 0))
		return false;
	__atomic_store_n(at, 'x', __ATOMIC_RELAXED);
	return true;
}

static bool is_in_use(void)
{
	return atomic_load(&victim->good);
}

/* Somewhere in the middle; half the times not before the first success. */
static void revoke_soon(unsigned int most_us)
{
	double until;

	if (dice(&seed, 2))
		CHECK(WAIT_FOR(is_in_use(), LONG));
	until = now() + dice(&seed, most_us) / 1e6;
	while (now() < until)
		;
	CHECK_INT(region_revoke(victim->fd), 0);
	atomic_store(&victim->gone, true);
}

/* ---- faults, mmap, mremap, madvise ---- */

static void touch_mapping(unsigned int *own)
{
	bool was_gone = atomic_load(&victim->gone);

	count(was_gone, poke(victim->at + dice(own, LENGTH)));
}

/*
 * Kept for a while: mmap() may have begun before the revocation and ended after
 * it, and what it made must be cut as well.
 */
static void touch_new_mapping(unsigned int *own)
{
	bool was_gone = atomic_load(&victim->gone);
	char *at = map(victim->fd, LENGTH);
	double until = now() + dice(own, 3000) / 1e6;

	if (at == MAP_FAILED)
		return count(was_gone, false);
	do {
		count(was_gone, poke(at + dice(own, LENGTH)));
		was_gone = atomic_load(&victim->gone);
	} while (now() < until);
	munmap(at, LENGTH);
}

static void touch_moved_mapping(unsigned int *own)
{
	bool was_gone = atomic_load(&victim->gone);
	char *at = map(victim->fd, LENGTH), *moved;

	if (at == MAP_FAILED)
		return count(was_gone, false);
	poke(at + dice(own, LENGTH));
	moved = mremap(at, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED,
		       mmap(NULL, LENGTH, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	was_gone = atomic_load(&victim->gone);
	count(was_gone, poke(moved + dice(own, LENGTH)));
	munmap(moved, LENGTH);
}

static void touch_dropped_pages(unsigned int *own)
{
	bool was_gone;

	madvise(victim->at, LENGTH, MADV_DONTNEED);
	was_gone = atomic_load(&victim->gone);
	count(was_gone, poke(victim->at + dice(own, LENGTH)));
}

static void (*const touches[])(unsigned int *own) = {
	touch_mapping, touch_new_mapping, touch_moved_mapping,
	touch_dropped_pages,
};

struct toucher {
	struct task task;
	unsigned int seed, way;
};

static int toucher_main(void *arg)
{
	struct toucher *toucher = arg;

	while (!atomic_load(&victim->stop))
		touches[toucher->way](&toucher->seed);
	return 0;
}

static bool is_all(const char *at, char byte)
{
	return at[0] == byte && !memcmp(at, at + 1, LENGTH - 1);
}

/* The memory's next user finds it zero, and nobody writes into it. */
static void check_next_user(void)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);

	CHECK(is_all(at, 0));
	memset(at, 'c', LENGTH);
	usleep(1000);
	CHECK(is_all(at, 'c'));
	munmap(at, LENGTH);
	close(fd);
}

static void touch_round(void)
{
	static struct toucher touchers[TOUCHERS];
	int i;

	victim_new();
	for (i = 0; i < TOUCHERS; i++) {
		touchers[i].seed = rand_r(&seed);
		touchers[i].way = dice(&seed, ARRAY_SIZE(touches));
		task_begin(&touchers[i].task, toucher_main, &touchers[i]);
	}
	revoke_soon(3000);
	CHECK(wait_state(victim->fd, PEERLANE_STATE_RELEASED));
	check_next_user();
	atomic_store(&victim->stop, true);
	for (i = 0; i < TOUCHERS; i++)
		CHECK(task_ends(&touchers[i].task, LONG));
	victim_end();
}

static void repeat(void (*round)(void))
{
	unsigned long good = 0, refused = 0, late = 0, rounds = 0;
	double end = now() + share, most = end + LONG;
	bool met;

	do {
		round();
		good += victim->good;
		refused += victim->refused;
		late += victim->late;
		rounds++;
		met = good && refused;
	} while (now() < (met ? end : most) && !tap.bad);
	printf("# %lu rounds; %lu times there, %lu times gone, %lu times too late\n",
	       rounds, good, refused, late);
	CHECK_INT(late, 0);
	CHECK(met);
}

static void faults(void)
{
	repeat(touch_round);
}

/* ---- mmap by several processes ---- */

#define MAPPERS 4

/*
 * Between mmap of the driver and the mapping's entry into the region's address
 * space others hold that space's lock, so that this moment is long.
 */
static void map_round(void)
{
	pid_t pid[MAPPERS];
	unsigned int own;
	int i;

	victim_new();
	for (i = 0; i < MAPPERS; i++) {
		own = rand_r(&seed);
		pid[i] = fork();
		if (pid[i])
			continue;
		while (!atomic_load(&victim->stop))
			touch_new_mapping(&own);
		_exit(0);
	}
	revoke_soon(10000);
	usleep(5000);
	atomic_store(&victim->stop, true);
	for (i = 0; i < MAPPERS; i++)
		CHECK_INT(reap(pid[i], LONG), 0);
	victim_end();
}

static void mappings(void)
{
	repeat(map_round);
}

/* ---- fork ---- */

static void child_touches(void)
{
	unsigned int own = getpid();
	int i;

	for (i = 0; i < 50; i++)
		touch_mapping(&own);
	_exit(0);
}

static int forker_main(void *arg)
{
	pid_t pid;
	int i;

	(void)arg;
	for (i = 0; i < 6; i++) {
		pid = fork();
		if (!pid)
			child_touches();
		if (reap(pid, LONG))
			return -1;
	}
	return 0;
}

static void fork_round(void)
{
	static struct task task;

	victim_new();
	poke(victim->at);
	task_begin(&task, forker_main, NULL);
	revoke_soon(20000);
	CHECK(task_ends(&task, LONG));
	CHECK_INT(task.ret, 0);
	victim_end();
}

static void forks(void)
{
	repeat(fork_round);
}

/* ---- pins ---- */

static struct rdma rdma;
static struct ibv_mr *kept;

static int registrar_main(void *arg)
{
	unsigned int own = *(unsigned int *)arg;
	struct ibv_mr *mr;
	bool was_gone;
	int i;

	for (i = 0; i < 200 && !kept; i++) {
		was_gone = atomic_load(&victim->gone);
		mr = rdma_reg(&rdma, victim->at, LENGTH);
		if (!mr && errno != EFAULT)
			return -errno;
		count(was_gone, mr);
		if (!mr && was_gone)
			break;
		if (mr && !dice(&own, 4))
			kept = mr;
		else if (mr)
			ibv_dereg_mr(mr);
	}
	return 0;
}

/* The MR and the revocation met: its memory is nobody else's. */
static void check_kept(void)
{
	struct peerlane_region_status info = region_info(victim->fd);
	struct peerlane_region_record record = {};
	uint64_t other;
	int fd;

	usleep(20000);
	CHECK(region_record(info.out_id, &record));
	CHECK_INT(record.state, PEERLANE_STATE_REVOKED);
	CHECK_INT(record.pinned_units, LENGTH / UNIT);
	fd = new_region(LENGTH);
	other = region_info(fd).out_dev_offset;
	CHECK(other + LENGTH <= info.out_dev_offset ||
	      other >= info.out_dev_offset + LENGTH);
	close(fd);
	CHECK_INT(ibv_dereg_mr(kept), 0);
}

static void register_round(void)
{
	static struct task task;
	static unsigned int own;

	own = rand_r(&seed);
	kept = NULL;
	victim_new();
	task_begin(&task, registrar_main, &own);
	revoke_soon(30000);
	CHECK(task_ends(&task, LONG));
	CHECK_INT(task.ret, 0);
	if (kept)
		check_kept();
	CHECK(wait_state(victim->fd, PEERLANE_STATE_RELEASED));
	victim_end();
}

static void memory_regions(void)
{
	if (rdma_open(&rdma))
		repeat(register_round);
	rdma_close(&rdma);
}

/* Pages in a pipe: GUP-fast, and gone again with the pipe. */
static int splicer_main(void *arg)
{
	unsigned int own = *(unsigned int *)arg;
	struct iovec iov = { .iov_len = 4 * PAGE };
	int ends[2], i;
	bool was_gone;

	for (i = 0; i < 2000; i++) {
		if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
			return -errno;
		iov.iov_base = victim->at + dice(&own, LENGTH / PAGE - 4) * PAGE;
		was_gone = atomic_load(&victim->gone);
		count(was_gone, vmsplice(ends[1], &iov, 1, 0) > 0);
		close(ends[0]);
		close(ends[1]);
		if (was_gone)
			break;
	}
	return 0;
}

static void splice_round(void)
{
	static struct task task[TOUCHERS];
	static unsigned int own[TOUCHERS];
	int i;

	victim_new();
	for (i = 0; i < TOUCHERS; i++) {
		own[i] = rand_r(&seed);
		task_begin(&task[i], splicer_main, &own[i]);
	}
	revoke_soon(5000);
	for (i = 0; i < TOUCHERS; i++) {
		CHECK(task_ends(&task[i], LONG));
		CHECK_INT(task[i].ret, 0);
	}
	CHECK(wait_state(victim->fd, PEERLANE_STATE_RELEASED));
	check_next_user();
	victim_end();
}

static void pipes(void)
{
	repeat(splice_round);
}

static int disk;

/* The disk itself writes into the memory. */
static int reader_main(void *arg)
{
	bool was_gone;
	int i;

	(void)arg;
	for (i = 0; i < 2000; i++) {
		was_gone = atomic_load(&victim->gone);
		count(was_gone, pread(disk, victim->at, UNIT / 8, 0) > 0);
		if (was_gone)
			break;
	}
	return 0;
}

static void read_round(void)
{
	static struct task task;

	victim_new();
	task_begin(&task, reader_main, NULL);
	revoke_soon(20000);
	CHECK(task_ends(&task, LONG));
	CHECK(wait_state(victim->fd, PEERLANE_STATE_RELEASED));
	check_next_user();
	victim_end();
}

static void direct_reads(void)
{
	if (!disk_takes_device_pages())
		return (void)SKIP_DISK();
	disk = open(DISK, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (disk < 0)
		return (void)SKIP("no " DISK);
	repeat(read_round);
	close(disk);
}

static const struct tap_case cases[] = {
	TAP_CASE(faults),
	TAP_CASE(mappings),
	TAP_CASE(forks),
	TAP_CASE(memory_regions),
	TAP_CASE(pipes),
	TAP_CASE(direct_reads),
};

int main(void)
{
	const char *text_seed = getenv("SEED"), *text = getenv("STRESS_SECONDS");
	struct sigaction action = {
		.sa_handler = faulted, .sa_flags = SA_NODEFER,
	};

	seed = text_seed ? (unsigned int)strtoul(text_seed, NULL, 0) :
			   (unsigned int)time(NULL);
	share = (text ? atof(text) : 10) / ARRAY_SIZE(cases);
	printf("# seed %u, %.1f s for each case\n", seed, share);
	victim = mmap(NULL, sizeof(*victim), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGBUS, &action, NULL);
	rdma_device();	/* before the first case counts open files */
	return HARNESS_RUN(cases);
}
