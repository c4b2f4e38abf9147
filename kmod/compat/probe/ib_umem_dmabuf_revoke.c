// SPDX-License-Identifier: GPL-2.0
/* Added in 6.12; for selftests/modules/pl_umem.c. */
#include <rdma/ib_umem.h>
void probe(struct ib_umem_dmabuf *u) { ib_umem_dmabuf_revoke(u); }
