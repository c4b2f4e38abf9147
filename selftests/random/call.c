// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "call.h"

#define UNTOUCHED 0x7e

struct text {
	char bytes[PEERLANE_MSG_MAX + 16];
	uint32_t room;
};

static void choose_text(struct actor *actor, struct text *text,
			struct peerlane_hdr *hdr)
{
	memset(text->bytes, UNTOUCHED, sizeof(text->bytes));
	text->room = one_in(actor, 2) ? PEERLANE_MSG_MAX : dice(actor, 40);
	hdr->msg_len = text->room;
	hdr->msg_ptr = (uintptr_t)text->bytes;
	if (one_in(actor, 8))
		hdr->msg_ptr = edge_number(actor) << 47;	/* not ours */
}

static bool is_untouched(const struct text *text, size_t from)
{
	size_t i;

	for (i = from; i < sizeof(text->bytes); i++)
		if (text->bytes[i] != UNTOUCHED)
			return false;
	return true;
}

static void check_text(const struct text *text, unsigned long cmd, int ret)
{
	bool may_say = ret || cmd == PEERLANE_IOC_PREFLIGHT;
	bool is_string = memchr(text->bytes, 0, text->room);

	if (is_untouched(text, may_say ? text->room : 0) &&
	    (is_string || is_untouched(text, 0)))
		return;
	complain(COMPLAINT_TEXT, "command %#lx, %d: a text of %u bytes: %.*s",
		 cmd, ret, text->room, PEERLANE_MSG_MAX, text->bytes);
}

int call(struct actor *actor, int fd, unsigned long cmd, void *args,
	 size_t size)
{
	struct peerlane_hdr *hdr = args;
	struct text text;
	int ret;

	hdr->size = size;
	choose_text(actor, &text, hdr);
	ret = ioctl(fd, cmd, args) < 0 ? -errno : 0;
	check_text(&text, cmd, ret);
	return ret;
}

const char *some_device(struct actor *actor)
{
	return one_in(actor, 2) ? "/dev/peerlane/gpu0" : "/dev/peerlane/gpu1";
}
