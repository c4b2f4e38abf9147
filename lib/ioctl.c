// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The one place that calls ioctl(). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "private.h"

/* A list that grows faster than it can be read is given up. */
#define LIST_TRIES	16
#define LIST_FIRST	16U
#define LIST_MOST	(1U << 24)

/* close() for error paths: errno is kept */
void pl_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
}

int pl_open_control(void)
{
	int fd;

	do
		fd = open(PL_CONTROL, O_RDWR | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		return pl_fail_text(ENOENT,
				    "the peerlane module is not loaded: no "
				    PL_CONTROL);
	if (errno == EPERM)
		errno = EACCES;
	return pl_fail(errno, PL_CONTROL);
}

static int PL_PRINTF(3, 4) fail_with(int err, const char *msg, const char *fmt,
				     ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = pl_fail_msg(err, msg, fmt, ap);
	va_end(ap);
	return ret;
}

/*
 * Fill the header of @arg, call, and on failure make a text of what was tried
 * (@fmt) and the kernel's reason. @msg: PEERLANE_MSG_MAX bytes that get what
 * the kernel says on success, or NULL.
 */
int pl_ioctl(int fd, unsigned int request, void *arg, size_t size, char *msg,
	     const char *fmt, ...)
{
	char own[PEERLANE_MSG_MAX];
	struct peerlane_hdr *hdr = arg;
	char *buf = msg ? msg : own;
	va_list ap;
	int ret;

	memset(buf, 0, PEERLANE_MSG_MAX);
	hdr->size = (uint32_t)size;
	hdr->msg_ptr = (uintptr_t)buf;
	hdr->msg_len = PEERLANE_MSG_MAX;
	do
		ret = ioctl(fd, request, arg);
	while (ret < 0 && errno == EINTR);
	hdr->msg_ptr = 0;
	buf[PEERLANE_MSG_MAX - 1] = '\0';
	if (ret >= 0)
		return 0;
	va_start(ap, fmt);
	ret = pl_fail_msg(errno, buf, fmt, ap);
	va_end(ap);
	return ret;
}

/*
 * The same for calls that may wait for long, where a signal is an answer. Short,
 * as each piece of work passes here.
 */
int pl_ioctl_once(int fd, unsigned int request, void *arg, size_t size,
		  const char *what)
{
	char msg[PEERLANE_MSG_MAX];
	struct peerlane_hdr *hdr = arg;
	int ret;

	msg[0] = '\0';
	hdr->size = (uint32_t)size;
	hdr->msg_ptr = (uintptr_t)msg;
	hdr->msg_len = sizeof(msg);
	ret = ioctl(fd, request, arg);
	hdr->msg_ptr = 0;
	if (ret >= 0)
		return 0;
	msg[sizeof(msg) - 1] = '\0';
	return fail_with(errno, msg, "%s", what);
}

/* Room for what the kernel says it needs, and for some that come meanwhile */
static uint32_t more_room(uint32_t had, uint32_t needed)
{
	uint64_t want = needed > had ? needed : had;

	want += want / 4 + 16;
	return want > LIST_MOST ? LIST_MOST : (uint32_t)want;
}

/* A whole array of records; @array is freed by the caller. */
static int read_records(unsigned int request, size_t record_size,
			const char *what, void **array, size_t *count)
{
	uint32_t room = LIST_FIRST;
	int ret = -EMSGSIZE, fd, i;
	void *records = NULL;

	fd = pl_open_control();
	if (fd < 0)
		return fd;
	for (i = 0; i < LIST_TRIES && ret == -EMSGSIZE; i++) {
		struct peerlane_list arg = { 0 };

		free(records);
		records = calloc(room, record_size);
		if (!records) {
			ret = pl_fail(ENOMEM, "%s: %u records", what, room);
			break;
		}
		arg.array_ptr = (uintptr_t)records;
		arg.count = room;
		arg.record_size = (uint32_t)record_size;
		ret = pl_ioctl(fd, request, &arg, sizeof(arg), NULL, "%s",
			       what);
		if (!ret && arg.count > room)
			ret = pl_fail_text(EPROTO, "%s: the kernel says %u records in room for %u",
					   what, arg.count, room);
		if (!ret)
			*count = arg.count;
		else if (ret == -EMSGSIZE && room == LIST_MOST)
			break;
		else
			room = more_room(room, arg.count);
	}
	pl_close(fd);
	if (ret) {
		free(records);
		return ret;
	}
	pl_clear(); /* of an EMSGSIZE on the way */
	*array = records;
	return 0;
}

int pl_list(const struct pl_list *list, void *infos, size_t *count)
{
	char *records, *out = NULL;
	void *array;
	size_t n, i;
	int ret;

	pl_clear();
	ret = read_records(list->request, list->record_size, list->what,
			   &array, &n);
	if (ret)
		return ret;
	records = array;
	if (n) {
		out = calloc(n, list->info_size);
		if (!out) {
			free(records);
			return pl_fail(ENOMEM, "%s", list->what);
		}
	}
	for (i = 0; i < n; i++)
		list->convert(out + i * list->info_size,
			      records + i * list->record_size);
	free(records);
	memcpy(infos, &out, sizeof(out));
	*count = n;
	return 0;
}

int pl_info(int fd, unsigned int request, void *record, uint32_t record_size)
{
	struct peerlane_list arg = { 0 };
	int ret;

	memset(record, 0, record_size);
	arg.array_ptr = (uintptr_t)record;
	arg.count = 1;
	arg.record_size = record_size;
	ret = pl_ioctl(fd, request, &arg, sizeof(arg), NULL, "fd %d", fd);
	if (!ret && arg.count != 1)
		ret = pl_fail_text(EPROTO, "fd %d: the kernel says %u records in room for 1",
				   fd, arg.count);
	return ret;
}
