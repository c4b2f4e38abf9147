// SPDX-License-Identifier: GPL-2.0
/*
 * A walker of page tables that takes its time: a CPU with interrupts off, as
 * GUP-fast has it between reading a PTE and taking a reference on the page. It
 * walks for as many milliseconds as are written to walk_ms in debugfs, or until
 * walking is N.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/module.h>

#define LONGEST_MS	15000

static struct dentry *debug;
static bool walking;

static int walk(void *unused, u64 ms)
{
	unsigned long flags;

	if (ms > LONGEST_MS)
		return -ERANGE;
	local_irq_save(flags);
	WRITE_ONCE(walking, true);
	for (; ms && READ_ONCE(walking); ms--)
		mdelay(1);
	WRITE_ONCE(walking, false);
	local_irq_restore(flags);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(walk_fops, NULL, walk, "%llu\n");

static int __init walker_init(void)
{
	debug = debugfs_create_dir("pl_walker", NULL);
	debugfs_create_file_unsafe("walk_ms", 0200, debug, NULL, &walk_fops);
	debugfs_create_bool("walking", 0600, debug, &walking);
	return 0;
}

static void __exit walker_exit(void)
{
	debugfs_remove_recursive(debug);
}

module_init(walker_init);
module_exit(walker_exit);

MODULE_DESCRIPTION("Walker of page tables for tests of peerlane");
MODULE_LICENSE("GPL");
