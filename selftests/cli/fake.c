// SPDX-License-Identifier: GPL-2.0
/*
 * A libpeerlane without a module: canned answers, picked by $FAKE, so that the
 * command can be tested on any host. It is compiled against the public header,
 * which keeps its prototypes true.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

static _Thread_local char reason[256];

int refuse(int error, const char *text)
{
	snprintf(reason, sizeof(reason), "%s", text);
	return -error;
}

bool scene(const char *name)
{
	const char *fake = getenv("FAKE");

	return fake && !strcmp(fake, name);
}

int common_failure(void)
{
	reason[0] = '\0';
	if (scene("absent"))
		return refuse(ENOENT, "the peerlane module is not loaded: no /dev/peerlane/control (ENOENT)");
	if (scene("denied"))
		return refuse(EACCES, "/dev/peerlane/control: Permission denied (EACCES)");
	if (scene("interrupted"))
		return refuse(EMSGSIZE, "list of regions: it grows too fast (EMSGSIZE)");
	if (scene("silent"))
		return -EIO;
	return 0;
}

const char *peerlane_strerror(void)
{
	return reason;
}

const char *peerlane_version(void)
{
	return "9.8.7";
}

const char *name_of(const char *const *names, size_t count, uint32_t i)
{
	return i < count && names[i] ? names[i] : "unknown";
}

const char *peerlane_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		NULL, "bar", "driver", "dmabuf", "host"
	};

	return name_of(names, 5, kind);
}

const char *peerlane_state_name(uint32_t state)
{
	static const char *const names[] = {
		"empty", "active", "revoked", "limbo", "released"
	};

	return name_of(names, 5, state);
}

const char *peerlane_memtype_name(uint32_t memtype)
{
	static const char *const names[] = { "wb", "wc", "uc", "none" };

	return name_of(names, 4, memtype);
}

const char *peerlane_path_name(uint32_t path)
{
	static const char *const names[] = {
		"unknown", "switch", "root-port", "host-bridge", "iommu", "none"
	};

	return name_of(names, 6, path);
}

/* ---- devices ------------------------------------------------------------ */

static const struct peerlane_device_info devices[] = {
	{ .name = "gpu0", .pci = "0000:01:00.0", .bytes_total = 268435456,
	  .bytes_free = 199229440, .bytes_limbo = 4194304,
	  .user_limit = 134217728, .unit = 2097152, .kind = 1, .memtype = 1,
	  .regions = 3, .numa_node = 0, .bar = 2 },
	{ .name = "npu1", .pci = "", .bytes_total = 18446744073709551615ULL,
	  .bytes_free = 9007199254740993ULL, .unit = 2097152, .kind = 2,
	  .numa_node = -1, .bar = -1 },
};

static const struct peerlane_device_info hostile_device = {
	.name = "g\033[2Jpu\n", .pci = "0000:01:00.0", .kind = 99,
	.memtype = 99, .numa_node = 2147483647, .bar = 5,
	.bytes_total = 18446744073709551615ULL,
	.bytes_free = 18446744073709551615ULL,
	.bytes_limbo = 18446744073709551615ULL,
	.unit = 18446744073709551615ULL,
	.user_limit = 18446744073709551615ULL, .regions = 4294967295U,
};

int copy_out(void *list, size_t *count, const void *from, size_t size,
	     size_t number)
{
	void *copy = NULL;

	if (number) {
		copy = malloc(size * number);
		if (!copy)
			return refuse(ENOMEM, "out of memory");
		memcpy(copy, from, size * number);
	}
	*(void **)list = copy;
	*count = number;
	return 0;
}

int peerlane_device_list(struct peerlane_device_info **list, size_t *count)
{
	int error = common_failure();

	if (error)
		return error;
	if (scene("hostile"))
		return copy_out(list, count, &hostile_device,
				sizeof(hostile_device), 1);
	return copy_out(list, count, devices, sizeof(devices[0]),
			scene("empty") ? 0 : 2);
}

int peerlane_device_get(const char *name, struct peerlane_device_info *info)
{
	int error = common_failure();

	if (error)
		return error;
	for (size_t i = 0; i < 2 && !scene("leaving"); i++)
		if (!strcmp(name, devices[i].name) ||
		    (*devices[i].pci && (!strcmp(name, devices[i].pci) ||
					 !strcmp(name, devices[i].pci + 5)))) {
			*info = devices[i];
			return 0;
		}
	if (scene("hostile")) {
		*info = hostile_device;
		return 0;
	}
	snprintf(reason, sizeof(reason), "no memory device %s (ENODEV)", name);
	return -ENODEV;
}

int peerlane_device_bind(const char *pci, bool force,
			 struct peerlane_device_info *info)
{
	int error = common_failure();

	if (!strcmp(pci, "0000:ff:1f.7"))
		return refuse(ENOENT, "no PCI function 0000:ff:1f.7 (ENOENT)");
	if (error)
		return error;
	if (!strcmp(pci, "02:00.0") && !force)
		return refuse(EBUSY, "0000:02:00.0: driver nvme has it, and it is taken away only by force (EBUSY)");
	*info = devices[0];
	snprintf(info->pci, sizeof(info->pci), "%.15s", pci);
	return 0;
}

int peerlane_device_unbind(const char *name)
{
	int error = common_failure();

	if (error)
		return error;
	if (scene("slow") || scene("slow-alone")) {
		usleep(4700 * 1000);
		return 0;
	}
	if (scene("leaving"))
		return strchr(name, ':') ? 0 :
			refuse(ENODEV, "no memory device gpu0 (ENODEV)");
	if (!strcmp(name, "npu1"))
		return refuse(EACCES, "npu1: Permission denied (EACCES)");
	return 0;
}

int peerlane_preflight(const char *target, const char *initiator,
		       struct peerlane_preflight_info *info)
{
	static const char *const texts[] = {
		"through two host bridges, as parameter p2p_across_host_bridges says", "both below switch 0000:02:00.0",
		"both below root port 0000:00:01.0",
		"through host bridge 0000:00",
		"ACS at 0000:02:01.0 redirects to the root complex",
	};
	int error = common_failure();
	uint32_t path = (uint32_t)(initiator[strlen(initiator) - 1] - '0');

	if (!strcmp(target, "gpu9"))
		return refuse(ENOENT, "no memory device gpu9 (ENOENT)");
	if (error)
		return error;
	if (path > 4)
		return refuse(EREMOTEIO,
			      "0000:01:00.0 from 0000:81:00.5: host bridges 0000:00 and 0000:80 do not forward (EREMOTEIO)");
	info->path = path;
	info->distance = 2 * path;
	snprintf(info->text, sizeof(info->text), "%s",
		 scene("hostile") ? "\033]0;pwned\007" : texts[path]);
	return 0;
}

/* ---- regions ------------------------------------------------------------ */

static const struct peerlane_region_info regions[] = {
	{ .id = 1, .length = 67108864, .uid = 0, .pid = 4242, .comm = "train",
	  .mapper_pid = 4242, .mapper_comm = "train", .kind = 1, .state = 1,
	  .exports = 1, .attachments = 2, .mappings = 1, .device = "gpu0" },
	{ .id = 2, .length = 4194304, .dev_offset = 67108864, .uid = 4242424,
	  .pid = 0, .comm = "", .mapper_pid = 77, .mapper_comm = "ib_write_bw",
	  .kind = 1, .state = 3, .pinned_units = 2, .device = "gpu0" },
	{ .id = 3, .length = 8192, .uid = 0, .pid = 78, .comm = "nccl",
	  .kind = 3, .state = 1, .attachments = 1 },
	{ .id = 18446744073709551615ULL, .length = 9007199254740993ULL,
	  .dev_offset = 18446744073709551614ULL, .uid = 0, .pid = 2147483647,
	  .comm = "a name of 15 by", .mapper_pid = 2147483647,
	  .mapper_comm = "a name of 15 by", .kind = 4, .state = 2,
	  .exports = 4294967295U, .attachments = 4294967295U,
	  .mappings = 4294967295U, .pinned_units = 4294967295U,
	  .device = "a-device-name-of-31-characters-" },
};

static const struct peerlane_region_info hostile_regions[] = {
	{ .id = 1, .pid = 1, .comm = "\033[2J\033]0;x\007", .state = 1,
	  .kind = 1, .device = "gpu0", .mapper_pid = 2,
	  .mapper_comm = "a\nb\tc\rd\"\\" },
	{ .id = 2, .pid = 1, .comm = "\302\23331m\177", .state = 77,
	  .kind = 77, .device = "gpu0", .mapper_pid = 2,
	  .mapper_comm = "\377\300\257gr\303\274\303\237e\360" },
	/* not terminated */
	{ .id = 3, .pid = 1, .comm = { "0123456789abcdef" }, .state = 3,
	  .kind = 1, .device = "gpu0", .mapper_pid = -1,
	  .mapper_comm = { "\xf0\x9f\x98\x80 \xe2\x80\xae rtl 012" } },
};

int peerlane_region_list(struct peerlane_region_info **list, size_t *count)
{
	int error = common_failure();

	if (error)
		return error;
	if (scene("hostile"))
		return copy_out(list, count, hostile_regions,
				sizeof(hostile_regions[0]), 3);
	return copy_out(list, count, regions, sizeof(regions[0]),
			scene("empty") || scene("slow-alone") ? 0 : 4);
}
