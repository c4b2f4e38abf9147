// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "actor.h"

#define PAGE 4096UL

/* SplitMix64: any seed will do, neighbours too. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void actor_init(struct actor *actor, unsigned int worker, unsigned int seat,
		unsigned int life)
{
	*actor = (struct actor){
		.dice = board->seed + ((uint64_t)seat << 32) + life,
		.worker = worker, .seat = &board->seats[seat],
	};
	actor->seat->pid = getpid();
	actor->buffer = mmap(NULL, ACTOR_BUFFER, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	next(&actor->dice);
}

unsigned int dice(struct actor *actor, unsigned int sides)
{
	return (next(&actor->dice) >> 32) % sides;
}

bool one_in(struct actor *actor, unsigned int sides)
{
	return !dice(actor, sides);
}

uint64_t some_pages(struct actor *actor, uint64_t most)
{
	return (1 + next(&actor->dice) % (most / PAGE)) * PAGE;
}

uint64_t edge_number(struct actor *actor)
{
	static const uint64_t edges[] = {
		0, 1, 7, 8, 511, 512, 4095, 4096, 4097, 1 << 20, 1 << 21,
		(1 << 21) + 4096, 64 << 20, (64 << 20) + 1, 0x7fffffff,
		0x80000000, 0xfffff000, 0xffffffff, 0x100000000,
		0x7ffffffff000, 0x7fffffffffff, 0x8000000000000000,
		0xffffffff80000000, 0xfffffffffffff000, 0xffffffffffffffff,
	};
	uint64_t number = edges[dice(actor, sizeof(edges) / sizeof(edges[0]))];

	if (one_in(actor, 4))
		number = next(&actor->dice) >> dice(actor, 64);
	return number;
}

/* ---- the guard ---- */

static __thread sigjmp_buf escape;
static __thread volatile bool is_guarded;

static void faulted(int number)
{
	if (is_guarded)
		siglongjmp(escape, number);
	/* Our own mistake: let it kill us, and be seen. */
	signal(number, SIG_DFL);
	raise(number);
}

int guarded(void (*run)(void *arg), void *arg)
{
	int number = sigsetjmp(escape, 0);

	if (!number) {
		is_guarded = true;
		run(arg);
	}
	is_guarded = false;
	return number;
}

void guard_init(void)
{
	struct sigaction action = {
		.sa_handler = faulted, .sa_flags = SA_NODEFER,
	};

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}
