// SPDX-License-Identifier: GPL-2.0
/* Characters out of bytes that may be anything. */
#include "utf8.h"

int32_t utf8_decode(const unsigned char *text, size_t *length)
{
	static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int32_t character;
	size_t need;

	*length = 1;
	if (text[0] < 0x80)
		return text[0];
	if ((text[0] & 0xe0) == 0xc0)
		need = 2;
	else if ((text[0] & 0xf0) == 0xe0)
		need = 3;
	else if ((text[0] & 0xf8) == 0xf0)
		need = 4;
	else
		return -1;
	character = text[0] & (0x7f >> need);
	for (size_t i = 1; i < need; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return -1;	/* also the NUL at the end */
		character = character << 6 | (text[i] & 0x3f);
	}
	if (character < least[need] || character > 0x10ffff ||
	    (character >= 0xd800 && character <= 0xdfff))
		return -1;
	*length = need;
	return character;
}
