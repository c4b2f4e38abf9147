// SPDX-License-Identifier: GPL-2.0
/* Control: compiles everywhere, or the probes themselves are broken. */
#include <linux/module.h>
#include <linux/mm.h>
int probe(struct vm_area_struct *vma) { return vma->vm_start != 0; }
