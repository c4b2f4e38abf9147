/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libpeerlane: accelerator memory on the RDMA fabric.
 *
 * Every function that can fail returns 0 or a negative errno and leaves its
 * out parameters untouched on failure; peerlane_strerror() then tells, for the
 * calling thread, in one line what was refused and why. The library prints
 * nothing, keeps no global state beside that line, and may be used from any
 * thread; one object is used by one thread at a time unless said otherwise.
 * All lengths and offsets are bytes. Pointers that are not said to take NULL
 * do not take it.
 *
 * This is the file to include; it brings those of peerlane/, one for each
 * noun, which can also be included alone.
 */
#ifndef PEERLANE_H
#define PEERLANE_H

#include <peerlane/aggregator.h>
#include <peerlane/base.h>
#include <peerlane/bucket.h>
#include <peerlane/device.h>
#include <peerlane/endpoint.h>
#include <peerlane/endpoint_work.h>
#include <peerlane/event.h>
#include <peerlane/flow.h>
#include <peerlane/flow_host.h>
#include <peerlane/flow_table.h>
#include <peerlane/group.h>
#include <peerlane/launch.h>
#include <peerlane/netdev.h>
#include <peerlane/node.h>
#include <peerlane/port.h>
#include <peerlane/qp.h>
#include <peerlane/region.h>

#endif /* PEERLANE_H */
