// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What this node lets RDMA programs do: limits, kernel, namespaces. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "nldev.h"
#include "port.h"

#define LIBZ	"libz.so.1"

typedef void *(*gzopen_fn)(const char *path, const char *mode);
typedef char *(*gzgets_fn)(void *file, char *line, int size);
typedef int (*gzclose_fn)(void *file);

/* One line of a kernel configuration */
static void read_option(struct peerlane_node_info *info, const char *line)
{
	static const struct {
		const char *name;
		size_t at;
	} options[] = {
#define OPTION(name, field) \
	{ "CONFIG_" name, offsetof(struct peerlane_node_info, field) }
		OPTION("PCI_P2PDMA", p2pdma),
		OPTION("DMA_SHARED_BUFFER", dmabuf),
		OPTION("ZONE_DEVICE", device_pages),
		OPTION("NETFILTER_INGRESS", ingress),
		OPTION("DCB", dcb),
#undef OPTION
	};
	size_t i, length;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		length = strlen(options[i].name);
		if (!strncmp(line, options[i].name, length) &&
		    line[length] == '=')
			((char *)info)[options[i].at] = line[length + 1];
	}
}

/* What a configuration does not name is off in it. */
static void rest_is_off(struct peerlane_node_info *info)
{
	char *const values[] = {
		&info->p2pdma, &info->dmabuf, &info->device_pages,
		&info->ingress, &info->dcb,
	};
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (*values[i] != 'y' && *values[i] != 'm')
			*values[i] = 'n';
}

static bool read_plain(struct peerlane_node_info *info, const char *path)
{
	char line[256];
	FILE *file = NULL;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		file = fdopen(fd, "r");
	if (!file) {
		if (fd >= 0)
			pl_close(fd);
		return false;
	}
	while (fgets(line, sizeof(line), file))
		read_option(info, line);
	fclose(file);
	return true;
}

/* Few have zlib for something else, so it is looked up when needed. */
static bool read_packed(struct peerlane_node_info *info, const char *path)
{
	void *library = dlopen(LIBZ, RTLD_NOW), *file = NULL;
	gzopen_fn open_file;
	gzgets_fn read_line;
	gzclose_fn close_file;
	char line[256];

	if (!library)
		return false;
	open_file = (gzopen_fn)dlsym(library, "gzopen");
	read_line = (gzgets_fn)dlsym(library, "gzgets");
	close_file = (gzclose_fn)dlsym(library, "gzclose");
	if (open_file && read_line && close_file &&
	    access(path, R_OK) == 0)
		file = open_file(path, "re");
	if (file) {
		while (read_line(file, line, sizeof(line)))
			read_option(info, line);
		close_file(file);
	}
	dlclose(library);
	return file != NULL;
}

static void read_config(struct peerlane_node_info *info)
{
	bool found;
	char path[160];

	snprintf(path, sizeof(path), "/boot/config-%s", info->kernel);
	found = read_plain(info, path);
	if (!found) {
		snprintf(path, sizeof(path), "/lib/modules/%s/config",
			 info->kernel);
		found = read_plain(info, path);
	}
	if (!found) {
		snprintf(path, sizeof(path), "/proc/config.gz");
		found = read_packed(info, path);
	}
	if (!found)
		return;
	pl_copy_text(info->config, path, sizeof(info->config));
	rest_is_off(info);
}

/* Effective capabilities of this process, as a mask in hexadecimal */
static bool may_pin_all(void)
{
	char line[128];
	uint64_t mask = 0;
	FILE *file = fopen("/proc/self/status", "re");

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "CapEff:", 7))
			mask = strtoull(line + 7, NULL, 16);
	fclose(file);
	return mask >> CAP_IPC_LOCK & 1;
}

static void read_limits(struct peerlane_node_info *info)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	info->memlock = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX :
							  limit.rlim_cur;
	info->memlock_max = limit.rlim_max == RLIM_INFINITY ? UINT64_MAX :
							      limit.rlim_max;
	info->memlock_free = may_pin_all();
}

static int rdma_shared(void)
{
	struct nl_sock *socket;
	int shared;

	if (pl_nldev_open(&socket) || !socket)
		return -1;
	shared = pl_nldev_netns_shared(socket);
	pl_netlink_close(socket);
	return shared;
}

int peerlane_node_query(struct peerlane_node_info *info)
{
	struct peerlane_node_info found = { 0 };
	struct utsname name;

	pl_clear();
	if (!uname(&name))
		pl_copy_text(found.kernel, name.release, sizeof(found.kernel));
	read_limits(&found);
	read_config(&found);
	found.module = access("/sys/module/peerlane", F_OK) == 0;
	found.rdma = access("/sys/module/ib_core", F_OK) == 0 ||
		access(PL_RDMA, F_OK) == 0;
	found.rdma_shared = rdma_shared();
	pl_clear();
	*info = found;
	return 0;
}
