// SPDX-License-Identifier: GPL-2.0
/* Numbers and layouts that programs were compiled with, and that never change. */
#include "abi_layout.h"
#include "harness.h"

struct row {
	const char *type, *field;	/* no field: the end */
	size_t at, length;
};

#define ROW_FIELD(s, f, at, len)	{ #s, #f, at, len },
#define ROW_END(s, len)			{ #s, NULL, len, 0 },

static void structs_have_no_holes(void)
{
	static const struct row rows[] = { ABI_STRUCTS(ROW_FIELD, ROW_END) };
	size_t i, next = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].at != next)
			printf("# %s.%s\n", rows[i].type,
			       rows[i].field ? rows[i].field : "(end)");
		CHECK_INT(rows[i].at, next);
		next = rows[i].field ? rows[i].at + rows[i].length : 0;
	}
}

/* A struct of an array: one behind the other also for a 32-bit caller. */
static void structs_end_aligned(void)
{
#define END_IS_ALIGNED(s, len) CHECK_INT((len) % 8, 0);
#define NOTHING(s, f, at, len)
	ABI_STRUCTS(NOTHING, END_IS_ALIGNED)
}

static void commands_have_their_numbers(void)
{
	CHECK_INT(PEERLANE_IOC_REGION_ALLOC, 0xe900);
	CHECK_INT(PEERLANE_IOC_REGION_INFO, 0xe901);
	CHECK_INT(PEERLANE_IOC_REGION_EXPORT, 0xe902);
	CHECK_INT(PEERLANE_IOC_REGION_REVOKE, 0xe903);
	CHECK_INT(PEERLANE_IOC_DEVICE_LIST, 0xe920);
	CHECK_INT(PEERLANE_IOC_REGION_LIST, 0xe921);
	CHECK_INT(PEERLANE_IOC_IMPORT_DMABUF, 0xe922);
	CHECK_INT(PEERLANE_IOC_PIN_HOST, 0xe923);
	CHECK_INT(PEERLANE_IOC_PREFLIGHT, 0xe924);
}

static void values_have_their_numbers(void)
{
	CHECK_INT(PEERLANE_NAME_LEN, 32);
	CHECK_INT(PEERLANE_COMM_LEN, 16);
	CHECK_INT(PEERLANE_PCI_LEN, 16);
	CHECK_INT(PEERLANE_MSG_MAX, 256);

	CHECK_INT(PEERLANE_KIND_BAR, 1);
	CHECK_INT(PEERLANE_KIND_DRIVER, 2);
	CHECK_INT(PEERLANE_KIND_DMABUF, 3);
	CHECK_INT(PEERLANE_KIND_HOST, 4);

	CHECK_INT(PEERLANE_STATE_EMPTY, 0);
	CHECK_INT(PEERLANE_STATE_ACTIVE, 1);
	CHECK_INT(PEERLANE_STATE_REVOKED, 2);
	CHECK_INT(PEERLANE_STATE_LIMBO, 3);
	CHECK_INT(PEERLANE_STATE_RELEASED, 4);

	CHECK_INT(PEERLANE_MEMTYPE_WB, 0);
	CHECK_INT(PEERLANE_MEMTYPE_WC, 1);
	CHECK_INT(PEERLANE_MEMTYPE_UC, 2);
	CHECK_INT(PEERLANE_MEMTYPE_NONE, 3);

	CHECK_INT(PEERLANE_CAP_MMAP, 1);
	CHECK_INT(PEERLANE_CAP_REG_MR, 2);
	CHECK_INT(PEERLANE_CAP_EXPORT, 4);
	CHECK_INT(PEERLANE_CAP_HW_DMA, 8);
	CHECK_INT(PEERLANE_CAP_VIRT_DMA, 16);
	CHECK_INT(PEERLANE_CAP_DIRECT_IO, 32);
	CHECK_INT(PEERLANE_CAP_REVOKE, 64);

	CHECK_INT(PEERLANE_EXPORT_REVOCABLE_ONLY, 1);
	CHECK_INT(PEERLANE_PIN_READ_ONLY, 1);
	CHECK_INT(PEERLANE_PREFLIGHT_BIND, 1);

	CHECK_INT(PEERLANE_PATH_UNKNOWN, 0);
	CHECK_INT(PEERLANE_PATH_SWITCH, 1);
	CHECK_INT(PEERLANE_PATH_ROOT_PORT, 2);
	CHECK_INT(PEERLANE_PATH_HOST_BRIDGE, 3);
	CHECK_INT(PEERLANE_PATH_IOMMU, 4);
	CHECK_INT(PEERLANE_PATH_NONE, 5);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(structs_have_no_holes),
		TAP_CASE(structs_end_aligned),
		TAP_CASE(commands_have_their_numbers),
		TAP_CASE(values_have_their_numbers),
	};

	return HARNESS_RUN(cases);
}
