// SPDX-License-Identifier: GPL-2.0
#define REDUCE_BYTES	16
#define REDUCE_NAME	"vector16"
#define REDUCE_VARIANT	reduce_vector16
#include "reduce_vector.h"
