// SPDX-License-Identifier: GPL-2.0
/* Who may touch a mapping, and from where: threads, other processes, the kernel. */
#include <poll.h>
#include <pthread.h>
#include <sys/uio.h>

#include "harness.h"

#define LENGTH	(2 * UNIT)
#define THREADS	4

static void two_mappings_show_the_same_bytes(void)
{
	int fd = open_device();
	volatile char *a = map(fd, LENGTH), *b = map(fd, LENGTH);
	unsigned long i;

	CHECK(a != b);
	for (i = 0; i < LENGTH; i += 3 * PAGE + 1)
		a[i] = i % 251 + 1;
	for (i = 0; i < LENGTH; i += 3 * PAGE + 1)
		if (!CHECK_INT((unsigned char)b[i], i % 251 + 1))
			break;
	munmap((void *)a, LENGTH);
	munmap((void *)b, LENGTH);
	close(fd);
}

static void two_opens_show_different_bytes(void)
{
	int a = open_device(), b = open_device();
	volatile char *x = map(a, LENGTH), *y = map(b, LENGTH);
	uint64_t p = region_info(a).out_dev_offset;
	uint64_t q = region_info(b).out_dev_offset;
	unsigned long i;

	CHECK(p + LENGTH <= q || q + LENGTH <= p);
	CHECK(region_info(a).out_id != region_info(b).out_id);
	memset((void *)x, 0x11, LENGTH);
	for (i = 0; i < LENGTH; i += 512)
		if (!CHECK_INT(y[i], 0))
			break;
	munmap((void *)x, LENGTH);
	munmap((void *)y, LENGTH);
	close(a);
	close(b);
}

static void a_new_file_of_the_old_one_is_another_region(void)
{
	int fd = new_region(UNIT), again;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	CHECK(again >= 0);
	CHECK(region_info(again).out_id != region_info(fd).out_id);
	CHECK_INT(region_info(again).out_state, PEERLANE_STATE_EMPTY);
	close(again);
	close(fd);
}

/* A file that a call made has no node: no way to get past its owner. */
static void a_file_made_by_a_call_cannot_be_opened_again(void)
{
	void *page = aligned_alloc(PAGE, PAGE);
	int fd = pin_host(-1, page, PAGE, 0);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_INT(open(path, O_RDWR | O_CLOEXEC), -1);
	CHECK(errno == ENXIO || errno == EACCES);
	close(fd);
	free(page);
}

static void a_copy_of_the_file_is_the_same_region(void)
{
	int fd = new_region(UNIT), copy = dup(fd);

	CHECK_INT(region_info(copy).out_id, region_info(fd).out_id);
	close(fd);
	CHECK_INT(region_info(copy).out_state, PEERLANE_STATE_ACTIVE);
	close(copy);
}

struct crowd {
	pthread_barrier_t start;
	volatile char *at;
	int bad;
};

static void *fault_all(void *arg)
{
	struct crowd *crowd = arg;
	unsigned long i;

	pthread_barrier_wait(&crowd->start);
	for (i = 0; i < LENGTH; i += 64 * PAGE) {
		if (crowd->at[i] != (char)(i / PAGE / 64 + 1))
			__atomic_add_fetch(&crowd->bad, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void threads_fault_the_same_window_at_once(void)
{
	int fd = open_device(), round, i;
	char *at = map(fd, LENGTH);
	struct crowd crowd = { .at = at };
	pthread_t threads[THREADS];
	unsigned long page;

	for (page = 0; page < LENGTH; page += 64 * PAGE)
		at[page] = page / PAGE / 64 + 1;
	pthread_barrier_init(&crowd.start, NULL, THREADS);
	for (round = 0; round < 100; round++) {
		madvise(at, LENGTH, MADV_DONTNEED);
		for (i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, fault_all, &crowd);
		for (i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	CHECK_INT(crowd.bad, 0);
	pthread_barrier_destroy(&crowd.start);
	munmap(at, LENGTH);
	close(fd);
}

struct drop {
	char *at;
	volatile bool stop;
};

static void *keep_dropping(void *arg)
{
	struct drop *drop = arg;

	while (!drop->stop)
		madvise(drop->at, UNIT, MADV_DONTNEED);
	return NULL;
}

static void faults_race_with_dropping(void)
{
	int fd = open_device(), i;
	struct drop drop = { .at = map(fd, LENGTH) };
	pthread_t thread;

	drop.at[UNIT - 1] = 42;
	pthread_create(&thread, NULL, keep_dropping, &drop);
	for (i = 0; i < 1000; i++)
		if (!CHECK_INT(*(volatile char *)&drop.at[UNIT - 1], 42))
			break;
	drop.stop = true;
	pthread_join(thread, NULL);
	munmap(drop.at, LENGTH);
	close(fd);
}

static void proc_mem_reads_and_writes(void)
{
	int fd = open_device(), mem = open("/proc/self/mem", O_RDWR);
	char *at = map(fd, LENGTH), buffer[3 * PAGE];
	off_t there = (uintptr_t)at + UNIT - PAGE - 7;

	memset(buffer, 0x5a, sizeof(buffer));
	CHECK_INT(pwrite(mem, buffer, sizeof(buffer), there), sizeof(buffer));
	CHECK_INT(at[UNIT - PAGE - 8], 0);
	CHECK_INT(at[UNIT - PAGE - 7], 0x5a);
	CHECK_INT(at[UNIT + 2 * PAGE - 8], 0x5a);
	CHECK_INT(at[UNIT + 2 * PAGE - 7], 0);
	memset(buffer, 0, sizeof(buffer));
	CHECK_INT(pread(mem, buffer, sizeof(buffer), there), sizeof(buffer));
	CHECK_INT(buffer[sizeof(buffer) - 1], 0x5a);
	munmap(at, LENGTH);
	close(mem);
	close(fd);
}

/* A debugger's write does not get through a mapping that is for reading. */
static void proc_mem_does_not_write_what_is_for_reading(void)
{
	int mem = open("/proc/self/mem", O_RDWR), fd;
	char path[64], byte = 1;
	volatile char *at;

	snprintf(path, sizeof(path), DEVICES "%s", device_name());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CHECK_INT(pwrite(mem, &byte, 1, (uintptr_t)at), -1);
	CHECK_INT(errno, EIO);
	CHECK_INT(at[0], 0);
	munmap((void *)at, PAGE);
	close(mem);
	close(fd);
}

static void process_vm_readv_works(void)
{
	static char buffer[UNIT + PAGE];
	int fd = open_device();
	char *at = map(fd, LENGTH);
	struct iovec to = { buffer, sizeof(buffer) };
	struct iovec from = { at + 1, sizeof(buffer) };

	memset(at, 0x77, LENGTH);
	CHECK_INT(process_vm_readv(getpid(), &to, 1, &from, 1, 0),
		  sizeof(buffer));
	CHECK_INT(buffer[0], 0x77);
	CHECK_INT(buffer[sizeof(buffer) - 1], 0x77);
	memset(buffer, 0x33, sizeof(buffer));
	CHECK_INT(process_vm_writev(getpid(), &to, 1, &from, 1, 0),
		  sizeof(buffer));
	CHECK_INT(at[0], 0x77);
	CHECK_INT(at[1], 0x33);
	CHECK_INT(at[UNIT + PAGE], 0x33);
	CHECK_INT(at[UNIT + PAGE + 1], 0x77);
	munmap(at, LENGTH);
	close(fd);
}

/* The kernel's own copies fault the pages in as a program does. */
static void read_and_write_use_it_as_a_buffer(void)
{
	int fd = open_device(), ends[2];
	char *at = map(fd, LENGTH);

	CHECK_INT(pipe(ends), 0);
	CHECK_INT(write(ends[1], "peerlane", 8), 8);
	CHECK_INT(read(ends[0], at + UNIT - 4, 8), 8);
	CHECK(!memcmp(at + UNIT - 4, "peerlane", 8));
	CHECK_INT(madvise(at, LENGTH, MADV_DONTNEED), 0);
	CHECK_INT(write(ends[1], at + UNIT - 4, 8), 8);
	close(ends[0]);
	close(ends[1]);
	munmap(at, LENGTH);
	close(fd);
}

static void the_file_itself_is_not_read_or_sought(void)
{
	int fd = new_region(PAGE);
	char byte = 0;

	CHECK_INT(read(fd, &byte, 1), -1);
	CHECK_INT(errno, EINVAL);
	CHECK_INT(write(fd, &byte, 1), -1);
	CHECK_INT(errno, EINVAL);
	CHECK_INT(lseek(fd, 0, SEEK_END), -1);
	CHECK_INT(errno, ESPIPE);
	CHECK_INT(ftruncate(fd, 0), -1);
	close(fd);
}

static int poll_now(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	CHECK(poll(&poll_fd, 1, timeout_ms) >= 0);
	return poll_fd.revents;
}

static void poll_tells_a_revocation(void)
{
	int fd = open_device();

	CHECK_INT(poll_now(fd, 0), 0);
	region_alloc(fd, PAGE);
	CHECK_INT(poll_now(fd, 0), 0);
	region_revoke(fd);
	CHECK_INT(poll_now(fd, 0), POLLHUP | POLLERR);
	CHECK(WAIT_FOR(region_info(fd).out_state == PEERLANE_STATE_RELEASED,
		       LIMBO_SECONDS));
	CHECK_INT(poll_now(fd, 0), POLLHUP | POLLERR);
	close(fd);
}

static void *wait_for_hangup(void *arg)
{
	return (void *)(intptr_t)poll_now(*(int *)arg, 20000);
}

static void a_revocation_wakes_who_waits(void)
{
	int fd = new_region(PAGE);
	double begin = now();
	pthread_t thread;
	void *events;

	pthread_create(&thread, NULL, wait_for_hangup, &fd);
	usleep(200000);
	region_revoke(fd);
	pthread_join(thread, &events);
	CHECK_INT((intptr_t)events, POLLHUP | POLLERR);
	CHECK(now() - begin < 15);
	close(fd);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(two_mappings_show_the_same_bytes),
		TAP_CASE(two_opens_show_different_bytes),
		TAP_CASE(a_new_file_of_the_old_one_is_another_region),
		TAP_CASE(a_file_made_by_a_call_cannot_be_opened_again),
		TAP_CASE(a_copy_of_the_file_is_the_same_region),
		TAP_CASE(threads_fault_the_same_window_at_once),
		TAP_CASE(faults_race_with_dropping),
		TAP_CASE(proc_mem_reads_and_writes),
		TAP_CASE(proc_mem_does_not_write_what_is_for_reading),
		TAP_CASE(process_vm_readv_works),
		TAP_CASE(read_and_write_use_it_as_a_buffer),
		TAP_CASE(the_file_itself_is_not_read_or_sought),
		TAP_CASE(poll_tells_a_revocation),
		TAP_CASE(a_revocation_wakes_who_waits),
	};

	return HARNESS_RUN(cases);
}
