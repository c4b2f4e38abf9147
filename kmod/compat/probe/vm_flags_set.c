// SPDX-License-Identifier: GPL-2.0
/* Added in 6.3, when vma->vm_flags became read-only. */
#include <linux/mm.h>
void probe(struct vm_area_struct *vma) { vm_flags_set(vma, VM_DONTCOPY); }
