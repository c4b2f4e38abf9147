// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Why the last call failed: one line per thread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "private.h"

static _Thread_local char text[PL_TEXT_MAX];

/* In the kernel and in some of its replies, never in errno.h */
#define KERNEL_ENOTSUPP 524

const char *pl_errno_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
#define NAME(e) { e, #e }
		NAME(EPERM), NAME(ENOENT), NAME(EINTR), NAME(EIO), NAME(ENXIO),
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
		NAME(ECANCELED),
#undef NAME
		{ KERNEL_ENOTSUPP, "ENOTSUPP" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].err == err)
			return names[i].name;
	return NULL;
}

/* Add to the text what fits; a cut line stays a line. */
static PL_PRINTF(2, 3) void append(size_t *used, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text + *used, sizeof(text) - *used, fmt, ap);
	va_end(ap);
	if (n > 0)
		*used += (size_t)n;
	if (*used >= sizeof(text))
		*used = sizeof(text) - 1;
}

static void append_errno(size_t *used, int err)
{
	const char *name = pl_errno_name(err);

	if (name)
		append(used, " (%s)", name);
	else
		append(used, " (errno %d)", err);
}

/* The text may hold names from elsewhere: keep it one printable line. */
static void flatten(void)
{
	char *c;

	for (c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	while (c > text && c[-1] == ' ')
		*--c = '\0';
}

static PL_PRINTF(2, 0) void start(size_t *used, const char *fmt, va_list ap)
{
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	*used = n < 0 ? 0 : (size_t)n;
	if (*used >= sizeof(text))
		*used = sizeof(text) - 1;
	text[*used] = '\0';
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

	start(&used, fmt, ap);
	if (!msg || !*msg)
		msg = strerror_r(err, word, sizeof(word));
	append(&used, ": %s", msg);
	flatten();
	used = strlen(text);
	append_errno(&used, err);
	return -err;
}

/* "<what>: <the C library's word> (ENAME)" */
int pl_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pl_fail_msg(err, NULL, fmt, ap);
	va_end(ap);
	return -err;
}

/* The whole reason is ours: "<reason> (ENAME)" */
int pl_fail_text(int err, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	va_start(ap, fmt);
	start(&used, fmt, ap);
	va_end(ap);
	flatten();
	used = strlen(text);
	append_errno(&used, err);
	return -err;
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
