/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef PEERLANE_MPI_GPU_H
#define PEERLANE_MPI_GPU_H

#include <stdbool.h>

/* Memory of a GPU that the CPU cannot use? Not what is pinned, nor managed. */
bool shim_is_of_gpu(const void *ptr);

#endif /* PEERLANE_MPI_GPU_H */
