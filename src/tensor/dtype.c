/* The table of element types: names, sizes, kinds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/dtype.h"

#include "base/text.h"

enum kind { KIND_OTHER, KIND_FLOAT, KIND_SIGNED, KIND_UNSIGNED };

static const struct {
    const char *name;      /* in the attribute element_type */
    const char *port_name; /* in the precision of a port */
    unsigned char stored_bits;
    unsigned char size_bytes;
    enum kind kind;
} dtypes[IRRUN_N_DTYPES] = {
    [IRRUN_DYNAMIC] = {"dynamic", "UNSPECIFIED", 0, 0, KIND_OTHER},
    [IRRUN_BOOLEAN] = {"boolean", "BOOL", 8, 1, KIND_OTHER},
    [IRRUN_BF16] = {"bf16", "BF16", 16, 2, KIND_FLOAT},
    [IRRUN_F16] = {"f16", "FP16", 16, 2, KIND_FLOAT},
    [IRRUN_F32] = {"f32", "FP32", 32, 4, KIND_FLOAT},
    [IRRUN_F64] = {"f64", "FP64", 64, 8, KIND_FLOAT},
    [IRRUN_I4] = {"i4", "I4", 4, 1, KIND_SIGNED},
    [IRRUN_I8] = {"i8", "I8", 8, 1, KIND_SIGNED},
    [IRRUN_I16] = {"i16", "I16", 16, 2, KIND_SIGNED},
    [IRRUN_I32] = {"i32", "I32", 32, 4, KIND_SIGNED},
    [IRRUN_I64] = {"i64", "I64", 64, 8, KIND_SIGNED},
    [IRRUN_U1] = {"u1", "BIN", 1, 1, KIND_UNSIGNED},
    [IRRUN_U2] = {"u2", "U2", 2, 1, KIND_UNSIGNED},
    [IRRUN_U3] = {"u3", "U3", 3, 1, KIND_UNSIGNED},
    [IRRUN_U4] = {"u4", "U4", 4, 1, KIND_UNSIGNED},
    [IRRUN_U6] = {"u6", "U6", 6, 1, KIND_UNSIGNED},
    [IRRUN_U8] = {"u8", "U8", 8, 1, KIND_UNSIGNED},
    [IRRUN_U16] = {"u16", "U16", 16, 2, KIND_UNSIGNED},
    [IRRUN_U32] = {"u32", "U32", 32, 4, KIND_UNSIGNED},
    [IRRUN_U64] = {"u64", "U64", 64, 8, KIND_UNSIGNED},
    [IRRUN_NF4] = {"nf4", "NF4", 4, 1, KIND_OTHER},
    [IRRUN_F8E4M3] = {"f8e4m3", "F8E4M3", 8, 1, KIND_OTHER},
    [IRRUN_F8E5M2] = {"f8e5m2", "F8E5M2", 8, 1, KIND_OTHER},
    [IRRUN_F4E2M1] = {"f4e2m1", "F4E2M1", 4, 1, KIND_OTHER},
    [IRRUN_F8E8M0] = {"f8e8m0", "F8E8M0", 8, 1, KIND_OTHER},
    [IRRUN_STRING] = {"string", "STRING", 0, 0, KIND_OTHER},
};

const char *irrun_dtype_name(enum irrun_dtype dtype)
{
    return (unsigned)dtype < IRRUN_N_DTYPES ? dtypes[dtype].name : "?";
}

unsigned dtype_stored_bits(enum irrun_dtype dtype)
{
    return dtypes[dtype].stored_bits;
}

size_t dtype_size(enum irrun_dtype dtype)
{
    return dtypes[dtype].size_bytes;
}

bool dtype_parse(const char *text, enum irrun_dtype *dtype)
{
    for (unsigned i = 0; i < IRRUN_N_DTYPES; i++) {
        if (text_equals_ignore_case(text, dtypes[i].name) ||
            text_equals_ignore_case(text, dtypes[i].port_name)) {
            *dtype = (enum irrun_dtype)i;
            return true;
        }
    }
    if (text_equals_ignore_case(text, "undefined")) { /* files before 2022 */
        *dtype = IRRUN_DYNAMIC;
        return true;
    }
    return false;
}

bool dtype_is_float(enum irrun_dtype dtype)
{
    return dtypes[dtype].kind == KIND_FLOAT;
}

bool dtype_is_integer(enum irrun_dtype dtype)
{
    return dtypes[dtype].kind == KIND_SIGNED || dtypes[dtype].kind == KIND_UNSIGNED;
}

bool dtype_is_signed(enum irrun_dtype dtype)
{
    return dtypes[dtype].kind == KIND_SIGNED;
}

bool dtype_is_half(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F16 || dtype == IRRUN_BF16;
}
