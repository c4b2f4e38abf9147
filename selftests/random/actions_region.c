// SPDX-License-Identifier: GPL-2.0
/* Calls on region files, well-formed. */
#include "actions.h"
#include "arena.h"
#include "call.h"
#include "files.h"

static int alloc(struct actor *actor)
{
	struct peerlane_region_alloc args = {};
	struct loan loan;
	int ret;

	if (!files_borrow(actor, THING_REGIONS, &loan))
		return NOTHING;
	args.length = some_length(actor);
	if (one_in(actor, 16))
		args.length = (128UL << 20) - PAGE;	/* more than there is */
	ret = CALL(actor, loan.thing.fd, REGION_ALLOC, &args);
	files_kept(actor, &loan);
	return ret;
}

static int info(struct actor *actor)
{
	struct peerlane_region_status args = {};
	struct loan loan;
	int ret;

	if (!files_borrow(actor, THING_REGIONS, &loan))
		return NOTHING;
	ret = CALL(actor, loan.thing.fd, REGION_INFO, &args);
	if (files_kept(actor, &loan) && !ret && loan.thing.kind == THING_REGION &&
	    args.out_id != loan.thing.region)
		complain(COMPLAINT_FOREIGN, "region %llu says it is %llu",
			 (unsigned long long)loan.thing.region,
			 (unsigned long long)args.out_id);
	return ret;
}

/* A part that there is, as far as one can know. */
static int export_part(struct actor *actor, const struct thing *of,
		       struct peerlane_region_export *args)
{
	struct peerlane_region_status info = {};
	int ret = CALL(actor, of->fd, REGION_INFO, &info);

	if (ret)
		return ret;
	if (of->kind == THING_REGION && info.out_length) {
		args->offset = some_pages(actor, info.out_length) - PAGE;
		args->length = some_pages(actor, info.out_length - args->offset);
	} else {
		args->length = info.out_length ? info.out_length : PAGE;
	}
	if (one_in(actor, 8))
		args->flags = PEERLANE_EXPORT_REVOCABLE_ONLY;
	return CALL(actor, of->fd, REGION_EXPORT, args);
}

static int export(struct actor *actor)
{
	struct peerlane_region_export args = {};
	struct thing of, made = { .kind = THING_DMABUF };
	int ret;

	if (!files_take(actor, THING_REGIONS, &of))
		return NOTHING;
	ret = export_part(actor, &of, &args);
	if (!ret) {
		made.fd = args.out_fd;
		made.region = of.region;
		made.base = of.base + args.offset;
		made.length = args.length;
		files_put(actor, &made);
	}
	files_put(actor, &of);
	return ret;
}

/* As threads do that share a file: it may be closed, or be another by now. */
static int export_borrowed(struct actor *actor)
{
	struct peerlane_region_export args = {};
	struct thing made = { .kind = THING_DMABUF };
	struct loan loan;
	int ret;

	if (!files_borrow(actor, THING_REGIONS, &loan))
		return NOTHING;
	ret = export_part(actor, &loan.thing, &args);
	if (files_kept(actor, &loan))
		made.region = loan.thing.region;
	if (ret)
		return ret;
	made.fd = args.out_fd;
	made.base = loan.thing.base + args.offset;
	made.length = args.length;
	files_put(actor, &made);
	return 0;
}

static int revoke(struct actor *actor)
{
	struct peerlane_region_revoke args = {};
	struct loan loan;
	int ret;

	if (!files_borrow(actor, THING_REGIONS, &loan))
		return NOTHING;
	ret = CALL(actor, loan.thing.fd, REGION_REVOKE, &args);
	files_kept(actor, &loan);
	return ret;
}

#define EXPORT_ERRNOS \
	{ ENODATA, ENODEV, EINVAL, EOPNOTSUPP, EPERM, EBUSY }

const struct action region_actions[] = {
	{ "REGION_ALLOC", alloc, 12,
	  { EBUSY, ENODEV, ENOSPC, EDQUOT, EOPNOTSUPP } },
	{ "REGION_INFO", info, 15 },
	{ "REGION_EXPORT", export, 25, EXPORT_ERRNOS },
	{ "REGION_EXPORT of a shared file", export_borrowed, 8, EXPORT_ERRNOS },
	{ "REGION_REVOKE", revoke, 10, { EBUSY, ENODATA, EPERM } },
	{}
};
