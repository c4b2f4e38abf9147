/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_FPU_API_H
#define SELFTESTS_FPU_API_H

#define XFEATURE_MASK_SSE			0
#define XFEATURE_MASK_YMM			0
#define XFEATURE_MASK_AVX512			0
#define cpu_has_xfeatures(features, name)	(!(features))

#endif /* SELFTESTS_FPU_API_H */
