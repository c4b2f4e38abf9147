// SPDX-License-Identifier: GPL-2.0
/* Binding and unbinding through sysfs: a device is there as a whole or not. */
#include <sys/stat.h>

#include "fail_nth.h"
#include "lifetime.h"

#define DEVICE	"gpu1"
#define PCI	"/sys/bus/pci/"

static char function[32];	/* "dddd:bb:dd.f" */
static unsigned int combined;	/* ranges, while the device is not bound */
static int attr = -1;

static const char *function_attr(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), PCI "devices/%s/%s", function, name);
	return path;
}

static bool has_driver(void)
{
	return !access(function_attr("driver"), F_OK);
}

/* ---- there, or not ---- */

static void check_memory_works(void)
{
	int fd = open(DEVICES DEVICE, O_RDWR | O_CLOEXEC);
	char *at;

	CHECK_INT(region_alloc(fd, UNIT), 0);
	at = map(fd, UNIT);
	if (CHECK(at != MAP_FAILED)) {
		CHECK(is_zero(at, PAGE));
		memset(at, 'b', UNIT);
		munmap(at, UNIT);
	}
	close(fd);
}

static void check_bound(void)
{
	struct peerlane_device_record record;
	struct stat node = {};

	CHECK(has_driver());
	CHECK(device_record(DEVICE, &record));
	CHECK_STR(record.pci, function);
	CHECK(!access("/sys/class/peerlane/" DEVICE "/free", R_OK));
	CHECK_INT(stat(DEVICES DEVICE, &node), 0);
	CHECK_INT(node.st_mode, S_IFCHR | 0660);
	check_memory_works();
}

static unsigned int count(const char *path, const char *what)
{
	const char *at = read_text(path);
	unsigned int found = 0;

	while ((at = strstr(at, what))) {
		found++;
		at++;
	}
	return found;
}

/* Ranges of physical addresses that have our name. */
static unsigned int claimed_ranges(void)
{
	return count("/proc/iomem", ": peerlane");
}

static unsigned int combined_ranges(void)
{
	return count(DEBUGFS "x86/pat_memtype_list", "write-combining");
}

static void check_unbound(void)
{
	struct peerlane_device_record record;

	CHECK(!has_driver());
	CHECK(!device_record(DEVICE, &record));
	CHECK(access("/sys/class/peerlane/" DEVICE, F_OK));
	CHECK(access(DEVICES DEVICE, F_OK));
	CHECK_INT(claimed_ranges(), 1);		/* the other device's */
	CHECK_INT(combined_ranges(), combined);
	CHECK_INT(read_number(function_attr("enable")), 0);
}

/* ---- steps ---- */

static bool begin_attr(const char *path)
{
	attr = open(path, O_WRONLY | O_CLOEXEC);
	return attr >= 0;
}

static int write_attr(const char *what)
{
	return write(attr, what, strlen(what)) < 0 ? -errno : 0;
}

static int do_write_function(void)
{
	return write_attr(function);
}

static bool begin_bind(void)
{
	return begin_attr(DRIVER "bind") && !unbind_pci(function);
}

static void end_bind(int ret)
{
	close(attr);
	if (ret) {
		check_unbound();
		CHECK_INT(bind_pci(function), 0);
	}
	check_bound();
}

static unsigned int complained_at;

/*
 * vmemmap_alloc_block() shows a stack when it has no page, and add_pages() warns
 * (taint 9), each once until the next boot. Here they are meant to come; in no
 * other case a stack is.
 */
static void the_kernel_complains_once(void)
{
	const struct fail_step step = {
		.name = __func__, .begin = begin_bind,
		.run = do_write_function, .end = end_bind, .also = EBUSY,
	};
	struct fail_tally tally = {};
	struct fail_state before;
	struct log_line line;
	bool complained = false;
	unsigned int nth;
	int log;

	if (fail_file < 0) {
		SKIP(FAIL_UNAVAILABLE);
		return;
	}
	expect_splat("Call Trace:");
	expect_splat("WARNING: .*add_pages");
	log = log_open();
	before = fail_state();
	for (nth = 1; !complained && fail_once(&step, nth, &before, &tally);
	     nth++)
		complained = log_has(log, "vmemmap alloc failure", &line);
	close(log);
	if (CHECK(complained))
		complained_at = nth - 1;
}

/*
 * Goes on where the kernel complained. EBUSY is what pci_request_region() makes
 * of no memory for its resource.
 */
static void binding(void)
{
	FAIL_SWEEP(.begin = begin_bind, .run = do_write_function,
		   .end = end_bind, .also = EBUSY, .first = complained_at + 1,
		   .stride = 4);
}

/* The bus does not pass on why a probe failed. */
static bool begin_probe(void)
{
	return begin_attr(PCI "drivers_probe") && !unbind_pci(function);
}

static void end_probe(int ret)
{
	(void)ret;
	close(attr);
	if (!has_driver()) {
		check_unbound();
		CHECK_INT(bind_pci(function), 0);
	}
	check_bound();
}

static void probing(void)
{
	/* The steps of binding, and a few more: fewer of them. */
	FAIL_SWEEP(.begin = begin_probe, .run = do_write_function,
		   .end = end_probe, .foreign = true, .stride = 16);
}

static bool begin_override(void)
{
	return begin_attr(function_attr("driver_override"));
}

static int do_override(void)
{
	return write_attr("peerlane");
}

static void end_override(int ret)
{
	(void)ret;
	close(attr);
	CHECK_STR(read_text(function_attr("driver_override")), "peerlane\n");
	check_bound();
}

static void overriding(void)
{
	FAIL_SWEEP(.begin = begin_override, .run = do_override,
		   .end = end_override);
}

static bool begin_unbind(void)
{
	return begin_attr(DRIVER "unbind");
}

static void end_unbind(int ret)
{
	close(attr);
	if (ret) {
		check_bound();
		return;
	}
	check_unbound();
	CHECK_INT(bind_pci(function), 0);
	check_bound();
}

static void unbinding(void)
{
	FAIL_SWEEP(.begin = begin_unbind, .run = do_write_function,
		   .end = end_unbind);
}

/* ---- with a region that is mapped ---- */

static int region = -1;
static char *at;

static bool begin_unbind_mapped(void)
{
	region = open(DEVICES DEVICE, O_RDWR | O_CLOEXEC);
	at = map(region, UNIT);
	return at != MAP_FAILED && !touch(at, true) && begin_unbind();
}

static void end_unbind_mapped(int ret)
{
	CHECK_INT(touch(at, false), ret ? 0 : SIGBUS);
	munmap(at, UNIT);
	close(region);
	end_unbind(ret);
}

static void unbinding_what_is_mapped(void)
{
	FAIL_SWEEP(.begin = begin_unbind_mapped, .run = do_write_function,
		   .end = end_unbind_mapped);
}

static const struct tap_case cases[] = {
	TAP_CASE(the_kernel_complains_once),
	TAP_CASE(binding),
	TAP_CASE(probing),
	TAP_CASE(overriding),
	TAP_CASE(unbinding),
	TAP_CASE(unbinding_what_is_mapped),
};

int main(void)
{
	if (!CHECK(pci_of(DEVICE, function)) || !CHECK(!unbind_pci(function)))
		return 1;
	combined = combined_ranges();
	if (!CHECK(!bind_pci(function)))
		return 1;
	return FAIL_RUN(cases);
}
