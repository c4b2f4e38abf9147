// SPDX-License-Identifier: GPL-2.0
/* CPU mappings short of memory: mmap, faults, fork, and what splits or ends one. */
#include "fail_nth.h"

#define LENGTH	(UNIT + 16 * PAGE)	/* two windows of a fault */

static int file = -1, other = -1;
static char *at = MAP_FAILED;
static int pipes[2];

static unsigned int mappings(void)
{
	return region_info(file).out_mappings;
}

static bool begin_empty(void)
{
	file = open_device();
	return file >= 0;
}

static bool begin_region(void)
{
	file = new_region(LENGTH);
	return file >= 0;
}

static bool begin_mapping(void)
{
	if (!begin_region())
		return false;
	at = map(file, LENGTH);
	return at != MAP_FAILED;
}

static bool begin_touched(void)
{
	return begin_mapping() && !touch(at, true) && !touch(at + UNIT, true);
}

static bool begin_export(void)
{
	if (!begin_region())
		return false;
	other = region_export(file, 0, LENGTH, 0);
	return other >= 0;
}

static void end_all(void)
{
	if (at != MAP_FAILED)
		munmap(at, LENGTH);
	CHECK_INT(mappings(), 0);
	if (other >= 0)
		close(other);
	close(file);
	at = MAP_FAILED;
	other = -1;
	file = -1;
}

/* ---- mmap ---- */

static int do_mmap_of(int fd, int flags)
{
	at = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd,
		  0);
	return at == MAP_FAILED ? -errno : 0;
}

static int do_mmap(void)
{
	return do_mmap_of(file, 0);
}

static int do_mmap_populate(void)
{
	return do_mmap_of(file, MAP_POPULATE);
}

static int do_mmap_export(void)
{
	return do_mmap_of(other, 0);
}

static void check_content(void)
{
	at[0] = 'f';
	at[LENGTH - 1] = 'l';
	CHECK(at[0] == 'f' && at[LENGTH - 1] == 'l');
}

static void end_mmap(int ret)
{
	CHECK_INT(mappings(), ret ? 0 : 1);
	if (!ret)
		check_content();
	end_all();
}

/* It has all its memory or none; and what was refused once works then. */
static void end_first_mmap(int ret)
{
	struct peerlane_region_status info = region_info(file);

	CHECK(info.out_length == LENGTH || !info.out_length);
	CHECK((info.out_state == PEERLANE_STATE_ACTIVE) == !!info.out_length);
	CHECK_INT(info.out_mappings, ret ? 0 : 1);
	if (ret)
		CHECK_INT(do_mmap(), 0);
	check_content();
	end_all();
}

static void mmap_takes_memory(void)
{
	FAIL_SWEEP(.begin = begin_empty, .run = do_mmap, .end = end_first_mmap);
}

static void mmap_of_a_region(void)
{
	FAIL_SWEEP(.begin = begin_region, .run = do_mmap, .end = end_mmap);
}

static void mmap_with_populate(void)
{
	FAIL_SWEEP(.begin = begin_region, .run = do_mmap_populate,
		   .end = end_mmap);
}

static void mmap_of_an_export(void)
{
	FAIL_SWEEP(.begin = begin_export, .run = do_mmap_export,
		   .end = end_mmap);
}

/* ---- faults ---- */

static int do_read(void)
{
	return touch(at + UNIT - PAGE, false) ? -EFAULT : 0;
}

static int do_write(void)
{
	return touch(at + UNIT, true) ? -EFAULT : 0;
}

static int do_populate(void)
{
	return madvise(at, LENGTH, MADV_POPULATE_WRITE) ? -errno : 0;
}

/* The fault is the kernel's own, in a copy. */
static int do_pipe_write(void)
{
	ssize_t n = write(pipes[1], at + PAGE, 1);

	return n == 1 ? 0 : -errno;
}

static int do_pipe_read(void)
{
	ssize_t n = read(pipes[0], at + PAGE, 1);

	return n == 1 ? 0 : -errno;
}

static void end_fault(int ret)
{
	(void)ret;
	CHECK_INT(mappings(), 1);
	check_content();
	end_all();
}

/* A fault that is short of memory is tried again: no signal. */
static void fault_by_reading(void)
{
	FAIL_SWEEP(.begin = begin_mapping, .run = do_read, .end = end_fault,
		   .hidden = true);
}

static void fault_by_writing(void)
{
	FAIL_SWEEP(.begin = begin_mapping, .run = do_write, .end = end_fault,
		   .hidden = true);
}

static void fault_by_populating(void)
{
	FAIL_SWEEP(.begin = begin_mapping, .run = do_populate, .end = end_fault);
}

static bool begin_export_mapping(void)
{
	return begin_export() && !do_mmap_export();
}

static void fault_in_an_export(void)
{
	FAIL_SWEEP(.begin = begin_export_mapping, .run = do_populate,
		   .end = end_fault);
}

static bool begin_pipe(void)
{
	return begin_mapping() && !pipe2(pipes, O_CLOEXEC);
}

static bool begin_full_pipe(void)
{
	return begin_pipe() && write(pipes[1], "p", 1) == 1;
}

static void end_pipe(int ret)
{
	close(pipes[0]);
	close(pipes[1]);
	end_fault(ret);
}

static void fault_by_the_kernel_reading(void)
{
	FAIL_SWEEP(.begin = begin_pipe, .run = do_pipe_write, .end = end_pipe);
}

static void fault_by_the_kernel_writing(void)
{
	FAIL_SWEEP(.begin = begin_full_pipe, .run = do_pipe_read,
		   .end = end_pipe);
}

/* ---- fork ---- */

static pid_t child;

static int do_fork(void)
{
	child = fork();
	if (!child)
		_exit(touch(at, true));
	return child < 0 ? -errno : 0;
}

static void end_fork(int ret)
{
	if (!ret)
		CHECK_INT(reap(child, 60), 0);
	CHECK(WAIT_FOR(mappings() == 1, LIMBO_SECONDS));
	CHECK_INT(touch(at, true), 0);
	end_all();
}

static void fork_with_a_mapping(void)
{
	/* A hundred, of which few are after our mapping: a sample of them. */
	FAIL_SWEEP(.begin = begin_touched, .run = do_fork, .end = end_fork,
		   .also = EAGAIN, .stride = 4);
}

/* ---- what changes a mapping ---- */

static int do_munmap(void)
{
	return munmap(at, LENGTH) ? -errno : 0;
}

static void end_munmap(int ret)
{
	CHECK_INT(mappings(), ret ? 1 : 0);
	if (ret)
		check_content();
	else
		at = MAP_FAILED;
	end_all();
}

static void munmap_all(void)
{
	FAIL_SWEEP(.begin = begin_touched, .run = do_munmap, .end = end_munmap);
}

static int do_punch(void)
{
	return munmap(at + UNIT - PAGE, PAGE) ? -errno : 0;
}

/*
 * A refused one may have split the mapping already, here and in mprotect():
 * that is the kernel's way. The end of all parts is counted later.
 */
static void end_punch(int ret)
{
	if (!ret)
		CHECK_INT(mappings(), 2);
	CHECK_INT(touch(at + UNIT - PAGE, false), ret ? 0 : SIGSEGV);
	CHECK_INT(touch(at, true), 0);
	CHECK_INT(touch(at + UNIT, true), 0);
	end_all();
}

static void munmap_of_a_part(void)
{
	FAIL_SWEEP(.begin = begin_touched, .run = do_punch, .end = end_punch);
}

static int do_protect(void)
{
	return mprotect(at + UNIT, PAGE, PROT_READ) ? -errno : 0;
}

static void end_protect(int ret)
{
	CHECK_INT(touch(at + UNIT, true), ret ? 0 : SIGSEGV);
	CHECK_INT(touch(at + UNIT, false), 0);
	CHECK_INT(touch(at + LENGTH - 1, true), 0);
	end_all();
}

static void mprotect_of_a_part(void)
{
	FAIL_SWEEP(.begin = begin_touched, .run = do_protect,
		   .end = end_protect);
}

static int do_move(void)
{
	char *to = mremap(at, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED,
			  at + 64 * UNIT);

	if (to == MAP_FAILED)
		return -errno;
	at = to;
	return 0;
}

static void end_move(int ret)
{
	(void)ret;
	CHECK_INT(mappings(), 1);
	check_content();
	end_all();
}

static void mremap_elsewhere(void)
{
	FAIL_SWEEP(.begin = begin_touched, .run = do_move, .end = end_move);
}

static int do_revoke(void)
{
	return region_revoke(file);
}

static void end_revoke(int ret)
{
	CHECK_INT(touch(at, false), ret ? 0 : SIGBUS);
	end_all();
}

static void revoke_of_a_mapping(void)
{
	FAIL_SWEEP(.begin = begin_touched, .run = do_revoke, .end = end_revoke);
}

static const struct tap_case cases[] = {
	TAP_CASE(mmap_takes_memory),
	TAP_CASE(mmap_of_a_region),
	TAP_CASE(mmap_with_populate),
	TAP_CASE(mmap_of_an_export),
	TAP_CASE(fault_by_reading),
	TAP_CASE(fault_by_writing),
	TAP_CASE(fault_by_populating),
	TAP_CASE(fault_in_an_export),
	TAP_CASE(fault_by_the_kernel_reading),
	TAP_CASE(fault_by_the_kernel_writing),
	TAP_CASE(fork_with_a_mapping),
	TAP_CASE(munmap_all),
	TAP_CASE(munmap_of_a_part),
	TAP_CASE(mprotect_of_a_part),
	TAP_CASE(mremap_elsewhere),
	TAP_CASE(revoke_of_a_mapping),
};

int main(void)
{
	return FAIL_RUN(cases);
}
