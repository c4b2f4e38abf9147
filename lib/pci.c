// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* PCI addresses as text. */
#include <stdio.h>

#include "private.h"

/* Read @min to @max hexadecimal digits; the next character, or NULL. */
static const char *hex(const char *c, int min, int max, unsigned int *value)
{
	int n = 0;

	for (*value = 0; n < max; n++, c++) {
		unsigned int digit;

		if (*c >= '0' && *c <= '9')
			digit = (unsigned int)(*c - '0');
		else if (*c >= 'a' && *c <= 'f')
			digit = (unsigned int)(*c - 'a') + 10;
		else if (*c >= 'A' && *c <= 'F')
			digit = (unsigned int)(*c - 'A') + 10;
		else
			break;
		*value = *value << 4 | digit;
	}
	return n >= min ? c : NULL;
}

/* "bb:dd.f" and nothing behind it */
static bool bus_device_function(const char *c, unsigned int *bus,
				unsigned int *dev, unsigned int *fn)
{
	c = hex(c, 2, 2, bus);
	if (!c || *c++ != ':')
		return false;
	c = hex(c, 2, 2, dev);
	if (!c || *c++ != '.')
		return false;
	c = hex(c, 1, 1, fn);
	return c && !*c && *dev < 32 && *fn < 8;
}

/*
 * Bring "dddd:bb:dd.f" or "bb:dd.f" into the form that sysfs uses. A domain
 * has four digits, or more where a bridge makes its own (VMD: 10000).
 */
bool pl_pci_parse(const char *text, char out[PEERLANE_PCI_LEN])
{
	unsigned int domain = 0, bus, dev, fn;
	const char *c;

	if (!text)
		return false;
	if (!bus_device_function(text, &bus, &dev, &fn)) {
		c = hex(text, 4, 7, &domain);
		if (!c || *c++ != ':' ||
		    !bus_device_function(c, &bus, &dev, &fn))
			return false;
	}
	snprintf(out, PEERLANE_PCI_LEN, "%04x:%02x:%02x.%x",
		 domain & 0xfffffff, bus & 0xff, dev & 0x1f, fn & 7);
	return true;
}
