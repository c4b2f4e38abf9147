// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Buckets: all ranks were told the same. Aggregators compare what operations
 * they see, which are sums of tensors: two ranks with the same tensors in
 * another order would add up what does not belong together.
 */
#include <errno.h>
#include <sys/mman.h>

#include "bucket.h"

static const char what[] = "buckets";

/* Of a rank whose options were refused there */
#define REFUSED	UINT64_C(0)

/* ---- fingerprints ------------------------------------------------------------ */

/* FNV-1a, byte by byte, so that it does not depend on who computes it */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < 64; i += 8)
		hash = (hash ^ (word >> i & 0xff)) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t pl_bucket_fingerprint(const struct peerlane_bucket_options *own)
{
	const uint64_t words[] = {
		own->type, own->op, own->align, own->bytes, own->first_bytes,
		own->tensors,
	};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	uint32_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		hash = mix(hash, words[i]);
	for (i = 0; i < own->tensors; i++)
		hash = mix(hash, own->counts[i]);
	return hash == REFUSED ? 1 : hash;
}

static uint32_t first_other(const uint64_t *fingerprints, uint32_t ranks,
			    uint64_t usual)
{
	uint32_t i = 0;

	while (i < ranks && fingerprints[i] == usual)
		i++;
	return i;
}

/*
 * Whoever is the majority is left over when each one of the others has been
 * weighed against one of it. If nobody is, who is left over is as good.
 */
uint32_t pl_bucket_odd(const uint64_t *fingerprints, uint32_t ranks)
{
	uint64_t usual = 0;
	uint32_t i, more = 0;

	for (i = 0; i < ranks; i++) {
		if (!more)
			usual = fingerprints[i];
		more = fingerprints[i] == usual ? more + 1 : more - 1;
	}
	/* Of two halves, the one with rank 0 */
	if (!more)
		usual = fingerprints[0];
	return first_other(fingerprints, ranks, usual);
}

/* ---- comparing ----------------------------------------------------------------- */

/* The memory in a slot that is free: those below are the caller's. */
static int bind_free(struct peerlane_group *group,
		     const struct peerlane_region *region, uint32_t *slot)
{
	uint32_t i;
	int ret = -EBUSY;

	for (i = 0; ret == -EBUSY; i++)
		ret = peerlane_group_bind(group, i, region, 0, 0, false, NULL);
	if (!ret)
		*slot = i - 1;
	if (ret == -EINVAL && i > 1)
		ret = pl_fail_text(ENOSPC, "%s: all %u slots have regions, one has to be free",
				   what, i - 1);
	return ret;
}

/* The caller's cookies are not known here: one that is taken is left alone. */
static int gather(struct peerlane_group *group, uint32_t slot, uint32_t rank)
{
	struct peerlane_collective all = {
		.kind = PEERLANE_ALL_GATHER, .type = PEERLANE_U64, .count = 1,
		.send_slot = slot, .receive_slot = slot,
		.send_offset = rank * sizeof(uint64_t), .cookie = UINT64_MAX,
	};
	int ret = peerlane_group_run(group, &all);

	while (ret == -EEXIST) {
		all.cookie--;
		ret = peerlane_group_run(group, &all);
	}
	/* The memory is given back behind this: it cannot go on alone. */
	while (ret == -EINTR)
		ret = peerlane_group_wait(group, all.cookie, -1);
	return ret;
}

static int compare(const uint64_t *fingerprints,
		   const struct peerlane_group_status *status)
{
	uint32_t odd = pl_bucket_odd(fingerprints, status->ranks), i;

	for (i = 0; i < status->ranks; i++)
		if (fingerprints[i] == REFUSED)
			return pl_fail_text(EBADE, "%s: rank %u was told what was refused there",
					    what, i);
	if (odd == status->ranks)
		return 0;
	return pl_fail_text(EBADE, "%s: rank %u was told other tensors than rank %u, or other sizes of buckets",
			    what, odd, odd ? 0 : first_other(fingerprints,
							     status->ranks,
							     fingerprints[0]));
}

static int agree_by(struct peerlane_group *group, uint64_t *fingerprints,
		    size_t length, const struct peerlane_group_status *status)
{
	struct peerlane_region *region;
	uint32_t slot;
	int ret = peerlane_region_host(fingerprints, length, false, &region);

	if (ret)
		return ret;
	ret = bind_free(group, region, &slot);
	if (!ret) {
		char text[PL_TEXT_MAX];

		ret = gather(group, slot, status->rank);
		pl_text_keep(text);
		peerlane_group_unbind(group, slot);
		pl_text_put(text);
	}
	peerlane_region_free(region);
	return ret ? ret : compare(fingerprints, status);
}

int pl_bucket_agree(struct peerlane_group *group,
		    const struct peerlane_bucket_options *own)
{
	struct peerlane_group_status status;
	uint64_t *fingerprints;
	size_t length;
	int ret = peerlane_group_query(group, &status);

	if (ret)
		return ret;
	length = status.ranks * sizeof(*fingerprints) + pl_page_size() - 1;
	length -= length % pl_page_size();
	fingerprints = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fingerprints == MAP_FAILED)
		return pl_fail(errno, "%s", what);
	fingerprints[status.rank] = own ? pl_bucket_fingerprint(own) : REFUSED;
	ret = agree_by(group, fingerprints, length, &status);
	munmap(fingerprints, length);
	return ret;
}
