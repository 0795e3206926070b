/* The attributes of MaxPool and AvgPool.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_OP_POOL_H
#define IRRUN_OPS_OP_POOL_H

#include "ops/window.h"

struct pool_attrs {
    struct window_attrs window;
    int64_t axis; /* indices of MaxPool count elements of the dimensions from here on */
    enum irrun_dtype index_element_type;
    bool exclude_pad;
    bool is_last; /* MaxPool without indices: channels last, input and output */
};

#endif
