// SPDX-License-Identifier: GPL-2.0
/*
 * One call, one struct: copied in, checked, handled, copied out. The rules are
 * in the uapi header.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ioctl.h"

/* ---- out ---- */

int peerlane_respond(struct peerlane_call *call, u32 size)
{
	if (copy_to_user(call->user, &call->args,
			 min(call->user_size, size)))
		return peerlane_refuse(&call->msg, -EFAULT,
				       "the argument cannot be written");
	return 0;
}

int peerlane_probe(struct peerlane_call *call, u32 size)
{
	return peerlane_respond(call, size);
}

static void send_text(struct peerlane_call *call)
{
	const struct peerlane_hdr *hdr = &call->args.hdr;
	void __user *to = u64_to_user_ptr(hdr->msg_ptr);
	size_t len;

	if (!hdr->msg_ptr || !hdr->msg_len || !call->msg.text[0])
		return;
	len = min_t(size_t, strlen(call->msg.text) + 1, hdr->msg_len);
	call->msg.text[len - 1] = '\0';
	/* An errno with no text is better than another errno. */
	if (copy_to_user(to, call->msg.text, len))
		return;
}

int peerlane_install(struct peerlane_call *call, u32 size, __s32 *out_fd,
		     struct file *file)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	int ret;

	if (fd < 0)
		return peerlane_refuse(&call->msg, fd,
				       "no free file descriptor");
	*out_fd = fd;
	ret = peerlane_respond(call, size);
	if (ret) {
		put_unused_fd(fd);
		return ret;
	}
	fd_install(fd, file);	/* the table owns the file from here */
	return 0;
}

/* ---- in ---- */

static int read_args(struct peerlane_call *call,
		     const struct peerlane_command *command)
{
	int ret;

	if (get_user(call->user_size, (u32 __user *)call->user))
		return -EFAULT;
	if (call->user_size < command->min_size)
		return -EINVAL;
	/* Before 4 GiB of zeroes are looked at. */
	if (call->user_size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&call->args, command->size, call->user,
				    call->user_size);
	if (ret)
		return ret;
	/* Read twice: a thread may have changed it in between. */
	call->args.hdr.size = call->user_size;
	return 0;
}

static int check_hdr(struct peerlane_call *call,
		     const struct peerlane_command *command)
{
	const struct peerlane_hdr *hdr = &call->args.hdr;

	if (hdr->flags & ~command->flags)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "unknown flags %#x",
				       hdr->flags & ~command->flags);
	if (hdr->reserved)
		return peerlane_refuse(&call->msg, -EOPNOTSUPP,
				       "reserved is not 0");
	return 0;
}

long peerlane_run(struct peerlane_call *call,
		  const struct peerlane_command *command)
{
	int ret = read_args(call, command);

	if (ret)	/* no header to trust, so the text is only traced */
		return peerlane_refuse(NULL, ret,
				       "command %u with a struct of %u bytes",
				       _IOC_NR(command->cmd), call->user_size);
	ret = check_hdr(call, command);
	if (!ret)
		ret = command->handler(call);
	if (ret || call->say)
		send_text(call);
	return ret;
}

long peerlane_dispatch(struct file *file, unsigned int cmd, unsigned long arg,
		     const struct peerlane_command *commands, unsigned int count,
		     unsigned int base)
{
	unsigned int index = _IOC_NR(cmd) - base;
	struct peerlane_call *call;
	long ret;

	if (index >= count || commands[index].cmd != cmd)
		return -ENOTTY;
	index = array_index_nospec(index, count);
	call = kzalloc(sizeof(*call), GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	call->file = file;
	call->user = (void __user *)arg;
	ret = peerlane_run(call, &commands[index]);
	kfree_sensitive(call);	/* it may have a secret, whatever became of it */
	return ret;
}
