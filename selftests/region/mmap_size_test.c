// SPDX-License-Identifier: GPL-2.0
/* Where a mapping may lie, and what the first one decides. */
#include <pthread.h>
#include <sys/syscall.h>

#include "harness.h"

/* -errno of mmap(), 0 if it worked (and is gone again). Offsets are unsigned. */
static int try_map(int fd, uint64_t length, int prot, int flags,
		   uint64_t offset)
{
	long at = syscall(SYS_mmap, NULL, length, prot, flags, fd, offset);

	if (at == -1)
		return -errno;
	munmap((void *)at, length);
	return 0;
}

static int try_shared(int fd, uint64_t length, uint64_t offset)
{
	return try_map(fd, length, PROT_READ | PROT_WRITE, MAP_SHARED, offset);
}

static void the_first_fixes_the_size(void)
{
	int fd = open_device();

	CHECK_INT(try_shared(fd, 5 * PAGE, 0), 0);
	CHECK_INT(region_info(fd).out_length, 5 * PAGE);
	CHECK_INT(try_shared(fd, 5 * PAGE, 0), 0);
	CHECK_INT(try_shared(fd, PAGE, 4 * PAGE), 0);
	CHECK_INT(try_shared(fd, 6 * PAGE, 0), -EINVAL);
	CHECK_INT(try_shared(fd, PAGE, 5 * PAGE), -EINVAL);
	CHECK_INT(try_shared(fd, 2 * PAGE, 4 * PAGE), -EINVAL);
	CHECK_INT(region_info(fd).out_length, 5 * PAGE);
	close(fd);
}

static void the_first_may_begin_behind_the_start(void)
{
	int fd = open_device();

	CHECK_INT(try_shared(fd, 2 * PAGE, UNIT), 0);
	CHECK_INT(region_info(fd).out_length, UNIT + 2 * PAGE);
	CHECK_INT(try_shared(fd, UNIT + 2 * PAGE, 0), 0);
	CHECK_INT(try_shared(fd, UNIT + 3 * PAGE, 0), -EINVAL);
	close(fd);
}

static void alloc_fixes_the_size_too(void)
{
	int fd = new_region(PAGE + 1);

	CHECK_INT(try_shared(fd, 2 * PAGE, 0), 0);
	CHECK_INT(try_shared(fd, 3 * PAGE, 0), -EINVAL);
	close(fd);
}

static void beyond_the_device_there_is_no_space(void)
{
	uint64_t size = read_number(device_attr("size"));
	int fd = open_device();

	CHECK_INT(try_shared(fd, size + PAGE, 0), -ENOSPC);
	CHECK_INT(try_shared(fd, PAGE, size), -ENOSPC);
	CHECK_INT(try_shared(fd, PAGE, 1ULL << 62), -ENOSPC);
	CHECK_INT(region_info(fd).out_state, PEERLANE_STATE_EMPTY);
	/* A refusal decides nothing. */
	CHECK_INT(try_shared(fd, PAGE, 0), 0);
	close(fd);
}

static void huge_offsets_do_not_wrap(void)
{
	static const uint64_t offsets[] = {
		-PAGE, -2 * PAGE, -UNIT, 1ULL << 63, (1ULL << 63) - PAGE,
		(1ULL << 44), 0xffffffffULL * PAGE,
	};
	int empty = open_device(), full = new_region(UNIT);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		int first = try_shared(empty, 2 * PAGE, offsets[i]);
		int later = try_shared(full, 2 * PAGE, offsets[i]);

		if (!CHECK(first == -ENOSPC || first == -EOVERFLOW) ||
		    !CHECK(later == -EINVAL || later == -EOVERFLOW))
			printf("# offset %#llx: %d, %d\n",
			       (unsigned long long)offsets[i], first, later);
	}
	CHECK_INT(region_info(empty).out_state, PEERLANE_STATE_EMPTY);
	close(empty);
	close(full);
}

static void an_unaligned_offset_or_no_length_is_refused(void)
{
	int fd = open_device();

	CHECK_INT(try_shared(fd, PAGE, 1), -EINVAL);
	CHECK_INT(try_shared(fd, 0, 0), -EINVAL);
	CHECK_INT(region_info(fd).out_state, PEERLANE_STATE_EMPTY);
	close(fd);
}

static void an_odd_length_is_rounded_up(void)
{
	int fd = open_device();

	CHECK_INT(try_shared(fd, PAGE + 1, 0), 0);
	CHECK_INT(region_info(fd).out_length, 2 * PAGE);
	close(fd);
}

static void private_mappings_are_refused(void)
{
	int fd = open_device();

	CHECK_INT(try_map(fd, PAGE, PROT_READ, MAP_PRIVATE, 0), -EINVAL);
	CHECK_INT(try_map(fd, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0),
		  -EINVAL);
	CHECK_INT(region_info(fd).out_state, PEERLANE_STATE_EMPTY);
	close(fd);
}

static void executable_mappings_are_refused(void)
{
	int fd = open_device();
	void *at;

	CHECK_INT(try_map(fd, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0),
		  -EPERM);
	CHECK_INT(region_info(fd).out_state, PEERLANE_STATE_EMPTY);
	at = map(fd, PAGE);
	CHECK_INT(mprotect(at, PAGE, PROT_READ | PROT_EXEC), -1);
	CHECK_INT(errno, EACCES);
	CHECK_INT(mprotect(at, PAGE, PROT_READ), 0);
	CHECK_INT(touch(at, false), 0);
	CHECK_INT(touch(at, true), SIGSEGV);
	CHECK_INT(mprotect(at, PAGE, PROT_READ | PROT_WRITE), 0);
	CHECK_INT(touch(at, true), 0);
	munmap(at, PAGE);
	close(fd);
}

static void a_file_open_for_reading_maps_for_reading(void)
{
	char path[64];
	void *at;
	int fd;

	snprintf(path, sizeof(path), DEVICES "%s", device_name());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_INT(try_shared(fd, PAGE, 0), -EACCES);
	at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED);
	CHECK_INT(touch(at, false), 0);
	CHECK_INT(mprotect(at, PAGE, PROT_READ | PROT_WRITE), -1);
	CHECK_INT(errno, EACCES);
	munmap(at, PAGE);
	close(fd);
}

static void a_file_open_for_writing_does_not_map(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), DEVICES "%s", device_name());
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK_INT(try_shared(fd, PAGE, 0), -EACCES);
	CHECK_INT(try_map(fd, PAGE, PROT_READ, MAP_SHARED, 0), -EACCES);
	close(fd);
}

/* A mapping that nobody may touch reserves the memory all the same. */
static void a_mapping_without_access_counts(void)
{
	int fd = open_device();
	void *at = mmap(NULL, UNIT, PROT_NONE, MAP_SHARED, fd, 0);

	CHECK(at != MAP_FAILED);
	CHECK_INT(region_info(fd).out_length, UNIT);
	CHECK_INT(touch(at, false), SIGSEGV);
	CHECK_INT(mprotect(at, UNIT, PROT_READ | PROT_WRITE), 0);
	CHECK_INT(touch(at, true), 0);
	munmap(at, UNIT);
	close(fd);
}

static void control_does_not_map(void)
{
	int fd = open_control();

	CHECK_INT(try_shared(fd, PAGE, 0), -ENODEV);
	close(fd);
}

static void *map_first(void *arg)
{
	int fd = *(int *)arg;

	return (void *)(intptr_t)try_shared(fd, UNIT, 0);
}

/* Of two first mappings one is the first, and both fit. */
static void two_threads_may_be_first(void)
{
	uint64_t free = read_number(device_attr("free"));
	int round, i;

	for (round = 0; round < 200; round++) {
		int fd = open_device();
		pthread_t threads[2];
		void *ret;

		for (i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, map_first, &fd);
		for (i = 0; i < 2; i++) {
			pthread_join(threads[i], &ret);
			CHECK_INT((intptr_t)ret, 0);
		}
		CHECK_INT(region_info(fd).out_length, UNIT);
		close(fd);
		if (!CHECK(WAIT_FOR(read_number(device_attr("free")) == free,
				    LIMBO_SECONDS)))
			break;
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(the_first_fixes_the_size),
		TAP_CASE(the_first_may_begin_behind_the_start),
		TAP_CASE(alloc_fixes_the_size_too),
		TAP_CASE(beyond_the_device_there_is_no_space),
		TAP_CASE(huge_offsets_do_not_wrap),
		TAP_CASE(an_unaligned_offset_or_no_length_is_refused),
		TAP_CASE(an_odd_length_is_rounded_up),
		TAP_CASE(private_mappings_are_refused),
		TAP_CASE(executable_mappings_are_refused),
		TAP_CASE(a_file_open_for_reading_maps_for_reading),
		TAP_CASE(a_file_open_for_writing_does_not_map),
		TAP_CASE(a_mapping_without_access_counts),
		TAP_CASE(control_does_not_map),
		TAP_CASE(two_threads_may_be_first),
	};

	return HARNESS_RUN(cases);
}
