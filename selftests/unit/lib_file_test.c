// SPDX-License-Identifier: GPL-2.0
/* File content into and out of regions. */
#include "lib_fake.h"

#define CAPS (PEERLANE_CAP_MMAP | PEERLANE_CAP_DIRECT_IO)
#define LENGTH (1U << 20)

typedef int (*file_fn)(struct peerlane_region *region, uint64_t offset, int fd,
		       uint64_t file_offset, size_t length, size_t *done);

static struct peerlane_region *region;
static size_t done;

static void info(void)
{
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, CAPS, LENGTH);
}

/* A region that is mapped, and a file opened O_DIRECT that answers from plan */
static char *begin(void)
{
	void *addr = NULL;

	fake_reset();
	region = fake_region(CAPS, LENGTH);
	info();
	CHECK_INT(peerlane_region_map(region, &addr), 0);
	fake.move_fd = fake_file(0);
	fake.move_flags = O_RDWR | O_DIRECT;
	done = 12345;
	return addr;
}

static void end(void)
{
	close(fake.move_fd);
	peerlane_region_free(region);
	fake_finish();
}

static const file_fn both[] = {
	peerlane_region_read_file, peerlane_region_write_file
};

static void whole(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		char *addr = begin();

		info();
		fake_move(8192, 0);
		CHECK_INT(both[i](region, 4096, fake.move_fd, 512, 8192, &done),
			  0);
		CHECK_INT(done, 8192);
		CHECK(fake.moved[0].at == addr + 4096);
		CHECK_INT(fake.moved[0].length, 8192);
		CHECK_INT(fake.moved[0].offset, 512);
		CHECK_STR(peerlane_strerror(), "");
		end();
	}
}

static void maps_if_need_be(void)
{
	fake_reset();
	region = fake_region(CAPS, LENGTH);
	fake.move_fd = fake_file(0);
	fake.move_flags = O_DIRECT;
	info();
	info();
	fake_move(4096, 0);
	CHECK_INT(peerlane_region_read_file(region, 0, fake.move_fd, 0, 4096,
					    &done), 0);
	CHECK_INT(done, 4096);
	end();
}

static void in_parts(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		char *addr = begin();

		info();
		fake_move(-1, EINTR);
		fake_move(4096, 0);
		fake_move(-1, EINTR);
		fake_move(512, 0);
		fake_move(3584, 0);
		CHECK_INT(both[i](region, 0, fake.move_fd, 1024, 8192, &done),
			  0);
		CHECK_INT(done, 8192);
		CHECK(fake.moved[3].at == addr + 4096);
		CHECK_INT(fake.moved[3].length, 4096);
		CHECK_INT(fake.moved[3].offset, 5120);
		CHECK(fake.moved[4].at == addr + 4608);
		CHECK_INT(fake.moved[4].length, 3584);
		CHECK_INT(fake.moved[4].offset, 5632);
		end();
	}
}

/* After an odd count a further read at an odd offset would give EINVAL. */
static void end_of_file(void)
{
	begin();
	info();
	fake_move(4096, 0);
	fake_move(100, 0);
	CHECK_INT(peerlane_region_read_file(region, 0, fake.move_fd, 0, 16384,
					    &done), 0);
	CHECK_INT(done, 4196);
	info();
	fake_move(512, 0);
	fake_move(0, 0);
	CHECK_INT(peerlane_region_read_file(region, 0, fake.move_fd, 0, 16384,
					    &done), 0);
	CHECK_INT(done, 512);
	end();
}

static void nothing(void)
{
	begin();
	info();
	CHECK_INT(peerlane_region_read_file(region, LENGTH, fake.move_fd, 0, 0,
					    &done), 0);
	CHECK_INT(done, 0);
	end();
}

static void failures(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		begin();
		info();
		fake_move(4096, 0);
		fake_move(-1, EIO);
		CHECK_INT(both[i](region, 0, fake.move_fd, 0, 8192, &done),
			  -EIO);
		CHECK_HAS(peerlane_strerror(), "Input/output error (EIO)");
		info();
		fake_move(-1, EINVAL);
		CHECK_INT(both[i](region, 0, fake.move_fd, 1, 8192, &done),
			  -EINVAL);
		CHECK_HAS(peerlane_strerror(), "multiples of the file's block size");
		info();
		fake_move(-1, EFAULT);
		fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_REVOKED, CAPS,
			  LENGTH);
		CHECK_INT(both[i](region, 0, fake.move_fd, 0, 8192, &done),
			  -ENODEV);
		CHECK_HAS(peerlane_strerror(), "was revoked");
		info();
		fake_move(-1, EFAULT);
		info();
		CHECK_INT(both[i](region, 0, fake.move_fd, 0, 8192, &done),
			  -EFAULT);
		CHECK_INT(done, 12345);
		end();
	}
}

static void refused(void)
{
	int fd;

	begin();
	fd = fake.move_fd;
	fake.move_flags = O_RDWR;
	CHECK_INT(peerlane_region_read_file(region, 0, fd, 0, 4096, &done),
		  -EINVAL);
	CHECK_HAS(peerlane_strerror(), "was opened without O_DIRECT (EINVAL)");
	fake.move_flags = O_RDWR | O_DIRECT;
	CHECK_INT(peerlane_region_read_file(region, 0, 1000, 0, 4096, &done),
		  -EBADF);
	CHECK_INT(peerlane_region_read_file(region, 0, fd, UINT64_MAX, 4096,
					    &done), -EOVERFLOW);
	CHECK_INT(peerlane_region_read_file(region, 0, fd, INT64_MAX - 1, 4096,
					    &done), -EOVERFLOW);
	info();
	CHECK_INT(peerlane_region_read_file(region, LENGTH - 4096, fd, 0, 8192,
					    &done), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "outside of a region");
	info();
	CHECK_INT(peerlane_region_read_file(region, UINT64_MAX, fd, 0, 4096,
					    &done), -EINVAL);
	fake_info(PEERLANE_KIND_DMABUF, PEERLANE_STATE_ACTIVE,
		  PEERLANE_CAP_MMAP, LENGTH);
	CHECK_INT(peerlane_region_read_file(region, 0, fd, 0, 4096, &done),
		  -EOPNOTSUPP);
	CHECK_HAS(peerlane_strerror(), "no direct file I/O on a dmabuf region");
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_LIMBO, CAPS, LENGTH);
	CHECK_INT(peerlane_region_read_file(region, 0, fd, 0, 4096, &done),
		  -ENODEV);
	CHECK_INT(done, 12345);
	end();
}

/* With a file and the kernel's own alignment rules */
static void real_file(void)
{
	char path[] = "lib_file_test.XXXXXX";
	char block[4096] __attribute__((aligned(4096)));
	char *addr;
	int fd, plain;

	plain = mkstemp(path);
	fd = open(path, O_RDWR | O_DIRECT);
	unlink(path);
	if (fd < 0) {
		close(plain);
		SKIP("no O_DIRECT in this folder");
		return;
	}
	memset(block, 'a', sizeof(block));
	CHECK_INT(write(plain, block, 4096), 4096);
	CHECK_INT(write(plain, block, 904), 904);
	addr = begin();
	info();
	CHECK_INT(peerlane_region_read_file(region, 4096, fd, 0, 16384, &done),
		  0);
	CHECK_INT(done, 5000);
	CHECK_INT(addr[4095], 0);
	CHECK_INT(addr[4096], 'a');
	CHECK_INT(addr[4096 + 4999], 'a');
	CHECK_INT(addr[4096 + 5000], 0);
	memset(addr, 'b', 8192);
	info();
	CHECK_INT(peerlane_region_write_file(region, 0, fd, 8192, 8192, &done),
		  0);
	CHECK_INT(done, 8192);
	CHECK_INT(pread(plain, block, 4096, 12288), 4096);
	CHECK_INT(block[4095], 'b');
	info();
	CHECK_INT(peerlane_region_read_file(region, 1, fd, 0, 4096, &done),
		  -EINVAL);
	close(fd);
	close(plain);
	end();
}

static const struct tap_case cases[] = {
	TAP_CASE(whole),
	TAP_CASE(maps_if_need_be),
	TAP_CASE(in_parts),
	TAP_CASE(end_of_file),
	TAP_CASE(nothing),
	TAP_CASE(failures),
	TAP_CASE(refused),
	TAP_CASE(real_file),
};

int main(void)
{
	return TAP_RUN(cases);
}
