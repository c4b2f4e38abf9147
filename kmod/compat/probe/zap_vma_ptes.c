// SPDX-License-Identifier: GPL-2.0
/* Became zap_special_vma_range() in 7.1. */
#include <linux/mm.h>
void probe(struct vm_area_struct *vma) { zap_vma_ptes(vma, vma->vm_start, PAGE_SIZE); }
