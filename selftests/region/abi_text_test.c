// SPDX-License-Identifier: GPL-2.0
/* The line of text that comes with a refusal. */
#include "harness.h"

/* A refusal with the text "length is 0". */
static int refused(int fd, void *buffer, uint32_t room)
{
	struct peerlane_region_alloc args = {
		.size = sizeof(args), .msg_ptr = (uintptr_t)buffer,
		.msg_len = room,
	};

	return call_raw(fd, PEERLANE_IOC_REGION_ALLOC, &args);
}

static void it_is_cut_to_fit(void)
{
	static const char whole[] = "length is 0";
	int fd = open_device();
	char buffer[64], want[64];
	uint32_t room;

	for (room = 0; room <= sizeof(whole) + 8; room++) {
		memset(buffer, 'x', sizeof(buffer));
		memset(want, 'x', sizeof(want));
		if (room)
			snprintf(want, room, "%s", whole);
		CHECK_INT(refused(fd, buffer, room), -EINVAL);
		if (!CHECK(!memcmp(buffer, want, sizeof(want))))
			printf("# with room for %u bytes\n", room);
	}
	close(fd);
}

static void no_more_than_the_text_is_written(void)
{
	int fd = open_device();
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *buffer = page + PAGE - sizeof("length is 0");

	munmap(page + PAGE, PAGE);
	CHECK_INT(refused(fd, buffer, UINT32_MAX), -EINVAL);
	CHECK_STR(buffer, "length is 0");
	munmap(page, PAGE);
	close(fd);
}

static void a_bad_buffer_keeps_the_errno(void)
{
	void *locked = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	void *const bad[] = { NULL, (void *)1, (void *)-1UL,
			      (void *)(1UL << 63), locked };
	int fd = open_device();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_INT(refused(fd, bad[i], 64), -EINVAL);
	munmap(locked, PAGE);
	close(fd);
}

static void success_leaves_the_buffer_alone(void)
{
	struct peerlane_region_alloc alloc = {
		.size = sizeof(alloc), .msg_ptr = (uintptr_t)text,
		.msg_len = sizeof(text), .length = PAGE,
	};
	int fd = open_device();

	strcpy(text, "as it was");
	CHECK_INT(call_raw(fd, PEERLANE_IOC_REGION_ALLOC, &alloc), 0);
	CHECK_STR(text, "as it was");
	close(fd);
}

/* Long words of the caller in the text do not make it longer than it may be. */
static void it_has_a_longest_length(void)
{
	struct peerlane_preflight args = { .flags = PEERLANE_PREFLIGHT_BIND };
	int fd = open_control();

	memset(args.target, 'f', sizeof(args.target));
	memset(args.initiator, '%', sizeof(args.initiator));
	CHECK(CALL(fd, PREFLIGHT, &args) < 0);
	CHECK(text[0]);
	CHECK(strnlen(text, sizeof(text)) < sizeof(text));
	close(fd);
}

static void a_name_without_an_end_is_refused(void)
{
	struct peerlane_preflight args = {};
	int fd = open_control();

	memcpy(args.target, "0000:00:1f.00000", sizeof(args.target));
	memcpy(args.initiator, "0000:00:1f.00000", sizeof(args.initiator));
	CHECK_INT(CALL(fd, PREFLIGHT, &args), -EINVAL);
	CHECK(text[0]);
	close(fd);
}

/* One line: neither control characters nor an end of line. */
static void it_is_one_line_of_printable_text(void)
{
	struct peerlane_preflight args = { .flags = PEERLANE_PREFLIGHT_BIND };
	int fd = open_control();
	const char *at;

	memcpy(args.target, "a\nb\033[31m\001", 10);
	CHECK(CALL(fd, PREFLIGHT, &args) < 0);
	CHECK(text[0]);
	for (at = text; *at; at++)
		if (!CHECK(*at >= ' ' && *at <= '~'))
			printf("# byte %#x\n", (unsigned char)*at);
	close(fd);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(it_is_cut_to_fit),
		TAP_CASE(no_more_than_the_text_is_written),
		TAP_CASE(a_bad_buffer_keeps_the_errno),
		TAP_CASE(success_leaves_the_buffer_alone),
		TAP_CASE(it_has_a_longest_length),
		TAP_CASE(a_name_without_an_end_is_refused),
		TAP_CASE(it_is_one_line_of_printable_text),
	};

	return HARNESS_RUN(cases);
}
