/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of /sys, /proc and /boot for the library's tests: while there is a tree,
 * what is opened there is looked for in it. And network interfaces with ethtool.
 */
#ifndef LIB_FAKE_TREE_H
#define LIB_FAKE_TREE_H

#include "lib_fake_netlink.h"

#include <linux/ethtool.h>

#define TREE_ROWS	64

/* What ethtool's ioctl answers, for every interface */
extern struct tree {
	int ethtool_errno;
	const char *driver;	/* NULL: it does not say */
	uint32_t speed;		/* Mb/s; 0: no link settings */
	unsigned int modes[4];	/* bits of link modes it supports; 0 ends */
	int pause;		/* autoneg 1, rx 2, tx 4; -1 it has none */
	const char *names[TREE_ROWS];
	uint64_t values[TREE_ROWS];
	uint32_t rows;
	int rows_change;	/* so many questions for values have one more */
	int calls;
} tree;

/* Begin a case with an empty tree and no rdma netlink; end it. */
void tree_begin(void);
void tree_end(void);
/* A file, with the folders it needs; @text is its content. */
void tree_file(const char *path, const char *text);
/* A file that cannot be read */
void tree_broken(const char *path);
void tree_folder(const char *path);
void tree_link(const char *path, const char *target);
/* Files of one folder: name, content, ..., NULL */
void tree_files(const char *folder, ...);
void tree_row(const char *name, uint64_t value);

#endif /* LIB_FAKE_TREE_H */
