// SPDX-License-Identifier: GPL-2.0
/* Stands in for libibverbs: remembers its arguments, answers as it is told. */
#include "lib_fake_verbs.h"

struct fake_verbs fake_verbs;

#undef ibv_reg_mr

static struct ibv_mr *answer(int err, void *addr)
{
	if (err) {
		errno = err < 0 ? 0 : err;
		return NULL;
	}
	fake_verbs.mr.addr = addr;
	return &fake_verbs.mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	fake_verbs.calls |= 1;
	fake_verbs.pd = pd;
	fake_verbs.addr = addr;
	fake_verbs.length = length;
	fake_verbs.access = (unsigned int)access;
	return answer(fake_verbs.reg_err, addr);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	fake_verbs.calls |= 2;
	fake_verbs.pd = pd;
	fake_verbs.addr = addr;
	fake_verbs.length = length;
	fake_verbs.iova = iova;
	fake_verbs.access = access;
	return answer(fake_verbs.reg_err, addr);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				 size_t length, uint64_t iova, int fd,
				 int access)
{
	fake_verbs.calls |= 4;
	fake_verbs.pd = pd;
	fake_verbs.offset = offset;
	fake_verbs.length = length;
	fake_verbs.iova = iova;
	fake_verbs.access = (unsigned int)access;
	fake_verbs.size = lseek(fd, 0, SEEK_END);
	/* as libibverbs does */
	return answer(fake_verbs.dmabuf_err, (void *)(uintptr_t)offset);
}
