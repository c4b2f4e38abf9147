// SPDX-License-Identifier: GPL-2.0
#include "lib_fake_tree.h"

#include <ftw.h>
#include <net/if.h>
#include <stdarg.h>
#include <sys/stat.h>

struct tree tree;

static char root[128];

static const char *tree_path(const char *path, char buffer[512]);
static int tree_ioctl(void *request);
DIR *__real_opendir(const char *path);
FILE *__real_fopen64(const char *path, const char *mode);

/* ---- planning ------------------------------------------------------------ */

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

void tree_begin(void)
{
	net_reset();
	net.socket_errno = EPROTONOSUPPORT;
	fake.path = tree_path;
	fake.ethtool = tree_ioctl;
	memset(&tree, 0, sizeof(tree));
	tree.pause = -1;
	snprintf(root, sizeof(root), "%s.tree.XXXXXX", FAKES);
	if (!mkdtemp(root))
		abort();
}

void tree_end(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	root[0] = '\0';
	net_finish();
}

static void place(const char *path, char full[512])
{
	char *slash;

	snprintf(full, 512, "%s%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
}

void tree_file(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	place(path, full);
	file = __real_fopen64(full, "w");
	if (!file)
		abort();
	fputs(text, file);
	fclose(file);
}

void tree_broken(const char *path)
{
	char full[512];

	place(path, full);
	mkdir(full, 0755);
}

void tree_folder(const char *path)
{
	tree_broken(path);
}

void tree_link(const char *path, const char *target)
{
	char full[512];

	place(path, full);
	if (symlink(target, full) < 0)
		abort();
}

void tree_files(const char *folder, ...)
{
	const char *name;
	char path[256];
	va_list ap;

	va_start(ap, folder);
	while ((name = va_arg(ap, const char *))) {
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		tree_file(path, va_arg(ap, const char *));
	}
	va_end(ap);
}

void tree_row(const char *name, uint64_t value)
{
	tree.names[tree.rows] = name;
	tree.values[tree.rows++] = value;
}

/* ---- files --------------------------------------------------------------- */

static const char *tree_path(const char *path, char buffer[512])
{
	static const char *const begins[] = {
		"/sys/", "/proc/", "/boot/", "/lib/modules/",
	};
	size_t i;

	if (!root[0] || !strncmp(path, "/proc/self/", 11))
		return path;
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (strncmp(path, begins[i], strlen(begins[i])))
			continue;
		snprintf(buffer, 512, "%s%s", root, path);
		return buffer;
	}
	return path;
}

DIR *__wrap_opendir(const char *path)
{
	char buffer[512];

	return __real_opendir(tree_path(path, buffer));
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	char buffer[512];

	CHECK(strchr(mode, 'e') || strncmp(path, "/proc", 5));
	return __real_fopen64(tree_path(path, buffer), mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return __wrap_fopen64(path, mode);
}

/* ---- ethtool ------------------------------------------------------------- */

static int refuse(int err)
{
	errno = err;
	return -1;
}

static int link_settings(struct ethtool_link_settings *link)
{
	uint32_t *words = (uint32_t *)(void *)(link + 1);
	size_t i;

	if (!tree.speed)
		return refuse(EOPNOTSUPP);
	if (link->link_mode_masks_nwords != 4) {
		link->link_mode_masks_nwords = -4;
		return 0;
	}
	link->speed = tree.speed;
	memset(words, 0, 3 * 4 * sizeof(*words));
	for (i = 0; i < 4 && tree.modes[i]; i++)
		words[tree.modes[i] / 32] |= 1U << tree.modes[i] % 32;
	return 0;
}

static int pause_param(struct ethtool_pauseparam *param)
{
	if (tree.pause < 0)
		return refuse(EOPNOTSUPP);
	param->autoneg = tree.pause & 1;
	param->rx_pause = tree.pause >> 1 & 1;
	param->tx_pause = tree.pause >> 2 & 1;
	return 0;
}

static int set_info(struct ethtool_sset_info *info)
{
	if (!tree.rows)
		info->sset_mask = 0;
	else
		info->data[0] = tree.rows;
	return 0;
}

static int strings(struct ethtool_gstrings *out)
{
	uint32_t i;

	out->len = tree.rows;
	for (i = 0; i < tree.rows; i++)
		strncpy((char *)out->data + 32 * i, tree.names[i], 32);
	return 0;
}

/* As kernels do: as many as there are now, whatever was asked for. */
static int values(struct ethtool_stats *out)
{
	out->n_stats = tree.rows;
	memcpy(out->data, tree.values, tree.rows * sizeof(out->data[0]));
	if (tree.rows_change > 0) {
		tree.rows_change--;
		out->n_stats++;
		out->data[tree.rows] = 0xdead;
	}
	return 0;
}

static int driver_info(struct ethtool_drvinfo *info)
{
	if (!tree.driver)
		return refuse(EOPNOTSUPP);
	snprintf(info->driver, sizeof(info->driver), "%s", tree.driver);
	return 0;
}

static int tree_ioctl(void *request)
{
	struct ifreq *ifr = request;
	void *data = ifr->ifr_data;

	tree.calls++;
	CHECK(strnlen(ifr->ifr_name, sizeof(ifr->ifr_name)) <
	      sizeof(ifr->ifr_name));
	if (tree.ethtool_errno)
		return refuse(tree.ethtool_errno);
	switch (*(uint32_t *)data) {
	case ETHTOOL_GLINKSETTINGS:
		return link_settings(data);
	case ETHTOOL_GPAUSEPARAM:
		return pause_param(data);
	case ETHTOOL_GSSET_INFO:
		return set_info(data);
	case ETHTOOL_GSTRINGS:
		return strings(data);
	case ETHTOOL_GSTATS:
		return values(data);
	case ETHTOOL_GDRVINFO:
		return driver_info(data);
	default:
		return refuse(EOPNOTSUPP);
	}
}
