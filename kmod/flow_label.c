// SPDX-License-Identifier: GPL-2.0
/* Names that users give to flows. One text is kept once. */
#include <linux/slab.h>
#include <linux/string.h>

#include "flow.h"

/* Both: the labels' lock is held. */
static struct flow_label *find_text(struct flow_table *table, const char *text,
				    unsigned long *number)
{
	struct flow_label *label;

	xa_for_each(&table->labels, *number, label)
		if (!strcmp(label->text, text))
			return label;
	return NULL;
}

static int use_existing(struct flow_table *table, const char *text)
{
	struct flow_label *label;
	unsigned long number;

	label = find_text(table, text, &number);
	if (!label)
		return 0;
	refcount_inc(&label->users);
	return (int)number;
}

/* Only one at a time makes labels: the configuration is locked. */
int flow_label_get(struct flow_table *table, const char *text)
{
	struct flow_label *label;
	u32 number;
	int ret;

	if (!*text)
		return 0;
	xa_lock_bh(&table->labels);
	ret = use_existing(table, text);
	xa_unlock_bh(&table->labels);
	if (ret)
		return ret;

	label = kzalloc(sizeof(*label), GFP_KERNEL);
	if (!label)
		return -ENOMEM;
	refcount_set(&label->users, 1);
	strscpy(label->text, text, sizeof(label->text));
	ret = xa_alloc_bh(&table->labels, &number, label,
			  XA_LIMIT(1, FLOW_LABELS_MAX), GFP_KERNEL);
	if (!ret)
		return (int)number;
	kfree(label);
	return ret == -EBUSY ? -ENOSPC : ret;
}

bool flow_label_hold(struct flow_table *table, u16 number)
{
	struct flow_label *label;

	if (!number)
		return true;
	xa_lock_bh(&table->labels);
	label = xa_load(&table->labels, number);
	if (label)
		refcount_inc(&label->users);
	xa_unlock_bh(&table->labels);
	return label;
}

void flow_label_put(struct flow_table *table, u16 number)
{
	struct flow_label *label;

	if (!number)
		return;
	xa_lock_bh(&table->labels);
	label = xa_load(&table->labels, number);
	if (label && refcount_dec_and_test(&label->users))
		__xa_erase(&table->labels, number);
	else
		label = NULL;
	xa_unlock_bh(&table->labels);
	kfree(label);
}

void flow_label_text(struct flow_table *table, u16 number,
		     char text[PEERLANE_LABEL_MAX + 1])
{
	struct flow_label *label;

	*text = '\0';
	if (!number)
		return;
	xa_lock_bh(&table->labels);
	label = xa_load(&table->labels, number);
	if (label)
		strscpy(text, label->text, PEERLANE_LABEL_MAX + 1);
	xa_unlock_bh(&table->labels);
}

/* Every flow is gone, and with it its label. */
void flow_labels_free(struct flow_table *table)
{
	WARN_ON_ONCE(!xa_empty(&table->labels));
	xa_destroy(&table->labels);
}
