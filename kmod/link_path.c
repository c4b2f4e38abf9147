// SPDX-License-Identifier: GPL-2.0
/* How near an RDMA device is to a region's memory. */
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/scatterlist.h>
#include <linux/topology.h>
#include <rdma/ib_verbs.h>

#include "link_path.h"
#include "peerlane.h"

static u32 node_distance_of(int from, int to)
{
	if (from == NUMA_NO_NODE || to == NUMA_NO_NODE)
		return U32_MAX;
	return node_distance(from, to);
}

/* The device's memory stays: its removal waits for a hold or a mapping. */
static void path_to_device(const struct peerlane_device *dev,
			   struct device *dma, struct link_path *path)
{
	struct pci_dev *initiator = peerlane_pci_function_of(dma);
	struct peerlane_verdict verdict;

	path->node_distance = node_distance_of(dev_to_node(dma),
					       dev_to_node(dev->dev.parent));
	if (!dev->pdev || !initiator)
		return;
	/* What does not work is the last choice, and then says so itself. */
	peerlane_preflight(dev->pdev, dev->phys, initiator, &verdict, NULL);
	path->path = verdict.path;
	path->bridges = verdict.distance;
}

static void path_to_region(struct peerlane_region *region, struct device *dma,
			   struct link_path *path)
{
	struct peerlane_memory where = {};

	region->kind->memory(region, &where);
	if (where.owner)
		path_to_device(where.owner->dev, dma, path);
	else if (where.pages)
		path->node_distance =
			node_distance_of(dev_to_node(dma),
					 page_to_nid(sg_page(where.pages->sgl)));
}

void link_path_of_device(struct peerlane_region *region, struct device *dma,
			 struct link_path *path)
{
	*path = (struct link_path) {
		.path		= PEERLANE_PATH_UNKNOWN,
		.node_distance	= U32_MAX,
	};
	if (!dma)
		return;
	/* Device memory is known before the region has some of it. */
	if (region->dev) {
		if (peerlane_device_hold(region->dev))
			return;
		path_to_device(region->dev, dma, path);
		peerlane_device_unhold(region->dev);
		return;
	}
	if (peerlane_region_begin_dma(region, NULL))
		return;
	path_to_region(region, dma, path);
	peerlane_region_end_dma(region);
}

void link_path_of(struct peerlane_region *region, struct ib_device *dev,
		  struct link_path *path)
{
	link_path_of_device(region,
			    ib_uses_virt_dma(dev) ? NULL : dev->dma_device,
			    path);
}
