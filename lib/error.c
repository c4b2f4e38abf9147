// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Why the last call failed: one line per thread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "private.h"

static _Thread_local char text[PL_TEXT_MAX];

/* The rest is for the errno. */
#define REASON_MAX (sizeof(text) - 32)

/* In the kernel and in some of its replies, never in errno.h */
#define KERNEL_ENOTSUPP 524

const char *pl_errno_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
#define NAME(e) { e, #e }
		NAME(EPERM), NAME(ENOENT), NAME(ESRCH), NAME(EINTR),
		NAME(EIO), NAME(ENXIO),
		NAME(E2BIG), NAME(EBADF), NAME(EAGAIN), NAME(ENOMEM),
		NAME(EACCES), NAME(EFAULT), NAME(EBUSY), NAME(EEXIST),
		NAME(EXDEV), NAME(ENODEV), NAME(ENOTDIR), NAME(EISDIR),
		NAME(EINVAL), NAME(ENFILE), NAME(EMFILE), NAME(ENOTTY),
		NAME(EFBIG), NAME(ENOSPC), NAME(ESPIPE), NAME(EROFS),
		NAME(EPIPE), NAME(EDOM), NAME(ERANGE), NAME(EDEADLK),
		NAME(ENAMETOOLONG), NAME(ENOSYS), NAME(ELOOP), NAME(ENODATA),
		NAME(ETIME), NAME(EPROTO), NAME(EOVERFLOW), NAME(EMSGSIZE),
		NAME(EPROTONOSUPPORT), NAME(EOPNOTSUPP), NAME(ENOBUFS),
		NAME(ETIMEDOUT), NAME(EALREADY), NAME(EREMOTEIO), NAME(EDQUOT),
		NAME(ECANCELED), NAME(ENOTCONN), NAME(EISCONN),
		NAME(ECONNRESET), NAME(ECONNREFUSED), NAME(ECONNABORTED),
		NAME(ENOKEY), NAME(EBADE), NAME(ESHUTDOWN),
		NAME(ENETDOWN), NAME(ENETUNREACH), NAME(EHOSTUNREACH),
		NAME(EADDRINUSE), NAME(EADDRNOTAVAIL), NAME(EAFNOSUPPORT),
		NAME(EINPROGRESS),
#undef NAME
		{ KERNEL_ENOTSUPP, "ENOTSUPP" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].err == err)
			return names[i].name;
	return NULL;
}

/* Write at @at what fits below @end; where it ends. */
static PL_PRINTF(3, 0) size_t put_list(size_t at, size_t end, const char *fmt,
				       va_list ap)
{
	int n = vsnprintf(text + at, end - at, fmt, ap);

	if (n < 0)
		text[at] = '\0';
	return at + strlen(text + at);
}

static PL_PRINTF(3, 4) size_t put(size_t at, size_t end, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	at = put_list(at, end, fmt, ap);
	va_end(ap);
	return at;
}

/* Reasons may hold names from elsewhere: keep them one printable line. */
static size_t flatten(size_t used)
{
	size_t i;

	for (i = 0; i < used; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = ' ';
	while (used && text[used - 1] == ' ')
		used--;
	return used;
}

/* Behind the reason, however long that was: it is cut at REASON_MAX. */
static int finish(size_t used, int err)
{
	const char *name = pl_errno_name(err);

	used = flatten(used);
	if (name)
		put(used, sizeof(text), " (%s)", name);
	else
		put(used, sizeof(text), " (errno %d)", err);
	return -err;
}

void pl_clear(void)
{
	text[0] = '\0';
}

/* "<what>: <kernel's reason, or the C library's word for it> (ENAME)" */
int pl_fail_msg(int err, const char *msg, const char *fmt, va_list ap)
{
	char word[128];
	size_t used;

	used = put_list(0, REASON_MAX, fmt, ap);
	if (!msg || !*msg)
		msg = strerror_r(err, word, sizeof(word));
	used = put(used, REASON_MAX, ": %s", msg);
	return finish(used, err);
}

/* "<what>: <the C library's word> (ENAME)" */
int (pl_fail)(int err, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = pl_fail_msg(err, NULL, fmt, ap);
	va_end(ap);
	return ret;
}

/* The whole reason is ours: "<reason> (ENAME)" */
int (pl_fail_text)(int err, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	va_start(ap, fmt);
	used = put_list(0, REASON_MAX, fmt, ap);
	va_end(ap);
	return finish(used, err);
}

/* Keep the first failure's text over an undo that may fail as well. */
void pl_text_keep(char copy[PL_TEXT_MAX])
{
	memcpy(copy, text, sizeof(text));
}

void pl_text_put(const char copy[PL_TEXT_MAX])
{
	memcpy(text, copy, sizeof(text));
}

const char *peerlane_strerror(void)
{
	return text;
}

const char *peerlane_version(void)
{
	return PEERLANE_VERSION;
}
