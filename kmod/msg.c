// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <linux/string.h>

#include "peerlane.h"
#include "trace.h"

static __printf(2, 0)
void format(struct peerlane_msg *msg, const char *fmt, va_list args)
{
	vscnprintf(msg->text, sizeof(msg->text), fmt, args);
}

int peerlane_refuse(struct peerlane_msg *msg, int err, const char *fmt, ...)
{
	struct peerlane_msg own;
	va_list args;

	if (!msg)
		msg = &own;
	va_start(args, fmt);
	format(msg, fmt, args);
	va_end(args);
	trace_peerlane_refuse(err, msg->text);
	return err;
}

void peerlane_say(struct peerlane_msg *msg, const char *fmt, ...)
{
	va_list args;

	if (!msg)
		return;
	va_start(args, fmt);
	format(msg, fmt, args);
	va_end(args);
}
