/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* What the environment says of a rank. The rules of <peerlane.h> hold. */
#ifndef LIBPEERLANE_LAUNCH_H
#define LIBPEERLANE_LAUNCH_H

#include <peerlane/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct peerlane_launch - what the environment says of this process
 * @launcher: "peerlane", "torchrun", "mpirun", "mpiexec", "pmix", "srun"; empty:
 *	nothing says which rank this is
 * @rank: of @ranks
 * @ranks: 0 if @launcher is empty
 * @group: number of the group; 0: nothing says it
 * @secret: of the aggregators; all zero: nothing says it
 * @aggregators: their addresses, for peerlane_group_join(), or empty
 */
struct peerlane_launch {
	char launcher[16];
	uint32_t rank;
	uint32_t ranks;
	uint64_t group;
	uint8_t secret[PEERLANE_SECRET];
	char aggregators[PEERLANE_AGGREGATORS_TEXT];
};

/**
 * peerlane_launch_read() - ask the environment who we are
 * @launch: filled
 * @options: gets rank, ranks, group and secret as far as they are said; may be
 *	NULL
 *
 * Rank and size: the first of PEERLANE_RANK and PEERLANE_SIZE; RANK and
 * WORLD_SIZE (torchrun); OMPI_COMM_WORLD_RANK and _SIZE (mpirun); PMI_RANK and
 * PMI_SIZE (mpiexec); PMIX_RANK with the size of one of the others; SLURM_PROCID
 * and SLURM_NTASKS (srun). Group: PEERLANE_GROUP, a number, or words that are
 * hashed; else the job's name, where the launcher has one. Secret:
 * PEERLANE_SECRET, words as of peerlane_endpoint_secret(), or the first line of
 * the file PEERLANE_SECRET_FILE. Aggregators: PEERLANE_AGGREGATORS, or the file
 * PEERLANE_AGGREGATORS_FILE.
 *
 * Return: 0, also if nothing is said; -EINVAL what is said is nonsense, or half
 * of it is missing; -E2BIG too long; or why a file cannot be read.
 */
PEERLANE_API int peerlane_launch_read(struct peerlane_launch *launch,
				      struct peerlane_group_options *options);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_LAUNCH_H */
