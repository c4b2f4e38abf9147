/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers that the trace events share; apart, as trace.h is read many times. */
#ifndef PEERLANE_TRACE_TEXT_H
#define PEERLANE_TRACE_TEXT_H

#include "compat.h"

#define peerlane_show_state(state)					\
	__print_symbolic(state,						\
			 { PEERLANE_STATE_EMPTY, "empty" },		\
			 { PEERLANE_STATE_ACTIVE, "active" },		\
			 { PEERLANE_STATE_REVOKED, "revoked" },		\
			 { PEERLANE_STATE_LIMBO, "limbo" },		\
			 { PEERLANE_STATE_RELEASED, "released" })

#endif /* PEERLANE_TRACE_TEXT_H */
