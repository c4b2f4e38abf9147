// SPDX-License-Identifier: GPL-2.0
/* A disk that reads and writes regions by itself: O_DIRECT. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actions.h"
#include "arena.h"
#include "disk.h"
#include "tag.h"

#define DISK		"/dev/nvme0n1"
#define DISK_PART	(1UL << 20)	/* each actor's own */

static int disk = -1;

void disk_init(void)
{
	disk = open(DISK, O_RDWR | O_DIRECT | O_CLOEXEC);
}

static off_t part_of(const struct actor *actor)
{
	return (actor->seat - board->seats) * DISK_PART;
}

/* What the disk puts into a region is that region's tags. */
static int from_disk(struct actor *actor)
{
	struct place *place = place_get(actor);
	uint64_t length;
	char *at;
	int ret = NOTHING;

	if (!place)
		return NOTHING;
	if (disk < 0 || !place->region)
		goto out;
	length = place_part(actor, place, ACTOR_BUFFER, &at);
	tag_write(actor->buffer, length, place->region, place_offset(place, at));
	ret = pwrite(disk, actor->buffer, length, part_of(actor)) < 0 ||
	      pread(disk, at, length, part_of(actor)) < 0 ? -errno : 0;
out:
	place_put(place);
	return ret;
}

static int to_disk(struct actor *actor)
{
	struct place *place = place_get(actor);
	uint64_t offset, region;
	char *at;
	ssize_t n = 0;
	int ret = NOTHING;

	if (!place)
		return NOTHING;
	region = place->region;
	if (disk >= 0 && region) {
		n = place_part(actor, place, ACTOR_BUFFER, &at);
		offset = place_offset(place, at);
		n = pwrite(disk, at, n, part_of(actor));
		ret = n < 0 ? -errno : 0;
	}
	place_put(place);
	if (ret)
		return ret;
	n = pread(disk, actor->buffer, n, part_of(actor));
	if (n > 0)
		tag_check(actor->buffer, n, region, offset, "a disk");
	return n < 0 ? -errno : 0;
}

const struct action disk_actions[] = {
	{ "O_DIRECT read", from_disk, 8, { EFAULT }, .can = disk_takes_device_pages },
	{ "O_DIRECT write", to_disk, 8, { EFAULT }, .can = disk_takes_device_pages },
	{}
};
