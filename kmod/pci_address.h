/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEERLANE_PCI_ADDRESS_H
#define PEERLANE_PCI_ADDRESS_H

#include <linux/kernel.h>

struct peerlane_pci_address {
	unsigned int domain, bus, slot, func;
};

/*
 * @text "dddd:bb:dd.f" or "bb:dd.f" in hex digits, with nothing before or
 * behind. At most PEERLANE_PCI_LEN bytes are read; what does not end within
 * them is no address.
 */
bool peerlane_pci_address_parse(const char *text,
				struct peerlane_pci_address *address);

#endif /* PEERLANE_PCI_ADDRESS_H */
