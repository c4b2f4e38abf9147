// SPDX-License-Identifier: GPL-2.0
/* Removed in 6.17: its users take a plain unsigned long. */
#include <linux/mm.h>
#include <linux/pfn.h>
vm_fault_t probe(struct vm_area_struct *vma, pfn_t pfn)
{ return vmf_insert_mixed(vma, vma->vm_start, pfn); }
