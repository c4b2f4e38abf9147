/* SPDX-License-Identifier: GPL-2.0 */
/* Lists as the kernel has them: a ring with a head. What pure code uses. */
#ifndef SELFTESTS_LIST_H
#define SELFTESTS_LIST_H

#include <linux/kernel.h>

struct list_head {
	struct list_head *next, *prev;
};

#define list_of(pointer, type, member) \
	((type *)(void *)((char *)(pointer) - offsetof(type, member)))
#define list_first_entry(head, type, member) \
	list_of((head)->next, type, member)
#define list_for_each_entry_continue(at, head, member) \
	for ((at) = list_of((at)->member.next, __typeof__(*(at)), member); \
	     &(at)->member != (head); \
	     (at) = list_of((at)->member.next, __typeof__(*(at)), member))

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add_tail(struct list_head *node, struct list_head *head)
{
	node->next = head;
	node->prev = head->prev;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_del_init(struct list_head *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	INIT_LIST_HEAD(node);
}

#endif /* SELFTESTS_LIST_H */
