// SPDX-License-Identifier: GPL-2.0
#define REDUCE_BYTES	32
#define REDUCE_NAME	"avx2"
#define REDUCE_VARIANT	reduce_avx2
#include "reduce_vector.h"
