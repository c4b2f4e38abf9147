// SPDX-License-Identifier: GPL-2.0
/*
 * What takes devices away and brings them back: unbinding, removal, unplugging,
 * reset. One process does this, one thing at a time; each action ends with the
 * device there and bound.
 */
#include "actions.h"
#include "functions.h"
#include "lifetime.h"

static const char *function_file(unsigned int bar, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s",
		 bar_function(bar), name);
	return path;
}

static bool has_function(unsigned int bar)
{
	return !access(function_file(bar, "vendor"), F_OK);
}

static bool is_bound(unsigned int bar)
{
	char name[16];

	snprintf(name, sizeof(name), "gpu%u", bar);
	return has_node(name);
}

/* Workers have something to do with it for a while. */
static void rest(struct actor *actor, unsigned int most_ms)
{
	usleep(dice(actor, most_ms) * 1000);
}

static int bring_back(unsigned int bar)
{
	int ret;

	if (!WAIT_FOR(has_function(bar), LONG)) {
		complain(COMPLAINT_LOST, "%s is not there again",
			 bar_function(bar));
		return -ENODEV;
	}
	ret = bind_pci(bar_function(bar));
	/* The override has the core bind it, too: who is first? */
	if (!WAIT_FOR(is_bound(bar), LONG))
		complain(COMPLAINT_LOST, "%s is not bound again: %d",
			 bar_function(bar), ret);
	return 0;
}

static int unbind_and_bind(struct actor *actor)
{
	char pci[32];
	unsigned int bar = dice(actor, BARS);
	int ret;

	snprintf(pci, sizeof(pci), "%s", bar_function(bar));
	ret = unbind_pci(pci);
	if (ret)
		return ret;
	rest(actor, 200);
	ret = bring_back(bar);
	rest(actor, 1500);
	return ret;
}

static int remove_and_rescan(struct actor *actor)
{
	unsigned int bar = dice(actor, BARS);
	int ret = write_text(function_file(bar, "remove"), "1");

	if (ret)
		return ret;
	rest(actor, 100);
	ret = write_text("/sys/bus/pci/rescan", "1");
	if (!ret)
		ret = bring_back(bar);
	rest(actor, 1500);
	return ret;
}

static int unplug_and_plug(struct actor *actor)
{
	int ret;

	/* The host's patience is not ours: it may go all the same. */
	if (system("host device-del bar1") && !WAIT_FOR(!has_function(1), LONG)) {
		complain(COMPLAINT_LOST, "%s does not go", bar_function(1));
		return -EBUSY;
	}
	rest(actor, 100);
	if (system("host device-add bar1"))
		return -EIO;
	ret = bring_back(1);
	rest(actor, 1500);
	return ret;
}

static int reset(struct actor *actor)
{
	unsigned int bar = dice(actor, BARS);
	int ret = write_text(function_file(bar, "reset"), "1");

	rest(actor, 1000);
	return ret;
}

const struct action owner_actions[] = {
	{ "unbind and bind", unbind_and_bind, 1 },
	{ "remove and rescan", remove_and_rescan, 1 },
	{ "unplug and plug", unplug_and_plug, 1 },
	{ "reset", reset, 1 },
	{}
};
