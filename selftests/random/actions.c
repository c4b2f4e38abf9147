// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "actions.h"

static const struct action *const worker_groups[] = {
	open_actions, region_actions, control_actions, garbage_actions,
	map_actions, touch_actions, dma_actions, pin_actions, disk_actions,
	process_actions, NULL,
};
static const struct action *const owner_groups[] = { owner_actions, NULL };
static const struct action *const admin_groups[] = { admin_actions, NULL };

const struct deck worker_deck = { worker_groups };
const struct deck owner_deck = { owner_groups, .in_turn = true };
const struct deck admin_deck = { admin_groups, .in_turn = true };

static const struct deck *const decks[] = {
	&worker_deck, &owner_deck, &admin_deck,
};

/* Calls visit() for each action of a deck until it says true. */
typedef bool (*visit_fn)(const struct action *action, void *arg);

static const struct action *visit_deck(const struct deck *deck, visit_fn visit,
				       void *arg)
{
	const struct action *const *group;
	const struct action *action;

	for (group = deck->groups; *group; group++)
		for (action = *group; action->name; action++)
			if (visit(action, arg))
				return action;
	return NULL;
}

static const struct action *visit_all(visit_fn visit, void *arg)
{
	const struct action *found = NULL;
	unsigned int i;

	for (i = 0; i < sizeof(decks) / sizeof(decks[0]) && !found; i++)
		found = visit_deck(decks[i], visit, arg);
	return found;
}

/* ---- numbers ---- */

static bool is_counted_down(const struct action *action, void *arg)
{
	(void)action;
	return !(*(int *)arg)--;
}

const struct action *action_by_number(int number)
{
	return visit_all(is_counted_down, &number);
}

const char *action_name(int number)
{
	const struct action *action = action_by_number(number);

	return action ? action->name : "nothing";
}

static bool is_same(const struct action *action, void *arg)
{
	return action == arg;
}

bool action_is_of(const struct action *action, const struct deck *deck)
{
	return visit_deck(deck, is_same, (void *)action);
}

struct search {
	const struct action *action;
	int number;
};

static bool is_searched(const struct action *action, void *arg)
{
	struct search *search = arg;

	search->number += action != search->action;
	return action == search->action;
}

static int number_of(const struct action *action)
{
	struct search search = { action, 0 };

	visit_all(is_searched, &search);
	return search.number;
}

/* ---- drawing ---- */

static bool add_weight(const struct action *action, void *arg)
{
	*(unsigned int *)arg += action->weight;
	return false;
}

static bool is_drawn(const struct action *action, void *arg)
{
	unsigned int *left = arg;

	if (*left < action->weight)
		return true;
	*left -= action->weight;
	return false;
}

static bool count_one(const struct action *action, void *arg)
{
	(void)action;
	++*(unsigned int *)arg;
	return false;
}

static const struct action *next_in_turn(struct actor *actor,
					 const struct deck *deck)
{
	unsigned int count = 0;
	int number;

	visit_deck(deck, count_one, &count);
	if (actor->drawn == (1ULL << count) - 1)
		actor->drawn = 0;
	do
		number = dice(actor, count);
	while (actor->drawn & 1ULL << number);
	actor->drawn |= 1ULL << number;
	return visit_deck(deck, is_counted_down, &number);
}

static const struct action *draw(struct actor *actor, const struct deck *deck)
{
	unsigned int sum = 0;

	if (deck->in_turn)
		return next_in_turn(actor, deck);
	visit_deck(deck, add_weight, &sum);
	sum = dice(actor, sum);
	return visit_deck(deck, is_drawn, &sum);
}

static bool is_of_contract(const struct action *action, int err)
{
	int i;

	if (err == ENOMEM || err == EINTR)
		return true;
	for (i = 0; i < ACTION_ERRNOS; i++)
		if (action->errnos[i] == err)
			return true;
	return false;
}

void act(struct actor *actor, const struct deck *deck)
{
	const struct action *action = draw(actor, deck);
	int ret;

	if (action->can && !action->can())
		return;
	actor->is_loose = false;
	seat_begin(actor->seat, number_of(action));
	ret = action->run(actor);
	seat_end(actor->seat, ret);
	if (ret >= 0 || ret == NOTHING || actor->is_loose ||
	    is_of_contract(action, -ret))
		return;
	complain(COMPLAINT_ERRNO, "%s was refused: %s", action->name,
		 strerrorname_np(-ret));
}
