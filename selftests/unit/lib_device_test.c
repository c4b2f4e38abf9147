// SPDX-License-Identifier: GPL-2.0
/* Devices: lists, look-ups, preflight. */
#include "lib_fake.h"

static struct peerlane_device_record records[100];
static size_t record_count;

static void make_records(size_t count)
{
	size_t i;

	memset(records, 0, sizeof(records));
	for (i = 0; i < count; i++) {
		struct peerlane_device_record *r = &records[i];

		snprintf(r->name, sizeof(r->name), "gpu%zu", i);
		snprintf(r->pci, sizeof(r->pci), "0000:%02zx:00.0", i + 3);
		r->bytes_total = (i + 1) << 30;
		r->bytes_free = 1 << 21;
		r->bytes_limbo = 5;
		r->user_limit = 6;
		r->unit = 2 << 20;
		r->kind = PEERLANE_KIND_BAR;
		r->memtype = PEERLANE_MEMTYPE_WC;
		r->regions = 9;
		r->numa_node = -1;
		r->bar = 2;
	}
	record_count = count;
}

static void fill_list(void *arg)
{
	struct peerlane_list *list = arg;

	CHECK_INT(list->record_size, sizeof(records[0]));
	CHECK(list->count >= record_count);
	memcpy((void *)(uintptr_t)list->array_ptr, records,
	       record_count * sizeof(records[0]));
	list->count = (uint32_t)record_count;
}

static void need_count(void *arg)
{
	struct peerlane_list *list = arg;

	list->count = (uint32_t)record_count;
}

static void plan_list(void)
{
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, sizeof(struct peerlane_list),
		   .fill = fill_list);
}

static void list_empty(void)
{
	struct peerlane_device_info *list = (void *)1;
	size_t count = 5;

	fake_reset();
	make_records(0);
	plan_list();
	CHECK_INT(peerlane_device_list(&list, &count), 0);
	CHECK(list == NULL);
	CHECK_INT(count, 0);
	fake_finish();
}

static void list_fields(void)
{
	struct peerlane_device_info *list;
	size_t count;

	fake_reset();
	make_records(2);
	plan_list();
	CHECK_INT(peerlane_device_list(&list, &count), 0);
	CHECK_INT(count, 2);
	CHECK_STR(list[1].name, "gpu1");
	CHECK_STR(list[1].pci, "0000:04:00.0");
	CHECK_INT(list[1].bytes_total, 2LL << 30);
	CHECK_INT(list[1].bytes_free, 1 << 21);
	CHECK_INT(list[1].bytes_limbo, 5);
	CHECK_INT(list[1].user_limit, 6);
	CHECK_INT(list[1].unit, 2 << 20);
	CHECK_INT(list[1].kind, PEERLANE_KIND_BAR);
	CHECK_INT(list[1].memtype, PEERLANE_MEMTYPE_WC);
	CHECK_INT(list[1].regions, 9);
	CHECK_INT(list[1].numa_node, -1);
	CHECK_INT(list[1].bar, 2);
	free(list);
	fake_finish();
}

/* A name that the kernel did not end is ended. */
static void list_unterminated(void)
{
	struct peerlane_device_info *list;
	size_t count;

	fake_reset();
	make_records(1);
	memset(records[0].name, 'n', sizeof(records[0].name));
	memset(records[0].pci, 'p', sizeof(records[0].pci));
	plan_list();
	CHECK_INT(peerlane_device_list(&list, &count), 0);
	CHECK_INT(strlen(list[0].name), PEERLANE_NAME_LEN - 1);
	CHECK_INT(strlen(list[0].pci), PEERLANE_PCI_LEN - 1);
	free(list);
	fake_finish();
}

static void list_grows(void)
{
	struct peerlane_device_info *list;
	size_t count;

	fake_reset();
	make_records(40);
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, 0, EMSGSIZE, "40 devices",
		   .fill = need_count);
	plan_list();
	CHECK_INT(peerlane_device_list(&list, &count), 0);
	CHECK_INT(count, 40);
	CHECK(fake.seen[0].list.count < 40);
	CHECK(fake.seen[1].list.count >= 40);
	CHECK_STR(list[39].name, "gpu39");
	CHECK_STR(peerlane_strerror(), "");
	free(list);
	fake_finish();
}

/* A kernel that always wants more is given up, and the room did grow. */
static void list_grows_without_end(void)
{
	struct peerlane_device_info *list = (void *)1;
	size_t count = 5;
	int i;

	fake_reset();
	make_records(1); /* also: it asks for less than was given */
	for (i = 0; i < 16; i++)
		fake_ioctl(PEERLANE_IOC_DEVICE_LIST, 0, EMSGSIZE, "more",
			   .fill = need_count);
	CHECK_INT(peerlane_device_list(&list, &count), -EMSGSIZE);
	CHECK_STR(peerlane_strerror(), "list of devices: more (EMSGSIZE)");
	CHECK(list == (void *)1);
	CHECK_INT(count, 5);
	for (i = 1; i < 16; i++)
		CHECK(fake.seen[i].list.count > fake.seen[i - 1].list.count);
	fake_finish();
}

static void list_of_too_many(void)
{
	struct peerlane_device_info *list = (void *)1;
	size_t count = 5;

	fake_reset();
	make_records(1);
	record_count = 1000;
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, 0, .fill = need_count);
	CHECK_INT(peerlane_device_list(&list, &count), -EPROTO);
	CHECK(list == (void *)1);
	fake_finish();
}

static void list_interrupted(void)
{
	struct peerlane_device_info *list;
	size_t count;

	fake_reset();
	make_records(1);
	fake.open_eintr = 2;
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, 0, .fill = fill_list, .eintr = 3);
	CHECK_INT(peerlane_device_list(&list, &count), 0);
	CHECK_INT(count, 1);
	free(list);
	fake_finish();
}

static void list_refused(void)
{
	struct peerlane_device_info *list = (void *)1;
	size_t count = 5;

	fake_reset();
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_device_list(&list, &count), -ENOENT);
	CHECK_STR(peerlane_strerror(),
		  "the peerlane module is not loaded: no /dev/peerlane/control (ENOENT)");
	fake.control_errno = EACCES;
	CHECK_INT(peerlane_device_list(&list, &count), -EACCES);
	CHECK_STR(peerlane_strerror(),
		  "/dev/peerlane/control: Permission denied (EACCES)");
	fake.control_errno = EPERM;
	CHECK_INT(peerlane_device_list(&list, &count), -EACCES);
	fake.control_errno = 0;
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, 0, EOPNOTSUPP, "not\nhere");
	CHECK_INT(peerlane_device_list(&list, &count), -EOPNOTSUPP);
	CHECK_STR(peerlane_strerror(),
		  "list of devices: not here (EOPNOTSUPP)");
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, 0, EFAULT);
	CHECK_INT(peerlane_device_list(&list, &count), -EFAULT);
	CHECK_STR(peerlane_strerror(),
		  "list of devices: Bad address (EFAULT)");
	CHECK(list == (void *)1);
	CHECK_INT(count, 5);
	fake_finish();
}

static void list_without_memory(void)
{
	struct peerlane_device_info *list = (void *)1;
	size_t count = 5;

	fake_reset();
	make_records(1);
	fake.calloc_fail = 1;
	CHECK_INT(peerlane_device_list(&list, &count), -ENOMEM);
	plan_list();
	fake.calloc_fail = 2;
	CHECK_INT(peerlane_device_list(&list, &count), -ENOMEM);
	CHECK(list == (void *)1);
	CHECK_INT(count, 5);
	fake_finish();
}

static void get(void)
{
	static const char *const names[] = {
		"gpu2", "0000:05:00.0", "05:00.0"
	};
	struct peerlane_device_info info;
	size_t i;

	for (i = 0; i < 3; i++) {
		fake_reset();
		make_records(4);
		plan_list();
		memset(&info, 0, sizeof(info));
		CHECK_INT(peerlane_device_get(names[i], &info), 0);
		CHECK_STR(info.name, "gpu2");
		fake_finish();
	}
}

static void get_refused(void)
{
	struct peerlane_device_info info = { .name = "kept" };

	fake_reset();
	make_records(2);
	plan_list();
	CHECK_INT(peerlane_device_get("gpu9", &info), -ENODEV);
	CHECK_STR(peerlane_strerror(), "no memory device gpu9 (ENODEV)");
	plan_list();
	CHECK_INT(peerlane_device_get("09:00.0", &info), -ENODEV);
	CHECK_STR(peerlane_strerror(),
		  "no memory device 0000:09:00.0 (ENODEV)");
	/* a name is whole, not a beginning */
	plan_list();
	CHECK_INT(peerlane_device_get("gpu", &info), -ENODEV);
	CHECK_INT(peerlane_device_get("", &info), -EINVAL);
	CHECK_INT(peerlane_device_get(NULL, &info), -EINVAL);
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_device_get("gpu0", &info), -ENOENT);
	CHECK_STR(info.name, "kept");
	fake_finish();
}

static void fill_path(void *arg)
{
	struct peerlane_preflight *preflight = arg;

	CHECK_INT(preflight->flags, 0);
	CHECK_STR(preflight->target, "0000:03:00.0");
	CHECK_STR(preflight->initiator, "0000:81:00.1");
	preflight->out_path = PEERLANE_PATH_SWITCH;
	preflight->out_distance = 2;
}

static void preflight(void)
{
	static const char *const targets[] = {
		"gpu0", "0000:03:00.0", "03:00.0"
	};
	struct peerlane_preflight_info info;
	size_t i;

	for (i = 0; i < 3; i++) {
		fake_reset();
		make_records(1);
		if (!i)
			plan_list();
		fake_ioctl(PEERLANE_IOC_PREFLIGHT,
			   sizeof(struct peerlane_preflight), 0,
			   "both below switch 01:00.0", .fill = fill_path);
		CHECK_INT(peerlane_preflight(targets[i], "81:00.1", &info), 0);
		CHECK_INT(info.path, PEERLANE_PATH_SWITCH);
		CHECK_INT(info.distance, 2);
		CHECK_STR(info.text, "both below switch 01:00.0");
		CHECK_STR(peerlane_strerror(), "");
		fake_finish();
	}
}

static void preflight_refused(void)
{
	struct peerlane_preflight_info info = { .text = "kept" };

	fake_reset();
	make_records(2);
	fake_ioctl(PEERLANE_IOC_PREFLIGHT, 0, EREMOTEIO,
		   "two host bridges lie between");
	CHECK_INT(peerlane_preflight("03:00.0", "81:00.1", &info), -EREMOTEIO);
	CHECK_STR(peerlane_strerror(),
		  "0000:03:00.0 from 0000:81:00.1: two host bridges lie between (EREMOTEIO)");
	CHECK_INT(peerlane_preflight("03:00.0", "mlx5_0", &info), -EINVAL);
	CHECK_STR(peerlane_strerror(), "not a PCI address: mlx5_0 (EINVAL)");
	CHECK_INT(peerlane_preflight("03:00.0", NULL, &info), -EINVAL);
	plan_list();
	CHECK_INT(peerlane_preflight("gpu9", "81:00.1", &info), -ENOENT);
	records[0].pci[0] = '\0';
	plan_list();
	CHECK_INT(peerlane_preflight("gpu0", "81:00.1", &info), -ENOENT);
	CHECK_STR(peerlane_strerror(),
		  "device gpu0 has no PCI function (ENOENT)");
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_preflight("03:00.0", "81:00.1", &info), -ENOENT);
	CHECK_STR(info.text, "kept");
	fake_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(list_empty),
	TAP_CASE(list_fields),
	TAP_CASE(list_unterminated),
	TAP_CASE(list_grows),
	TAP_CASE(list_grows_without_end),
	TAP_CASE(list_of_too_many),
	TAP_CASE(list_interrupted),
	TAP_CASE(list_refused),
	TAP_CASE(list_without_memory),
	TAP_CASE(get),
	TAP_CASE(get_refused),
	TAP_CASE(preflight),
	TAP_CASE(preflight_refused),
};

int main(void)
{
	return TAP_RUN(cases);
}
