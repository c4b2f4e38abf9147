// SPDX-License-Identifier: GPL-2.0
/* Devices that import: of every habit, and some with an engine that copies. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "actions.h"
#include "arena.h"
#include "files.h"
#include "pl_importer.h"
#include "tag.h"

static int importer_call(struct actor *actor, unsigned long cmd, void *args)
{
	struct loan loan;
	int ret;

	if (!files_borrow(actor, THING_IMPORTER, &loan))
		return NOTHING;
	ret = ioctl(loan.thing.fd, cmd, args) < 0 ? -errno : 0;
	files_kept(actor, &loan);
	return ret;
}

static int importer_open(const struct thing *dmabuf, uint32_t mode, bool map)
{
	struct pl_attach args = { .fd = dmabuf->fd, .mode = mode };
	int fd = open("/dev/pl_importer", O_RDWR | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, PL_ATTACH, &args) && (!map || !ioctl(fd, PL_MAP)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* What the importer can reach is what the dma-buf shows. */
static int attach_as(struct actor *actor, const struct thing *dmabuf)
{
	static const uint32_t often[] = {
		PL_DYNAMIC, PL_DYNAMIC, PL_PINNED, PL_PINNED_REVOCABLE,
	};
	static const uint32_t refused[] = {
		PL_STATIC, PL_SYSTEM_ONLY, PL_NOT_PCI,
	};
	struct thing importer = {
		.kind = THING_IMPORTER, .base = dmabuf->base,
		.length = dmabuf->length, .region = dmabuf->region,
	};
	uint32_t mode = one_in(actor, 6) ? refused[dice(actor, 3)] :
					   often[dice(actor, 4)];

	importer.fd = importer_open(dmabuf, mode, !one_in(actor, 4));
	if (importer.fd < 0)
		return importer.fd;
	files_put(actor, &importer);
	return 0;
}

static int attach(struct actor *actor)
{
	struct thing dmabuf;
	int ret;

	if (!files_take(actor, THING_DMABUF, &dmabuf))
		return NOTHING;
	ret = dmabuf.region ? attach_as(actor, &dmabuf) : NOTHING;
	files_put(actor, &dmabuf);
	return ret;
}

static int map(struct actor *actor)
{
	return importer_call(actor, PL_MAP, NULL);
}

static int unmap(struct actor *actor)
{
	return importer_call(actor, PL_UNMAP, NULL);
}

static int detach(struct actor *actor)
{
	return importer_call(actor, PL_DETACH, NULL);
}

static int state(struct actor *actor)
{
	struct pl_state args;

	return importer_call(actor, PL_STATE, &args);
}

static int copy(struct actor *actor, bool write)
{
	struct pl_copy args = {
		.data_ptr = (uintptr_t)actor->buffer, .length = 512,
		.write = write,
	};
	struct thing importer;
	int ret = NOTHING;

	if (!files_take(actor, THING_IMPORTER, &importer))
		return NOTHING;
	if (!importer.region)
		goto out;
	args.offset = some_pages(actor, importer.length) - PAGE;
	if (write)
		tag_write(actor->buffer, args.length, importer.region,
			  importer.base + args.offset);
	ret = ioctl(importer.fd, PL_COPY, &args) ? -errno : 0;
	if (!ret && !write)
		tag_check(actor->buffer, args.length, importer.region,
			  importer.base + args.offset, "an importer");
out:
	files_put(actor, &importer);
	return ret;
}

/*
 * Zeroes, in the background; limbo waits for their end. Nobody copies by this
 * importer, as it has one buffer for both.
 */
static int job_of(struct actor *actor, const struct thing *dmabuf)
{
	struct thing importer = { .kind = THING_IMPORTER };
	struct pl_job args = {
		.offset = some_pages(actor, dmabuf->length) - PAGE,
		.length = 512, .ms = dice(actor, 200),
		.hasty = one_in(actor, 2),
	};
	int ret;

	importer.fd = importer_open(dmabuf, PL_DYNAMIC, true);
	if (importer.fd < 0)
		return importer.fd;
	ret = ioctl(importer.fd, PL_JOB, &args) ? -errno : 0;
	files_put(actor, &importer);
	return ret;
}

static int job(struct actor *actor)
{
	struct thing dmabuf;
	int ret = NOTHING;

	if (!files_take(actor, THING_DMABUF, &dmabuf))
		return NOTHING;
	if (dmabuf.region)
		ret = job_of(actor, &dmabuf);
	files_put(actor, &dmabuf);
	return ret;
}

static int copy_from(struct actor *actor)
{
	return copy(actor, false);
}

static int copy_to(struct actor *actor)
{
	return copy(actor, true);
}

const struct action dma_actions[] = {
	{ "attach a dma-buf", attach, 20, { ENODEV, EOPNOTSUPP, EREMOTEIO } },
	{ "map for DMA", map, 8, { ENODEV, EBUSY, ENOENT } },
	{ "unmap for DMA", unmap, 4, { ENOENT } },
	{ "detach a dma-buf", detach, 4, { ENOENT } },
	{ "state of an importer", state, 3 },
	{ "DMA from a region", copy_from, 8, { ENOENT, ERANGE } },
	{ "DMA to a region", copy_to, 8, { ENOENT, ERANGE } },
	{ "DMA in the background", job, 4,
	  { ENODEV, ENOENT, EREMOTEIO, EOPNOTSUPP, ERANGE } },
	{}
};
