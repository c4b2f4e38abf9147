// SPDX-License-Identifier: GPL-2.0
/* What tests look at. Read only, for root, no ABI. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "flow.h"
#include "link.h"
#include "peerlane.h"

#define ROOM 4096

static struct dentry *root;

static int regions_show(struct seq_file *seq, void *unused)
{
	struct peerlane_region_record *records;
	u32 i, count;

	records = kvcalloc(ROOM, sizeof(*records), GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	count = peerlane_region_records(records, ROOM);
	for (i = 0; i < min_t(u32, count, ROOM); i++)
		seq_printf(seq,
			   "id=%llu device=%s state=%u offset=%llu length=%llu exports=%u attachments=%u mappings=%u pinned=%u\n",
			   records[i].id, records[i].device, records[i].state,
			   records[i].dev_offset, records[i].length,
			   records[i].exports, records[i].attachments,
			   records[i].mappings, records[i].pinned_units);
	if (count > ROOM)
		seq_printf(seq, "and %u more\n", count - ROOM);
	kvfree(records);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(regions);

static int counts_show(struct seq_file *seq, void *unused)
{
	struct peerlane_link_counts links;

	peerlane_link_counts(&links);
	seq_printf(seq, "devices %u\nregions %u\ncharged %llu\nflows %u\n",
		   peerlane_device_records(NULL, 0),
		   peerlane_region_records(NULL, 0), peerlane_charged(),
		   flow_all_flows());
	seq_printf(seq, "links %u\nlanes %u\nkeys %u\npooled %u\n",
		   links.links, links.lanes, links.keys, links.pooled);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

void peerlane_debugfs_init(void)
{
	root = debugfs_create_dir("peerlane", NULL);
	debugfs_create_file("regions", 0400, root, NULL, &regions_fops);
	debugfs_create_file("counts", 0400, root, NULL, &counts_fops);
}

void peerlane_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
