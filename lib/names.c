// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Words for the numbers of the ABI. */
#include "private.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *peerlane_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[PEERLANE_KIND_BAR] = "bar",
		[PEERLANE_KIND_DRIVER] = "driver",
		[PEERLANE_KIND_DMABUF] = "dmabuf",
		[PEERLANE_KIND_HOST] = "host",
	};

	return kind < COUNT(names) && names[kind] ? names[kind] : "unknown";
}

const char *peerlane_state_name(uint32_t state)
{
	static const char *const names[] = {
		[PEERLANE_STATE_EMPTY] = "empty",
		[PEERLANE_STATE_ACTIVE] = "active",
		[PEERLANE_STATE_REVOKED] = "revoked",
		[PEERLANE_STATE_LIMBO] = "limbo",
		[PEERLANE_STATE_RELEASED] = "released",
	};

	return state < COUNT(names) ? names[state] : "unknown";
}

const char *peerlane_memtype_name(uint32_t memtype)
{
	static const char *const names[] = {
		[PEERLANE_MEMTYPE_WB] = "wb",
		[PEERLANE_MEMTYPE_WC] = "wc",
		[PEERLANE_MEMTYPE_UC] = "uc",
		[PEERLANE_MEMTYPE_NONE] = "none",
	};

	return memtype < COUNT(names) ? names[memtype] : "unknown";
}

const char *peerlane_path_name(uint32_t path)
{
	static const char *const names[] = {
		[PEERLANE_PATH_UNKNOWN] = "unknown",
		[PEERLANE_PATH_SWITCH] = "switch",
		[PEERLANE_PATH_ROOT_PORT] = "root-port",
		[PEERLANE_PATH_HOST_BRIDGE] = "host-bridge",
		[PEERLANE_PATH_IOMMU] = "iommu",
		[PEERLANE_PATH_NONE] = "none",
	};

	return path < COUNT(names) ? names[path] : "unknown";
}
