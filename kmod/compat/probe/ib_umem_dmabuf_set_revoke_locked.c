// SPDX-License-Identifier: GPL-2.0
/* Added in 7.1; for selftests/modules/pl_umem.c. */
#include <rdma/ib_umem.h>
static void callback(void *p) { }
void probe(struct ib_umem_dmabuf *u) { ib_umem_dmabuf_set_revoke_locked(u, callback, u); }
