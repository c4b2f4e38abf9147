/* SPDX-License-Identifier: GPL-2.0 */
/* A group of the library, whose kernel tells what a test wants it to. */
#ifndef LIB_FAKE_GROUP_H
#define LIB_FAKE_GROUP_H

#include "lib_fake.h"

static int next_fd;
static struct peerlane_group *group;

static void fill_create(void *arg)
{
	((struct peerlane_group_create *)arg)->out_fd = next_fd;
}

static void begin(void)
{
	struct peerlane_group_options options = {
		.size = sizeof(options), .secret = { 1 }, .group = 7, .ranks = 2,
	};

	fake_reset();
	next_fd = fake_file(0);
	fake_ioctl(PEERLANE_IOC_GROUP_CREATE, 0, .fill = fill_create);
	CHECK_INT(peerlane_group_create(&options, &group), 0);
}

static void end(void)
{
	peerlane_group_close(group);
	fake_finish();
}

/* ---- what the kernel tells: one script for each call ------------------------------- */

static struct {
	struct peerlane_group_op op;	/* the first that it was told to begin */
	uint32_t begun;
	size_t bytes;
	char records[512];
} script[FAKE_CALLS];

static void fill_submit(void *arg)
{
	struct peerlane_group_submit *submit = arg;
	int call = fake.played - 1;

	if (submit->count)
		memcpy(&script[call].op, (void *)(uintptr_t)submit->ops_ptr,
		       sizeof(script[call].op));
	submit->out_count = script[call].begun;
	submit->out_records_len = (uint32_t)script[call].bytes;
	if (submit->records_ptr)
		memcpy((void *)(uintptr_t)submit->records_ptr,
		       script[call].records, script[call].bytes <
		       submit->records_len ? script[call].bytes :
		       submit->records_len);
}

/* The next call begins @begun; tell() adds to what it tells. */
static void plan(uint32_t begun)
{
	script[fake.planned].begun = begun;
	script[fake.planned].bytes = 0;
	fake_ioctl(PEERLANE_IOC_GROUP_SUBMIT,
		   sizeof(struct peerlane_group_submit), .fill = fill_submit);
}

static inline void tell(uint16_t type, uint64_t cookie, int32_t status)
{
	const struct peerlane_group_record record = {
		.size = sizeof(record), .type = type, .status = status,
		.cookie = cookie, .seq = cookie + 100,
		.rank = status ? 3 : PEERLANE_RANK_NONE,
		.cause = status ? PEERLANE_GROUP_CAUSE_LATE : 0,
	};
	int call = fake.planned - 1;

	memcpy(script[call].records + script[call].bytes, &record,
	       sizeof(record));
	script[call].bytes += sizeof(record);
}

static inline void done(uint64_t cookie, int32_t status)
{
	tell(PEERLANE_GROUP_RECORD_DONE, cookie, status);
}

#endif /* LIB_FAKE_GROUP_H */
