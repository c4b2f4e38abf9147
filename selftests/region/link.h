/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of link maps share: /dev/pl_link, and where text[] goes. */
#ifndef SELFTESTS_REGION_LINK_H
#define SELFTESTS_REGION_LINK_H

#include "lifetime.h"
#include "dma.h"
#include "frame.h"
#include "pl_exporter.h"
#include "pl_link.h"

#define EDU	""

/* The software RDMA device. */
static inline const char *rxe(void)
{
	const char *name = getenv("RDMA_DEV");

	return name ? name : "rxe0";
}

/* An open user of a map of @region for @device, or -errno. */
static inline int link_get_mode(int region, const char *device, uint32_t mode)
{
	struct pl_link_get args = { .fd = region, .mode = mode };
	int fd = open("/dev/pl_link", O_RDWR | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	snprintf(args.device, sizeof(args.device), "%s", device);
	ret = call_raw(fd, PL_LINK_GET, &args);
	snprintf(text, sizeof(text), "%.255s", args.text);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static inline int link_get(int region, const char *device)
{
	int fd = link_get_mode(region, device, PL_LINK_KEEP);

	CHECK(fd >= 0);
	if (fd < 0)
		printf("# %s: error %d: %s\n", *device ? device : "edu", -fd,
		       text);
	return fd;
}

static inline int link_put(int link)
{
	return call_raw(link, PL_LINK_PUT, NULL);
}

static inline struct pl_link_state link_state(int link)
{
	struct pl_link_state state = {};

	CHECK_INT(call_raw(link, PL_LINK_STATE, &state), 0);
	return state;
}

/* PL_LINK_SGES or PL_LINK_KEYSG; the count or -errno */
static inline int link_list(int link, unsigned long cmd, uint64_t offset,
			    uint64_t length, uint32_t room,
			    struct pl_link_list *list)
{
	int ret;

	*list = (struct pl_link_list) {
		.offset = offset, .length = length, .room = room,
	};
	ret = call_raw(link, cmd, list);
	return ret ? ret : (int)list->count;
}

static inline int link_copy(int link, bool write, uint64_t offset, void *data,
			    uint32_t length)
{
	struct pl_link_copy args = {
		.offset = offset, .data_ptr = (uintptr_t)data,
		.length = length, .write = write,
	};

	return call_raw(link, PL_LINK_COPY, &args);
}

static inline struct pl_link_path link_path(int region, const char *device)
{
	struct pl_link_path args = { .fd = region };
	int fd = open("/dev/pl_link", O_RDWR | O_CLOEXEC);

	snprintf(args.device, sizeof(args.device), "%s", device);
	CHECK_INT(call_raw(fd, PL_LINK_PATH, &args), 0);
	close(fd);
	return args;
}

static inline uint64_t exporter_count(const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/pl_exporter/%s", what);
	return read_number(path);
}

/* A dma-buf of another driver. */
static inline int new_foreign(uint64_t size, uint32_t flags)
{
	struct pl_export args = { .size = size, .flags = flags };
	int fd = open("/dev/pl_exporter", O_RDWR | O_CLOEXEC), dmabuf;

	dmabuf = ioctl(fd, PL_EXPORT, &args);
	close(fd);
	CHECK(dmabuf >= 0);
	return dmabuf;
}

static inline void foreign_take(int dmabuf)
{
	int fd = open("/dev/pl_exporter", O_RDWR | O_CLOEXEC);

	CHECK_INT(call_raw(fd, PL_EXPORT_TAKE, &dmabuf), 0);
	close(fd);
}

struct framed {
	uint64_t frame;
	off_t offset;
};

static inline int by_falling_frame(const void *a, const void *b)
{
	uint64_t x = ((const struct framed *)a)->frame;
	uint64_t y = ((const struct framed *)b)->frame;

	return (x < y) - (x > y);
}

/*
 * @pages pages, none of which has the next one's memory right behind its own,
 * so that each is a piece for itself.
 */
static inline char *backwards(int pages)
{
	int fd = memfd_create("pages", MFD_CLOEXEC), i;
	struct framed *order = calloc(pages, sizeof(*order));
	uint64_t length = pages * PAGE;
	char *at;

	CHECK(order);
	CHECK_INT(ftruncate(fd, length), 0);
	at = map(fd, length);
	memset(at, 0, length);
	for (i = 0; i < pages; i++) {
		order[i].frame = frame_of(at + i * PAGE);
		order[i].offset = i * PAGE;
		CHECK(order[i].frame);
	}
	qsort(order, pages, sizeof(*order), by_falling_frame);
	for (i = 0; i < pages; i++)
		CHECK(mmap(at + i * PAGE, PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, fd,
			   order[i].offset) != MAP_FAILED);
	free(order);
	close(fd);
	memset(at, 0, length);
	return at;
}

/* Text that differs from place to place. */
static inline void put_text(char *at, size_t length, unsigned int seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		at[i] = (i * 7 + seed + i / 251) & 0x7f;
}

/* What the device writes is what the CPU reads, and back. */
static inline void check_moves(int link, char *at, uint64_t offset,
			       uint32_t length)
{
	static char sent[PL_LINK_ROOM], got[PL_LINK_ROOM];

	put_text(sent, length, offset + length);
	CHECK_INT(link_copy(link, true, offset, sent, length), 0);
	CHECK(!memcmp(at + offset, sent, length));
	put_text(at + offset, length, offset + 3 * length + 1);
	CHECK_INT(link_copy(link, false, offset, got, length), 0);
	CHECK(!memcmp(at + offset, got, length));
}

#endif /* SELFTESTS_REGION_LINK_H */
