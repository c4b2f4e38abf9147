/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the test module pl_link, no API: maps of regions for devices that no RDMA
 * driver has, such as QEMU's edu.
 */
#ifndef PEERLANE_LINK_TEST_H
#define PEERLANE_LINK_TEST_H

#include "link_map.h"
#include "link_path.h"
#include "peerlane.h"

struct link_test {
	struct peerlane_region *(*region_of)(struct file *file);
	void (*region_put_user)(struct peerlane_region *region);
	int (*watch)(struct peerlane_region *region, struct region_watch *watch,
		     struct peerlane_msg *msg);
	void (*unwatch)(struct peerlane_region *region,
			struct region_watch *watch);
	struct link_map *(*get)(struct peerlane_region *region,
				struct ib_device *dev,
				struct peerlane_msg *msg);
	struct link_map *(*get_for)(struct peerlane_region *region,
				    const struct link_map_target *target,
				    struct peerlane_msg *msg);
	void (*put)(struct link_map *map);
	void (*drain)(const struct ib_device *dev);
	u64 (*length)(const struct link_map *map);
	bool (*writable)(const struct link_map *map);
	int (*sges)(const struct link_map *map, u64 offset, u64 length,
		    u32 lkey, struct ib_sge *sges, unsigned int room,
		    u64 *covered);
	int (*keysg)(const struct link_map *map, u64 offset, u64 length,
		     struct scatterlist *sg, unsigned int room);
	void (*path_of)(struct peerlane_region *region, struct ib_device *dev,
			struct link_path *path);
	void (*path_of_device)(struct peerlane_region *region,
			       struct device *dma, struct link_path *path);
};

extern const struct link_test peerlane_link_test;

#endif /* PEERLANE_LINK_TEST_H */
