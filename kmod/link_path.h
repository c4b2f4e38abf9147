/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How near an RDMA device is to a region's memory. Whoever has the list of RDMA
 * devices (link's ib_client) asks link_path_of() for each that the route allows
 * and keeps the nearest.
 */
#ifndef PEERLANE_LINK_PATH_H
#define PEERLANE_LINK_PATH_H

#include <linux/types.h>

struct device;
struct ib_device;
struct peerlane_region;

struct link_path {
	u32 path;		/* enum peerlane_path */
	u32 bridges;		/* PCI bridges between the two */
	u32 node_distance;	/* of NUMA nodes, U32_MAX: unknown */
};

/*
 * Devices without a PCI function (rxe, siw) and memory without one (host pages,
 * other drivers' dma-bufs) have PEERLANE_PATH_UNKNOWN. @dev cannot go: the
 * caller holds it. May sleep.
 */
void link_path_of(struct peerlane_region *region, struct ib_device *dev,
		  struct link_path *path);
/* The same for the device that does the DMA; NULL: the CPU does. */
void link_path_of_device(struct peerlane_region *region, struct device *dma,
			 struct link_path *path);

/* Is @path nearer than @other? No: the earlier one of two alike is kept. */
bool link_path_nearer(const struct link_path *path,
		      const struct link_path *other);

#endif /* PEERLANE_LINK_PATH_H */
