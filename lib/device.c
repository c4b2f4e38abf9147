// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Memory devices: which there are, and who can reach them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

static void from_record(struct peerlane_device_info *info,
			const struct peerlane_device_record *record)
{
	memset(info, 0, sizeof(*info));
	pl_text_copy(info->name, record->name, sizeof(info->name));
	pl_text_copy(info->pci, record->pci, sizeof(info->pci));
	info->bytes_total = record->bytes_total;
	info->bytes_free = record->bytes_free;
	info->bytes_limbo = record->bytes_limbo;
	info->user_limit = record->user_limit;
	info->unit = record->unit;
	info->kind = record->kind;
	info->memtype = record->memtype;
	info->regions = record->regions;
	info->numa_node = record->numa_node;
	info->bar = record->bar;
}

static void convert(void *info, const void *record)
{
	from_record(info, record);
}

int peerlane_device_list(struct peerlane_device_info **infos, size_t *count)
{
	static const struct pl_list devices = {
		.request = PEERLANE_IOC_DEVICE_LIST,
		.record_size = sizeof(struct peerlane_device_record),
		.info_size = sizeof(struct peerlane_device_info),
		.what = "list of devices",
		.convert = convert,
	};

	return pl_list(&devices, infos, count);
}

/* By name, or by PCI address in either form */
int pl_device_find(const char *name, struct peerlane_device_info *info)
{
	struct peerlane_device_info *infos;
	char pci[PEERLANE_PCI_LEN];
	bool by_pci;
	size_t n, i;
	int ret;

	if (!name || !*name)
		return pl_fail_text(EINVAL, "the name of a device is empty");
	ret = peerlane_device_list(&infos, &n);
	if (ret)
		return ret;
	by_pci = pl_pci_parse(name, pci);
	for (i = 0; i < n; i++)
		if (!strcmp(by_pci ? infos[i].pci : infos[i].name,
			    by_pci ? pci : name))
			break;
	if (i < n)
		*info = infos[i];
	else
		ret = pl_fail_text(ENODEV, "no memory device %s",
				   by_pci ? pci : name);
	free(infos);
	return ret;
}

int peerlane_device_get(const char *name, struct peerlane_device_info *info)
{
	pl_clear();
	return pl_device_find(name, info);
}

/* A name or an address, to the address of a PCI function */
static int to_pci(const char *name, char pci[PEERLANE_PCI_LEN])
{
	struct peerlane_device_info info;
	int ret;

	if (pl_pci_parse(name, pci))
		return 0;
	ret = pl_device_find(name, &info);
	if (ret)
		return ret == -ENODEV ?
		       pl_fail_text(ENOENT, "no memory device %s", name) : ret;
	if (!info.pci[0])
		return pl_fail_text(ENOENT, "device %s has no PCI function",
				    name);
	memcpy(pci, info.pci, PEERLANE_PCI_LEN);
	return 0;
}

int peerlane_preflight(const char *target, const char *initiator,
		       struct peerlane_preflight_info *info)
{
	struct peerlane_preflight arg = { 0 };
	char text[PEERLANE_MSG_MAX];
	int fd, ret;

	pl_clear();
	if (!pl_pci_parse(initiator, arg.initiator))
		return pl_fail_text(EINVAL, "not a PCI address: %s",
				    initiator ? initiator : "(none)");
	ret = to_pci(target, arg.target);
	if (ret)
		return ret;
	fd = pl_open_control();
	if (fd < 0)
		return fd;
	ret = pl_ioctl(fd, PEERLANE_IOC_PREFLIGHT, &arg, sizeof(arg), text,
		       "%s from %s", arg.target, arg.initiator);
	pl_close(fd);
	if (ret)
		return ret;
	info->path = arg.out_path;
	info->distance = arg.out_distance;
	memcpy(info->text, text, sizeof(info->text));
	return 0;
}
