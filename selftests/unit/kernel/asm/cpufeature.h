/* SPDX-License-Identifier: GPL-2.0 */
/* The compiler knows names of features, and whether the system saves them. */
#ifndef SELFTESTS_CPUFEATURE_H
#define SELFTESTS_CPUFEATURE_H

#define X86_FEATURE_AVX2	"avx2"
#define X86_FEATURE_F16C	"f16c"
#define X86_FEATURE_AVX512F	"avx512f"
#define X86_FEATURE_AVX512BW	"avx512bw"
#define X86_FEATURE_AVX512DQ	"avx512dq"
#define X86_FEATURE_AVX512VL	"avx512vl"
#define boot_cpu_has(feature)	(!!__builtin_cpu_supports(feature))

#endif /* SELFTESTS_CPUFEATURE_H */
