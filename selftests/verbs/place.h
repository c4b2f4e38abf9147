/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that a transfer begins or ends in, as the command line has it:
 * "bar+OFF", "bar2+OFF" (another region of the same device), "host+OFF". With
 * "@whole" behind it the MR covers the whole region, else just the bytes asked
 * for; with "@many" 64 MRs of the bytes exist beside the one in use.
 */
#ifndef SELFTESTS_VERBS_PLACE_H
#define SELFTESTS_VERBS_PLACE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD		64
#define GUARD_BYTE	0xa5
#define MANY		64

struct peerlane_region;

/** struct area - memory that lives as long as the program; made on first use */
struct area {
	const char *name;
	size_t length;
	char *base;
	struct peerlane_region *region;	/* NULL: host memory */
	uint64_t dev_offset;
};

struct place {
	struct area *area;
	size_t offset;
	bool whole;
	bool many;
};

/** place_parse() - NULL is no failure of the caller's: it dies */
void place_parse(struct place *place, const char *text);
/** areas_free() - the regions go, whatever their MRs do */
void areas_free(void);
/** areas_length() - bytes of each area; before the first use */
void areas_length(size_t length);

/** place_open() - have memory behind it, with guard bytes around @length */
void place_open(struct place *place, size_t length);
char *place_at(const struct place *place);
/** place_register() - @mrs[0] is the one to use; returns how many there are */
int place_register(const struct place *place, struct ibv_pd *pd, size_t length,
		   struct ibv_mr *mrs[MANY + 1]);
/** place_fill() - the stream of @seed, by CPU */
void place_fill(const struct place *place, size_t length, uint64_t seed);
/**
 * place_check() - does the stream of @seed lie there, and nothing beside it?
 *
 * Device memory is looked at by the host, in the file behind the BAR; host
 * memory by this process.
 */
bool place_check(const struct place *place, size_t length, uint64_t seed);
/** place_check_detects() - is a flipped byte, and is another seed, seen? */
bool place_check_detects(const struct place *place, size_t length,
			 uint64_t seed);
/** place_word() - the 8 bytes there, seen as in place_check() */
uint64_t place_word(const struct place *place);

#endif /* SELFTESTS_VERBS_PLACE_H */
