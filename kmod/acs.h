/* SPDX-License-Identifier: GPL-2.0 */
/* PCI Access Control Services. */
#ifndef PEERLANE_ACS_H
#define PEERLANE_ACS_H

#include <linux/kernel.h>
#include <linux/pci_regs.h>

/*
 * Does a port with this ACS control register send requests between the
 * functions below it up to the root? Direct translated (DT) excuses request
 * redirection for an initiator that asks the IOMMU first (ATS).
 */
static inline bool peerlane_acs_redirects(u16 control, bool ats)
{
	if (control & (PCI_ACS_CR | PCI_ACS_EC))
		return true;
	return (control & PCI_ACS_RR) && !(ats && (control & PCI_ACS_DT));
}

#endif /* PEERLANE_ACS_H */
