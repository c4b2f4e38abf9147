// SPDX-License-Identifier: GPL-2.0
/* Which of two ways to a region's memory is nearer. Pure. */
#include <linux/kernel.h>
#include <uapi/peerlane.h>

#include "link_path.h"

/* What is not known may work, what is known not to is the last choice. */
static unsigned int rank(u32 path)
{
	switch (path) {
	case PEERLANE_PATH_SWITCH:
		return 0;
	case PEERLANE_PATH_ROOT_PORT:
		return 1;
	case PEERLANE_PATH_HOST_BRIDGE:
		return 2;
	case PEERLANE_PATH_IOMMU:
		return 3;
	case PEERLANE_PATH_UNKNOWN:
		return 4;
	}
	return 5;
}

bool link_path_nearer(const struct link_path *path,
		      const struct link_path *other)
{
	if (rank(path->path) != rank(other->path))
		return rank(path->path) < rank(other->path);
	if (path->bridges != other->bridges)
		return path->bridges < other->bridges;
	return path->node_distance < other->node_distance;
}
