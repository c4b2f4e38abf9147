// SPDX-License-Identifier: GPL-2.0
/* Pins that outlive mappings: memory regions of a NIC, pages in a pipe. */
#include <infiniband/verbs.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "actions.h"
#include "arena.h"
#include "files.h"
#include "lifetime_rdma.h"
#include "tag.h"

#define PIPE_PAGES 8

static struct rdma rdma;

void pins_prepare(void)
{
	rdma_device();
}

/* Some programs have children's mappings kept away from the NIC, some not. */
void pins_init(struct actor *actor)
{
	if (one_in(actor, 2))
		ibv_fork_init();
	if (!rdma_open(&rdma))
		complain(COMPLAINT_DEATH, "no verbs device");
}

static int reg_mr(struct actor *actor)
{
	struct thing made = { .kind = THING_MR };
	struct place *place = place_get(actor);
	uint64_t length;
	char *at;
	int ret = 0;

	if (!place)
		return NOTHING;
	length = place_part(actor, place, ARENA_MOST, &at);
	made.mr = rdma_reg(&rdma, at, length);
	if (!made.mr)
		ret = -errno;
	place_put(place);
	if (ret)
		return ret;
	files_put(actor, &made);
	return 0;
}

static int dereg_mr(struct actor *actor)
{
	struct thing thing;

	if (!files_take(actor, THING_MR, &thing))
		return NOTHING;
	return -ibv_dereg_mr(thing.mr);
}

static int reg_dmabuf_mr(struct actor *actor)
{
	struct thing made = { .kind = THING_MR };
	struct loan loan;
	int ret;

	if (!files_borrow(actor, THING_DMABUF, &loan))
		return NOTHING;
	made.mr = ibv_reg_dmabuf_mr(rdma.pd, 0, loan.thing.length, 0,
				    loan.thing.fd, RDMA_ACCESS);
	ret = made.mr ? 0 : -errno;
	files_kept(actor, &loan);
	if (!ret)
		files_put(actor, &made);
	return ret;
}

/* ---- pipes ---- */

static int splice_into(struct actor *actor, int pipe, struct thing *made)
{
	struct place *place = place_get(actor);
	struct iovec iov;
	char *at;
	int ret = NOTHING;

	if (!place)
		return NOTHING;
	if (place->region) {
		iov.iov_len = place_part(actor, place, PIPE_PAGES * PAGE, &at);
		iov.iov_base = at;
		made->region = place->region;
		made->base = place_offset(place, at);
		ret = vmsplice(pipe, &iov, 1, SPLICE_F_NONBLOCK);
		ret = ret < 0 ? -errno : 0;
	}
	place_put(place);
	return ret;
}

static int splice_pages(struct actor *actor)
{
	struct thing made = { .kind = THING_PIPE };
	int ends[2], ret;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	ret = splice_into(actor, ends[1], &made);
	close(ends[1]);
	made.fd = ends[0];
	if (ret)
		close(ends[0]);
	else
		files_put(actor, &made);
	return ret;
}

/*
 * The pages may be mapped by nobody any more, and their region gone: still
 * nobody else has them.
 */
static int read_pages(struct actor *actor)
{
	struct thing pipe;
	ssize_t n;

	if (!files_take(actor, THING_PIPE, &pipe))
		return NOTHING;
	n = read(pipe.fd, actor->buffer, PIPE_PAGES * PAGE);
	if (n > 0)
		tag_check(actor->buffer, n, pipe.region, pipe.base, "a pipe");
	close(pipe.fd);
	return n < 0 ? -errno : 0;
}

const struct action pin_actions[] = {
	/*
	 * EINVAL: after EFAULT libibverbs undoes MADV_DONTFORK, which 7.2 refuses
	 * for mappings like ours, and tells that.
	 */
	{ "ibv_reg_mr", reg_mr, 12, { EFAULT, EINVAL } },
	{ "ibv_dereg_mr", dereg_mr, 8 },
	{ "ibv_reg_dmabuf_mr", reg_dmabuf_mr, 2,
	  { EOPNOTSUPP, ENODEV, EINVAL }, .may_never = true },
	{ "vmsplice", splice_pages, 10, { EFAULT, EAGAIN } },
	{ "read a pipe", read_pages, 6, { EAGAIN } },
	{}
};
