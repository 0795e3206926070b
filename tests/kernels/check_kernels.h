/* What the checks of the kernel families share: random numbers that can be had again, memory that
 * ends at an unmapped page, a place to say what is being tried.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_CHECK_KERNELS_H
#define IRRUN_TESTS_CHECK_KERNELS_H

#include "kernels/kernels.h"

/* One variant on trial. */
struct trial {
    const struct kernels *reference; /* the scalar level */
    const struct kernels *variant;   /* the level on trial */
    size_t parameter;                /* of the row in check_kernels.c */
};

/* Compares the variant with the reference; false, after trial_fail, if they differ. */
typedef bool check_fn(const struct trial *trial);

/* Times the variant and prints a line for each size: measure_line. */
typedef void measure_fn(const struct trial *trial);

check_fn check_softmax, check_select, check_packed_gemm, check_recurrent_cells, check_dots,
    check_elementwise, check_fused, check_igemm, check_gemm_int8, check_quantize;
measure_fn measure_softmax, measure_select, measure_packed_gemm, measure_recurrent,
    measure_elementwise, measure_fused, measure_igemm, measure_gemm_int8, measure_quantize;

check_fn check_depthwise, check_transpose, check_peak, check_compressed_gemm, check_reduce,
    check_affine, check_gemm_rows;
measure_fn measure_depthwise, measure_transpose, measure_peak, measure_compressed_gemm,
    measure_reduce, measure_affine, measure_gemm_rows;

/* What is tried now, shown if it fails or crashes: "n=33 then=scalar". */
void trial_says(const char *format, ...) PRINTF_LIKE(1, 2);
/* Says that the trial failed and why; returns false. */
bool trial_fail(const char *format, ...) PRINTF_LIKE(1, 2);

/* Random numbers, the same for the same seed. */
uint32_t random_below(uint32_t limit);
void random_fill(void *bytes, size_t n);
float random_float(float scale); /* in (-scale, scale) */

/* n_bytes of memory whose end is the end of a page that cannot be touched behind; the page before
 * its first one cannot be touched either. Exits if there is no memory. */
struct guarded {
    unsigned char *pages;
    size_t n_bytes, mapped_bytes;
};
struct guarded guarded_new(size_t n_bytes);
void guarded_free(struct guarded *guarded);
/* The last n_bytes of it, and the first. */
unsigned char *guarded_last(const struct guarded *guarded, size_t n_bytes);
unsigned char *guarded_first(const struct guarded *guarded);

/* ---- speed ---- */

/* Seconds that one call of work(context) takes: the best of many. */
double measure_s(void (*work)(const void *context), const void *context);

/* GB/s of the best of memcpy and a copy that goes past the caches, counting bytes read and written,
 * over as much memory as `traffic_bytes`. Measured once per size. */
double copy_limit(size_t traffic_bytes);

/* "  1000000 f32   12.3 us   105.7 GB/s   98 % of a copy". */
void measure_line(const char *what, double seconds, size_t traffic_bytes);

#endif
