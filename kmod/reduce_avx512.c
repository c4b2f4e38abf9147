// SPDX-License-Identifier: GPL-2.0
#define REDUCE_BYTES	64
#define REDUCE_NAME	"avx512"
#define REDUCE_VARIANT	reduce_avx512
#include "reduce_vector.h"
