// SPDX-License-Identifier: GPL-2.0
/*
 * By which way operations go, where the group may choose: each rank measures, the
 * first aggregator puts it together, and all ranks choose by the same numbers.
 */
#include <linux/ktime.h>
#include <linux/kref.h>

#include "group.h"

#define PROBES		3	/* the shortest counts */
#define ASK_BEFORE	8	/* operations before one needs the answer */

/* ---- measuring ---- */

static void probe_done(struct group_post *post, int status)
{
	struct peerlane_group *group = post->owner;
	struct group_tuning *tuning = &group->tuning;

	spin_lock(&group->queue_lock);
	WRITE_ONCE(post->busy, false);
	if (tuning->source)
		tuning->source->users--;
	tuning->source = NULL;
	spin_unlock(&group->queue_lock);
	wake_up_all(&group->wait);
}

/* Its data goes to the rank's first place, which no segment has been sent to. */
static void fill_probe(struct group_peer *peer, struct group_slot *source,
		       u32 bytes, struct link_op *op)
{
	op->code = PEERLANE_OP_PUT;
	op->map = group_view(source, peer->index)->map;
	op->local = source->offset;
	op->length = bytes;
	op->grant = peer->pool;
	kref_get(&peer->pool->ref);
}

/* It can measure: as it joins, and then before each round. */
static bool is_alive(const struct peerlane_group *group)
{
	u32 state = group_state(group);

	return state == PEERLANE_GROUP_JOINING || state == PEERLANE_GROUP_JOINED;
}

static bool post_probe(struct group_peer *peer, u64 number,
		       struct group_slot *source, u32 bytes)
{
	struct peerlane_group *group = peer->group;
	struct group_post *post = &group->tuning.probe;
	const struct group_message message = {
		.type = GROUP_MESSAGE_PROBE,
		.probe = number,
	};
	bool may;

	spin_lock(&group->queue_lock);
	may = is_alive(group) && !post->busy;
	if (may) {
		group_post_init(post, &message, probe_done);
		post->busy = true;
		post->owner = group;
		group->tuning.source = source;
		if (source) {
			source->users++;
			fill_probe(peer, source, bytes, &post->op);
		}
		peer->probe = number;
		peer->probe_back = 0;
		group_pipe_add(&peer->pipe, post);
	}
	spin_unlock(&group->queue_lock);
	return may;
}

static bool probe_is_over(struct group_peer *peer)
{
	struct peerlane_group *group = peer->group;

	return !is_alive(group) ||
	       (READ_ONCE(peer->probe_back) &&
		!READ_ONCE(group->tuning.probe.busy));
}

/* Later on it is behind what ranks send, and what they get. */
static unsigned int probe_patience_ms(const struct peerlane_group *group)
{
	return group_state(group) == PEERLANE_GROUP_JOINED ?
	       group_patience_ms(group) : group->settings.timeout_ms;
}

/* There and back, in ns; 0: the group ends. */
static u64 measure_once(struct group_peer *peer, struct group_slot *source, u32 bytes)
{
	struct peerlane_group *group = peer->group;
	u64 begin = ktime_get_ns();

	if (!post_probe(peer, begin, source, bytes))
		return 0;
	group_pipe_push(&peer->pipe);
	if (!wait_event_timeout(group->wait, probe_is_over(peer),
				msecs_to_jiffies(probe_patience_ms(group)))) {
		link_kill(peer->link, -ETIMEDOUT, -ETIMEDOUT,
			  "it does not answer a probe");
		return 0;
	}
	if (!is_alive(group))
		return 0;
	return READ_ONCE(peer->probe_back) - begin;
}

static u64 shortest(struct group_peer *peer, struct group_slot *source, u32 bytes)
{
	u64 ns, least = U64_MAX;
	u32 i;

	for (i = 0; i < PROBES; i++) {
		ns = measure_once(peer, source, bytes);
		if (!ns)
			return 0;
		least = min(least, ns);
	}
	return least;
}

bool group_probe_back(struct group_peer *peer, u64 number)
{
	struct peerlane_group *group = peer->group;
	bool good;

	spin_lock(&group->queue_lock);
	good = group->state > PEERLANE_GROUP_JOINED ||
	       (is_alive(group) && number == peer->probe && !peer->probe_back);
	if (good)
		WRITE_ONCE(peer->probe_back, ktime_get_ns());
	spin_unlock(&group->queue_lock);
	wake_up_all(&group->wait);
	return good;
}

static u32 latency_of(u64 there_and_back)
{
	return (u32)min_t(u64, there_and_back / 2, GROUP_COST_LATENCY_MAX);
}

static void measure_latency(struct peerlane_group *group)
{
	struct group_cost *cost = &group->tuning.measured;
	u32 i, latency, own = 0, alpha = 0;

	for (i = 0; i < group->peer_count; i++) {
		latency = latency_of(shortest(&group->peers[i], NULL, 0));
		if (i == group->join.rank)
			own = latency;
		else
			alpha = max(alpha, latency);
	}
	spin_lock(&group->queue_lock);
	cost->own = own;
	cost->alpha = alpha;
	spin_unlock(&group->queue_lock);
}

static struct group_slot *find_source(struct peerlane_group *group)
{
	u32 i;

	lockdep_assert_held(&group->bind_lock);
	for (i = 0; i < group->slot_count; i++)
		if (group->slots[i].region && group->slots[i].mapped &&
		    group->slots[i].length >= GROUP_SEGMENT_MIN)
			return &group->slots[i];
	return NULL;
}

/* What bytes take more than none do. */
static void measure_bytes(struct peerlane_group *group)
{
	struct group_slot *source = find_source(group);
	struct group_peer *peer;
	u64 little, much;
	u32 bytes;

	if (!source)
		return;
	peer = &group->peers[(group->join.rank + 1) % group->peer_count];
	bytes = (u32)min_t(u64, source->length, group->join.segment);
	little = shortest(peer, NULL, 0);
	much = shortest(peer, source, bytes);
	if (!little || much <= little)
		return;
	group->tuning.measured.beta =
		(u32)clamp_t(u64, (much - little) * 1000 / bytes, 1,
			     GROUP_COST_BYTE_MAX);
}

static bool is_here(const struct group_peer *peer)
{
	struct link_info info = {};

	link_info(peer->link, &info);
	if (info.local.any.sa_family != info.peer.any.sa_family)
		return false;
	if (info.local.any.sa_family == AF_INET6)
		return !memcmp(&info.local.in6.sin6_addr, &info.peer.in6.sin6_addr,
			       sizeof(info.peer.in6.sin6_addr));
	return info.local.in.sin_addr.s_addr == info.peer.in.sin_addr.s_addr;
}

void group_measure(struct peerlane_group *group)
{
	lockdep_assert_held(&group->bind_lock);
	group->tuning.measured.colocated =
		is_here(&group->peers[group->join.rank]);
	measure_latency(group);
	measure_bytes(group);
}

/*
 * Paths change. Without data, since the places of data are in use: beta stays as
 * it was when the group was made.
 */
void group_probe_work(struct work_struct *work)
{
	struct peerlane_group *group;

	group = container_of(work, struct peerlane_group, tuning.probe_work);
	measure_latency(group);
	if (!is_alive(group))
		return;
	spin_lock(&group->queue_lock);
	group->tuning.probed = group->tuning.rounds;
	group->tuning.probing = false;
	spin_unlock(&group->queue_lock);
	group_pump(group);
}

/*
 * While nothing is under way, as else it is the queues that are measured; if that is
 * not before the round has to be over, what was measured before counts. False: wait.
 */
static bool is_measured(struct peerlane_group *group)
{
	struct group_tuning *tuning = &group->tuning;

	lockdep_assert_held(&group->queue_lock);
	if (tuning->probed == tuning->rounds)
		return true;
	if (tuning->probing)
		return false;
	if (!group->outstanding) {
		tuning->probing = true;
		queue_work(group_joins, &tuning->probe_work);
		return false;
	}
	return group->streams.next_seq >= group_cost_round_at(tuning->rounds);
}

void group_tune_hurry(struct peerlane_group *group)
{
	spin_lock(&group->queue_lock);
	group->tuning.probed = group->tuning.rounds;
	spin_unlock(&group->queue_lock);
	group_pump(group);
}

/* ---- rounds ---- */

static void nothing(struct group_post *post, int status)
{
	struct peerlane_group *group = post->owner;

	spin_lock(&group->queue_lock);
	post->busy = false;
	spin_unlock(&group->queue_lock);
	if (!status)
		group_pump(group);
}

bool group_tune_ask(struct peerlane_group *group)
{
	struct group_tuning *tuning = &group->tuning;
	struct group_message message = {
		.type = GROUP_MESSAGE_TUNE,
		.tune.round = tuning->rounds,
	};

	lockdep_assert_held(&group->queue_lock);
	if (!tuning->is_on || tuning->asked || tuning->post.busy ||
	    group->streams.next_seq + ASK_BEFORE <
	    group_cost_round_at(tuning->rounds) ||
	    /* The first round has what was measured as it joined. */
	    !is_measured(group))
		return false;
	message.tune.cost = tuning->measured;
	tuning->asked = true;
	tuning->asked_at = jiffies;
	group_post_init(&tuning->post, &message, nothing);
	tuning->post.busy = true;
	tuning->post.owner = group;
	group_pipe_add(&group->peers[0].pipe, &tuning->post);
	return true;
}

bool group_tuned(struct group_peer *peer, const struct group_tune *tune)
{
	struct peerlane_group *group = peer->group;
	struct group_tuning *tuning = &group->tuning;
	bool good;

	spin_lock(&group->queue_lock);
	good = !peer->index && tuning->asked && tune->round == tuning->rounds;
	if (good) {
		group_cost_learn(&tuning->cost, &tune->cost);
		group_limit_agree(&tuning->limit, tuning->rounds,
				  group_cost_limit(&tuning->cost,
						   &group->streams.shape));
		memset(tuning->measured.ratio, 0,
		       sizeof(tuning->measured.ratio));
		tuning->rounds++;
		tuning->asked = false;
	}
	spin_unlock(&group->queue_lock);
	if (good)
		group_pump(group);
	return good;
}

bool group_tune_is_stuck(struct peerlane_group *group, unsigned int patience_ms)
{
	lockdep_assert_held(&group->queue_lock);
	/* Before the first operation it is others that may still be joining. */
	if (!group->tuning.rounds)
		patience_ms += group->join_timeout_ms;
	return group->tuning.asked &&
	       time_after(jiffies, group->tuning.asked_at +
			  msecs_to_jiffies(patience_ms));
}

/* ---- the choice ---- */

/* Of what may be replicated */
static u64 bytes_of(const struct peerlane_group *group, const struct group_task *task)
{
	if (task->op.call.kind == GROUP_BARRIER)
		return 0;
	return group_call_send_bytes(&group->streams.shape, &task->op.call,
				     group->join.rank);
}

/* While it has users a slot keeps its region. Two may be of the same memory. */
static bool is_in_place(const struct group_task *task, u64 bytes)
{
	u64 send, receive;

	if (!bytes || !task->send || !task->receive)
		return false;
	if (task->send->region != task->receive->region)
		return true;
	send = task->send->offset + task->send_offset;
	receive = task->receive->offset + task->receive_offset;
	return send < receive + bytes && receive < send + bytes;
}

static bool wants_replicated(const struct peerlane_group *group, u64 bytes)
{
	if (group->tuning.is_on)
		return bytes < group->tuning.limit.bytes;
	return group->join.placement == GROUP_PLACEMENT_REPLICATED;
}

static void begin_alone(struct peerlane_group *group, struct group_task *task)
{
	bool is_alone = list_empty(&group->streams.ops);

	group->tuning.alone = is_alone ? task : NULL;
	task->since = is_alone ? ktime_get_ns() : 0;
}

bool group_choose_way(struct peerlane_group *group, struct group_task *task)
{
	struct group_call *call = &task->op.call;
	u64 bytes;

	lockdep_assert_held(&group->queue_lock);
	if (group->tuning.is_on) {
		if (group->streams.next_seq >=
		    group_cost_round_at(group->tuning.rounds))
			return false;
		group_limit_at(&group->tuning.limit, group->streams.next_seq);
		begin_alone(group, task);
	}
	call->way = GROUP_WAY_SHARED;
	if (!group_may_replicate(&group->streams.shape, call))
		return true;
	bytes = bytes_of(group, task);
	if (!wants_replicated(group, bytes))
		return true;
	call->way = GROUP_WAY_REPLICATED;
	task->op.in_place = is_in_place(task, bytes);
	group->ops_replicated++;
	return true;
}

/* The shortest of a round counts: it had no rank to wait for. */
void group_learn(struct peerlane_group *group, struct group_task *task)
{
	struct group_tuning *tuning = &group->tuning;
	const struct group_call *call = &task->op.call;
	u32 ratio, *least = &tuning->measured.ratio[call->way];

	lockdep_assert_held(&group->queue_lock);
	if (tuning->alone != task)
		return;
	tuning->alone = NULL;
	if (task->status || !group_may_replicate(&group->streams.shape, call))
		return;
	ratio = group_cost_ratio(&tuning->cost, &group->streams.shape, call->way,
				 bytes_of(group, task),
				 ktime_get_ns() - task->since);
	if (ratio && (!*least || ratio < *least))
		*least = ratio;
}

/* ---- for people ---- */

static void fill_reason(struct peerlane_group *group, char *text, size_t size)
{
	const struct group_tuning *tuning = &group->tuning;
	struct group_shape shape = {
		.size = group->join.size,
		.aggregators = READ_ONCE(group->peer_count),
		.segment = group->join.segment,
	};

	if (group->join.placement != GROUP_PLACEMENT_AUTO)
		strscpy(text, "as the group was made", size);
	else if (!shape.aggregators || (tuning->is_on && !tuning->rounds))
		strscpy(text, "not measured yet", size);
	else
		group_cost_text(&tuning->cost, &shape, tuning->limit.next,
				text, size);
}

static u32 permille(u32 ratio)
{
	return ratio * 1000 / GROUP_COST_UNIT;
}

void group_tune_info(struct peerlane_group *group, struct peerlane_group_info *info)
{
	const struct group_tuning *tuning = &group->tuning;
	const struct group_cost *cost = &tuning->cost;

	lockdep_assert_held(&group->queue_lock);
	info->ops_replicated = group->ops_replicated;
	info->placement = group->join.placement;
	info->replicated_below = tuning->limit.bytes;
	info->rounds = tuning->rounds;
	info->colocated = cost->colocated;
	info->alpha_ns = cost->alpha;
	info->own_ns = cost->own;
	info->beta_ps = cost->beta;
	info->gamma_ps = cost->gamma;
	info->shared_permille = permille(cost->ratio[GROUP_WAY_SHARED]);
	info->replicated_permille = permille(cost->ratio[GROUP_WAY_REPLICATED]);
	fill_reason(group, info->reason, sizeof(info->reason));
}
