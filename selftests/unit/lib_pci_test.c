// SPDX-License-Identifier: GPL-2.0
/* PCI addresses as text, and the words for the ABI's numbers. */
#include "lib_fake.h"

static void good_addresses(void)
{
	static const char *const pairs[][2] = {
		{ "03:00.0", "0000:03:00.0" },
		{ "0000:03:00.0", "0000:03:00.0" },
		{ "AB:1F.7", "0000:ab:1f.7" },
		{ "ab:1f.7", "0000:ab:1f.7" },
		{ "00ff:ff:00.1", "00ff:ff:00.1" },
		{ "10000:e1:00.0", "10000:e1:00.0" },
		{ "00000:e1:00.0", "0000:e1:00.0" },
		{ "fffffff:ff:1f.7", "fffffff:ff:1f.7" },
	};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char out[PEERLANE_PCI_LEN + 1] = "";

		out[PEERLANE_PCI_LEN] = 'x';
		CHECK(pl_pci_parse(pairs[i][0], out));
		CHECK_STR(out, pairs[i][1]);
		CHECK(out[PEERLANE_PCI_LEN] == 'x');
	}
}

static void bad_addresses(void)
{
	static const char *const texts[] = {
		"", "gpu0", ":", "03:00", "03:00.", "03:00.8", "03:20.0",
		"3:00.0", "03:0.0", "03:00.0 ", " 03:00.0", "03:00.00",
		"000:03:00.0", "0000:03:00", "0000:03:00.0x", "0000:03:00.0\n",
		"ffffffff:03:00.0", "0000.03.00.0", "0000:0g:00.0", "-1:03:00.0",
		"0x00:03:00.0", "0000::03:00.0", "0000:03:00:0",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char out[PEERLANE_PCI_LEN] = "kept";

		if (pl_pci_parse(texts[i], out))
			CHECK_STR(texts[i], "refused");
		CHECK_STR(out, "kept");
	}
	CHECK(!pl_pci_parse(NULL, NULL));
}

static void names(void)
{
	CHECK_STR(peerlane_kind_name(PEERLANE_KIND_BAR), "bar");
	CHECK_STR(peerlane_kind_name(PEERLANE_KIND_DRIVER), "driver");
	CHECK_STR(peerlane_kind_name(PEERLANE_KIND_DMABUF), "dmabuf");
	CHECK_STR(peerlane_kind_name(PEERLANE_KIND_HOST), "host");
	CHECK_STR(peerlane_kind_name(0), "unknown");
	CHECK_STR(peerlane_kind_name(5), "unknown");
	CHECK_STR(peerlane_kind_name(UINT32_MAX), "unknown");
	CHECK_STR(peerlane_state_name(PEERLANE_STATE_EMPTY), "empty");
	CHECK_STR(peerlane_state_name(PEERLANE_STATE_ACTIVE), "active");
	CHECK_STR(peerlane_state_name(PEERLANE_STATE_REVOKED), "revoked");
	CHECK_STR(peerlane_state_name(PEERLANE_STATE_LIMBO), "limbo");
	CHECK_STR(peerlane_state_name(PEERLANE_STATE_RELEASED), "released");
	CHECK_STR(peerlane_state_name(5), "unknown");
	CHECK_STR(peerlane_memtype_name(PEERLANE_MEMTYPE_WB), "wb");
	CHECK_STR(peerlane_memtype_name(PEERLANE_MEMTYPE_WC), "wc");
	CHECK_STR(peerlane_memtype_name(PEERLANE_MEMTYPE_UC), "uc");
	CHECK_STR(peerlane_memtype_name(PEERLANE_MEMTYPE_NONE), "none");
	CHECK_STR(peerlane_memtype_name(4), "unknown");
	CHECK_STR(peerlane_path_name(PEERLANE_PATH_UNKNOWN), "unknown");
	CHECK_STR(peerlane_path_name(PEERLANE_PATH_SWITCH), "switch");
	CHECK_STR(peerlane_path_name(PEERLANE_PATH_ROOT_PORT), "root-port");
	CHECK_STR(peerlane_path_name(PEERLANE_PATH_HOST_BRIDGE), "host-bridge");
	CHECK_STR(peerlane_path_name(PEERLANE_PATH_IOMMU), "iommu");
	CHECK_STR(peerlane_path_name(PEERLANE_PATH_NONE), "none");
	CHECK_STR(peerlane_path_name(6), "unknown");
}

/* The public header repeats numbers of the ABI: they are the same. */
static void same_numbers(void)
{
	CHECK_INT(PEERLANE_REGION_BAR, PEERLANE_KIND_BAR);
	CHECK_INT(PEERLANE_REGION_DRIVER, PEERLANE_KIND_DRIVER);
	CHECK_INT(PEERLANE_REGION_DMABUF, PEERLANE_KIND_DMABUF);
	CHECK_INT(PEERLANE_REGION_HOST, PEERLANE_KIND_HOST);
	CHECK_INT(PEERLANE_CAN_MMAP, PEERLANE_CAP_MMAP);
	CHECK_INT(PEERLANE_CAN_REG_MR, PEERLANE_CAP_REG_MR);
	CHECK_INT(PEERLANE_CAN_EXPORT, PEERLANE_CAP_EXPORT);
	CHECK_INT(PEERLANE_CAN_HW_DMA, PEERLANE_CAP_HW_DMA);
	CHECK_INT(PEERLANE_CAN_VIRT_DMA, PEERLANE_CAP_VIRT_DMA);
	CHECK_INT(PEERLANE_CAN_DIRECT_IO, PEERLANE_CAP_DIRECT_IO);
	CHECK_INT(PEERLANE_CAN_REVOKE, PEERLANE_CAP_REVOKE);
	CHECK_INT(sizeof(((struct peerlane_device_info *)0)->name),
		  PEERLANE_NAME_LEN);
	CHECK_INT(sizeof(((struct peerlane_device_info *)0)->pci),
		  PEERLANE_PCI_LEN);
	CHECK_INT(sizeof(((struct peerlane_region_info *)0)->comm),
		  PEERLANE_COMM_LEN);
	CHECK_INT(sizeof(((struct peerlane_region_info *)0)->device),
		  PEERLANE_NAME_LEN);
	CHECK_INT(sizeof(((struct peerlane_preflight_info *)0)->text),
		  PEERLANE_MSG_MAX);
}

static const struct tap_case cases[] = {
	TAP_CASE(good_addresses),
	TAP_CASE(bad_addresses),
	TAP_CASE(names),
	TAP_CASE(same_numbers),
};

int main(void)
{
	return TAP_RUN(cases);
}
