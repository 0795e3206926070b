/* Max and average pooling of one channel, from size window->in to window->out; maxima and sums of
 * u8 pixels with the channels last.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_POOL_H
#define IRRUN_KERNELS_POOL_H

#include "irrun.h"
#include "kernels/sliding_window.h"

/* Computes the maximum of each window; the first of equal elements wins, and NaN is skipped. Unless
 * `indices` is NULL, writes the index of the maximum in the channel. An empty window gives the
 * lowest finite number and index 0. */
typedef void max_pool_fn(const struct window *window, const void *in, void *out, int64_t *indices);
max_pool_fn *max_pool_scalar(enum irrun_dtype dtype);

/* Computes the mean of each window. Pads count as zeros unless exclude_pad. The mean of an empty
 * window is 0. */
typedef void avg_pool_fn(const struct window *window, bool exclude_pad, const void *in, void *out);
avg_pool_fn *avg_pool_scalar(enum irrun_dtype dtype);

/* Computes to[i] = max(from[i], to[i]) for n_pixels pixels of n_channels bytes. Pixels of `from`
 * are `stride` bytes apart; those of `to` are contiguous. */
void max_bytes(const uint8_t *from, size_t stride, uint8_t *to, size_t n_channels, size_t n_pixels);

/* Sums the bytes of each channel of n_pixels pixels with the channels last. */
void sum_bytes(const uint8_t *from, size_t n_channels, size_t n_pixels, uint64_t *sums);

#endif
