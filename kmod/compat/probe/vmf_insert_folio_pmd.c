// SPDX-License-Identifier: GPL-2.0
/* Added in 6.15. */
#include <linux/mm.h>
vm_fault_t probe(struct vm_fault *vmf, struct folio *folio)
{ return vmf_insert_folio_pmd(vmf, folio, true); }
