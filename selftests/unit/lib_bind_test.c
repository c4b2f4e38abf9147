// SPDX-License-Identifier: GPL-2.0
/* bind and unbind: what is written to sysfs, in which order, and undone. */
#include "lib_fake.h"

#define DEV "devices/" FAKE_BDF
#define SYS "/sys/bus/pci/"
#define KEEP DEV "/driver_override=peerlane;"
#define PROBE "drivers_probe=" FAKE_BDF ";"

static void fill_list(void *arg)
{
	struct peerlane_device_record record = {
		.name = "gpu0", .pci = FAKE_BDF, .bar = 2
	};
	struct peerlane_list *list = arg;

	memcpy((void *)(uintptr_t)list->array_ptr, &record, sizeof(record));
	list->count = 1;
}

static void fill_none(void *arg)
{
	((struct peerlane_list *)arg)->count = 0;
}

static void check_ask(void *arg)
{
	struct peerlane_preflight *preflight = arg;

	CHECK_INT(preflight->flags, PEERLANE_PREFLIGHT_BIND);
	CHECK_STR(preflight->target, FAKE_BDF);
	CHECK_STR(preflight->initiator, "");
}

static void plan_ask(int err, const char *msg)
{
	fake_ioctl(PEERLANE_IOC_PREFLIGHT, sizeof(struct peerlane_preflight),
		   err, msg, .fill = check_ask);
}

static void plan_list(void)
{
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, 0, .fill = fill_list);
}

static void bind_free_function(void)
{
	struct peerlane_device_info info;

	fake_reset();
	plan_ask(0, NULL);
	plan_list();
	CHECK_INT(peerlane_device_bind("03:00.0", false, &info), 0);
	CHECK_STR(info.name, "gpu0");
	CHECK_INT(info.bar, 2);
	CHECK_STR(fake.driver, "peerlane");
	CHECK_STR(fake.log, KEEP PROBE);
	CHECK_STR(peerlane_strerror(), "");
	fake_finish();
}

static void bind_without_info(void)
{
	fake_reset();
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind(FAKE_BDF, false, NULL), 0);
	CHECK_STR(fake.driver, "peerlane");
	fake_finish();
}

static void bind_names_the_driver(void)
{
	struct peerlane_device_info info = { .name = "kept" };

	fake_reset();
	strcpy(fake.driver, "nvme");
	plan_ask(EBUSY, "in use");
	CHECK_INT(peerlane_device_bind("03:00.0", false, &info), -EBUSY);
	CHECK_HAS(peerlane_strerror(), FAKE_BDF ": driver nvme has it");
	CHECK_HAS(peerlane_strerror(), "(EBUSY)");
	/* and also if the kernel would have let it pass */
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind("03:00.0", false, &info), -EBUSY);
	CHECK_STR(fake.driver, "nvme");
	CHECK_STR(fake.log, "");
	CHECK_STR(info.name, "kept");
	fake_finish();
}

static void bind_by_force(void)
{
	fake_reset();
	strcpy(fake.driver, "nvme");
	plan_ask(EBUSY, "in use");
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), 0);
	CHECK_STR(fake.driver, "peerlane");
	CHECK_STR(fake.log,
		  KEEP "drivers/nvme/unbind=" FAKE_BDF ";" PROBE);
	CHECK_STR(peerlane_strerror(), "");
	fake_finish();
}

static void bind_again(void)
{
	fake_reset();
	strcpy(fake.driver, "peerlane");
	plan_ask(EBUSY, "bound");
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), -EBUSY);
	CHECK_HAS(peerlane_strerror(), "peerlane driver has it already");
	CHECK_STR(fake.log, "");
	CHECK_STR(fake.driver, "peerlane");
	fake_finish();
}

/* The kernel's one reason comes through, and nothing was touched. */
static void bind_refused_by_kernel(void)
{
	fake_reset();
	strcpy(fake.driver, "nvme");
	plan_ask(EINVAL, "no memory BAR of 2 MiB or more");
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), -EINVAL);
	CHECK_STR(peerlane_strerror(),
		  FAKE_BDF ": no memory BAR of 2 MiB or more (EINVAL)");
	fake.driver[0] = '\0';
	plan_ask(EBUSY, "BAR 2 is claimed by efifb");
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), -EBUSY);
	CHECK_STR(peerlane_strerror(),
		  FAKE_BDF ": BAR 2 is claimed by efifb (EBUSY)");
	CHECK_STR(fake.log, "");
	fake_finish();
}

static void bind_bad_names(void)
{
	fake_reset();
	CHECK_INT(peerlane_device_bind("gpu0", false, NULL), -EINVAL);
	CHECK_STR(peerlane_strerror(), "not a PCI address: gpu0 (EINVAL)");
	CHECK_INT(peerlane_device_bind(NULL, false, NULL), -EINVAL);
	fake.control_errno = ENOENT;
	CHECK_INT(peerlane_device_bind("03:00.0", false, NULL), -ENOENT);
	CHECK_HAS(peerlane_strerror(), "module is not loaded");
	fake.control_errno = 0;
	fake.pci = false;
	plan_ask(ENOENT, "no such function");
	CHECK_INT(peerlane_device_bind("03:00.0", false, NULL), -ENOENT);
	CHECK_HAS(peerlane_strerror(), "no such function");
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind("03:00.0", false, NULL), -ENOENT);
	CHECK_STR(peerlane_strerror(), "no PCI function " FAKE_BDF " (ENOENT)");
	fake_finish();
}

/* Not root: the first write is refused, so nothing is to be undone. */
static void bind_without_root(void)
{
	fake_reset();
	fake.fail_path = SYS DEV "/driver_override";
	fake.fail_errno = EACCES;
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind("03:00.0", false, NULL), -EACCES);
	CHECK_HAS(peerlane_strerror(), "driver_override: Permission denied");
	CHECK_STR(fake.log, "");
	fake_finish();
}

/* The driver does not take it: all goes back to who had it. */
static void bind_gives_back(void)
{
	fake_reset();
	strcpy(fake.driver, "vfio-pci");
	strcpy(fake.override, "vfio-pci");
	fake.stubborn = true;
	plan_ask(EBUSY, "in use");
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), -EIO);
	CHECK_HAS(peerlane_strerror(), "did not take it, the kernel log says why (EIO)");
	CHECK_STR(fake.driver, "vfio-pci");
	CHECK_STR(fake.override, "vfio-pci");
	CHECK_STR(fake.log,
		  KEEP "drivers/vfio-pci/unbind=" FAKE_BDF ";" PROBE
		  DEV "/driver_override=vfio-pci;"
		  "drivers/vfio-pci/bind=" FAKE_BDF ";");
	fake_finish();
}

/* Once free, the kernel sees another reason. */
static void bind_refused_after_unbind(void)
{
	fake_reset();
	strcpy(fake.driver, "nvme");
	plan_ask(EBUSY, "in use");
	plan_ask(EOPNOTSUPP, "PAT is off");
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), -EOPNOTSUPP);
	CHECK_HAS(peerlane_strerror(), "PAT is off (EOPNOTSUPP)");
	CHECK_STR(fake.driver, "nvme");
	CHECK_STR(fake.override, "");
	fake_finish();
}

/* A failure while it is undone does not hide the first one. */
static void bind_failure_is_the_first(void)
{
	fake_reset();
	strcpy(fake.driver, "nvme");
	fake.stubborn = true;
	fake.fail_path = SYS "drivers/nvme/bind";
	fake.fail_errno = ENODEV;
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), -EIO);
	CHECK_HAS(peerlane_strerror(), "did not take it");
	fake_finish();
}

static void bind_write_failures(void)
{
	fake_reset();
	strcpy(fake.driver, "nvme");
	fake.fail_path = SYS "drivers/nvme/unbind";
	fake.fail_errno = EBUSY;
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), -EBUSY);
	CHECK_HAS(peerlane_strerror(), "drivers/nvme/unbind");
	CHECK_STR(fake.driver, "nvme");
	CHECK_STR(fake.override, "");

	fake_reset();
	fake.fail_path = SYS "drivers_probe";
	fake.fail_errno = EINVAL;
	plan_ask(0, NULL);
	CHECK_INT(peerlane_device_bind("03:00.0", true, NULL), -EINVAL);
	CHECK_STR(fake.driver, "");
	CHECK_STR(fake.override, "");
	fake_finish();
}

/* Bound, but the list does not have it: then it is not bound. */
static void bind_without_a_record(void)
{
	struct peerlane_device_info info = { .name = "kept" };

	fake_reset();
	strcpy(fake.driver, "nvme");
	plan_ask(0, NULL);
	fake_ioctl(PEERLANE_IOC_DEVICE_LIST, 0, .fill = fill_none);
	CHECK_INT(peerlane_device_bind("03:00.0", true, &info), -ENODEV);
	CHECK_STR(info.name, "kept");
	CHECK_STR(fake.driver, "nvme");
	CHECK_STR(fake.override, "");
	fake_finish();
}

static void unbind_by_address(void)
{
	fake_reset();
	strcpy(fake.driver, "peerlane");
	strcpy(fake.override, "peerlane");
	CHECK_INT(peerlane_device_unbind("03:00.0"), 0);
	CHECK_STR(fake.driver, "");
	CHECK_STR(fake.override, "");
	CHECK_STR(fake.log, DEV "/driver_override=;"
		  "drivers/peerlane/unbind=" FAKE_BDF ";");
	fake_finish();
}

static void unbind_by_name(void)
{
	fake_reset();
	strcpy(fake.driver, "peerlane");
	plan_list();
	CHECK_INT(peerlane_device_unbind("gpu0"), 0);
	CHECK_STR(fake.driver, "");
	fake_finish();
}

static void unbind_refused(void)
{
	fake_reset();
	strcpy(fake.driver, "nvme");
	CHECK_INT(peerlane_device_unbind("03:00.0"), -ENODEV);
	CHECK_STR(peerlane_strerror(),
		  FAKE_BDF ": driver nvme has it, not peerlane (ENODEV)");
	fake.driver[0] = '\0';
	CHECK_INT(peerlane_device_unbind("03:00.0"), -ENODEV);
	plan_list();
	CHECK_INT(peerlane_device_unbind("gpu9"), -ENODEV);
	CHECK_INT(peerlane_device_unbind("09:00.0"), -ENODEV);
	CHECK_STR(peerlane_strerror(), "no PCI function 0000:09:00.0 (ENODEV)");
	CHECK_STR(fake.log, "");
	fake_finish();
}

static void unbind_fails(void)
{
	fake_reset();
	strcpy(fake.driver, "peerlane");
	strcpy(fake.override, "peerlane");
	fake.fail_path = SYS "drivers/peerlane/unbind";
	fake.fail_errno = EACCES;
	CHECK_INT(peerlane_device_unbind("03:00.0"), -EACCES);
	CHECK_HAS(peerlane_strerror(), "unbind: Permission denied (EACCES)");
	CHECK_STR(fake.override, "peerlane");
	CHECK_STR(fake.driver, "peerlane");
	fake_finish();
}

static const struct tap_case cases[] = {
	TAP_CASE(bind_free_function),
	TAP_CASE(bind_without_info),
	TAP_CASE(bind_names_the_driver),
	TAP_CASE(bind_by_force),
	TAP_CASE(bind_again),
	TAP_CASE(bind_refused_by_kernel),
	TAP_CASE(bind_bad_names),
	TAP_CASE(bind_without_root),
	TAP_CASE(bind_gives_back),
	TAP_CASE(bind_refused_after_unbind),
	TAP_CASE(bind_failure_is_the_first),
	TAP_CASE(bind_write_failures),
	TAP_CASE(bind_without_a_record),
	TAP_CASE(unbind_by_address),
	TAP_CASE(unbind_by_name),
	TAP_CASE(unbind_refused),
	TAP_CASE(unbind_fails),
};

int main(void)
{
	return TAP_RUN(cases);
}
