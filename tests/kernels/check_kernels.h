/* Shared by the checks of the kernel families: reproducible random numbers, memory that ends at an
 * unmapped page, and a description of the current trial.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_CHECK_KERNELS_H
#define IRRUN_TESTS_CHECK_KERNELS_H

#include "kernels/kernels.h"

/* The variant that is being checked. */
struct trial {
    const struct kernels *reference; /* the scalar level */
    const struct kernels *variant;   /* the level that is checked */
    size_t parameter;                /* of its row in check_kernels.c */
};

/* Compares the variant with the reference. Calls trial_fail and returns false if they differ. */
typedef bool check_fn(const struct trial *trial);

/* Times the variant and prints a line for each size with measure_line. */
typedef void measure_fn(const struct trial *trial);

check_fn check_softmax, check_select, check_packed_gemm, check_recurrent_cells, check_elementwise,
    check_fused, check_igemm, check_gemm_int8, check_quantize;
measure_fn measure_softmax, measure_select, measure_packed_gemm, measure_recurrent,
    measure_elementwise, measure_fused, measure_igemm, measure_gemm_int8, measure_quantize;

check_fn check_depthwise, check_transpose, check_peak, check_compressed_gemm, check_reduce,
    check_affine, check_gemm_rows, check_quantized_gemm, check_int8_winograd, check_int8_depthwise;
measure_fn measure_depthwise, measure_transpose, measure_peak, measure_compressed_gemm,
    measure_reduce, measure_affine, measure_gemm_rows, measure_quantized_gemm,
    measure_int8_winograd;

/* Describes the current trial, "n=33 then=scalar", for when it fails or crashes. */
void trial_says(const char *format, ...) PRINTF_LIKE(1, 2);
/* Reports that the trial failed and why. Returns false. */
bool trial_fail(const char *format, ...) PRINTF_LIKE(1, 2);

/* Return random numbers, which depend only on the seed. */
uint32_t random_below(uint32_t limit);
void random_fill(void *bytes, size_t n);
float random_float(float scale); /* in (-scale, scale) */

/* At least n_bytes of memory between two inaccessible pages. Exits if there is no memory. */
struct guarded {
    unsigned char *pages;
    size_t n_bytes, mapped_bytes;
};
struct guarded guarded_new(size_t n_bytes);
void guarded_free(struct guarded *guarded);
/* Return the address of the last n_bytes, before the second page, and of the first byte. */
unsigned char *guarded_last(const struct guarded *guarded, size_t n_bytes);
unsigned char *guarded_first(const struct guarded *guarded);

/* ---- speed ---- */

/* Returns the shortest time of a call of work(context), in seconds. */
double measure_s(void (*work)(const void *context), const void *context);

/* Returns the GB/s of memcpy for `traffic_bytes` read and written. Measured once per size. */
double copy_limit(size_t traffic_bytes);

/* Prints a line: "  1000000 f32   12.3 us   105.7 GB/s   98 % of a copy". */
void measure_line(const char *what, double seconds, size_t traffic_bytes);

#endif
