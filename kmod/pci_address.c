// SPDX-License-Identifier: GPL-2.0
/* PCI addresses as users write them. */
#include <linux/ctype.h>
#include <linux/kernel.h>

#include "pci_address.h"

/* hex_to_bin() is in another header on each kernel. */
static unsigned int hex_digit(char digit)
{
	return isdigit(digit) ? digit - '0' : tolower(digit) - 'a' + 10;
}

/* At most @digits hex digits, at least @least, then @end. */
static const char *take_hex(const char *at, unsigned int least,
			    unsigned int digits, char end, unsigned int *value)
{
	unsigned int n;

	*value = 0;
	for (n = 0; n < digits && isxdigit(at[n]); n++)
		*value = *value << 4 | hex_digit(at[n]);
	if (n < least || at[n] != end)
		return NULL;
	return at + n + 1;
}

bool peerlane_pci_address_parse(const char *text,
				struct peerlane_pci_address *address)
{
	/* Domains above ffff exist (VMD). */
	const char *at = take_hex(text, 4, 7, ':', &address->domain);

	if (!at) {
		address->domain = 0;
		at = text;
	}
	at = take_hex(at, 2, 2, ':', &address->bus);
	if (at)
		at = take_hex(at, 2, 2, '.', &address->slot);
	if (at)
		at = take_hex(at, 1, 1, '\0', &address->func);
	return at && address->slot <= 0x1f && address->func <= 7;
}
