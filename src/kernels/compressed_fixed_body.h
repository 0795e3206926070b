/* Products of x by compressed integers as sums of integers. Every group of x becomes numbers in
 * fixed point: integers below 2^23 times a power of two. An integer is three digits in base 256,
 * signed bytes, and the dot products of the digits with the codes are exact. Rounding moves an
 * element of x by at most 2^-23 of the greatest magnitude in its group, and less by half if that is
 * not just above a power of two.
 *
 * Weights are read in blocks of one vector. Those of 4 bits have the elements with even numbers in
 * the low halves of the bytes. A unit is a group, or as many groups as fill a block.
 *
 * Included by compressed_gemm_level.c, if the level multiplies bytes.
 * SPDX-License-Identifier: Apache-2.0 */

enum { BLOCK_BYTES = 4 * VECTOR_LANES, DIGITS = 3, MAX_GROUPS = 64 };
/* Into the L2 cache: it has more reads of memory in flight than the L1 cache. */
#define FIXED_BYTES_AHEAD 8192

enum { MAX_FIXED = 8355711 /* 127 * (65536 + 256 + 1) */ };

/* The greatest magnitude of a group of x must be in this range or be 0, so that no scale is
 * denormal and no sum overflows. */
#define FIXED_MIN 0x1p-60F
#define FIXED_MAX 0x1p60F

struct fixed_layout {
    size_t n_halves;                  /* elements in a byte */
    size_t n_groups, groups_per_unit; /* a power of two */
    unsigned per_unit_log2;
    size_t unit_bytes, n_blocks; /* of weights */
    size_t unit_x_bytes;         /* the sums of the digits, and the digits of every block */
    size_t row_bytes, x_row_bytes;
    int32_t lanes[VECTOR_LANES]; /* the number in its unit of the group of each lane */
};

ALWAYS_INLINE struct fixed_layout fixed_layout_of(const struct compressed_matrix *matrix)
{
    size_t group_bytes = compressed_bytes(matrix, matrix->group);
    struct fixed_layout layout = {
        .n_halves = matrix->dtype == IRRUN_U4 || matrix->dtype == IRRUN_I4 ? 2 : 1,
        .n_groups = matrix->k / matrix->group,
        .groups_per_unit = 1};
    if (group_bytes < BLOCK_BYTES)
        layout.groups_per_unit = BLOCK_BYTES / group_bytes;
    while (layout.groups_per_unit >> layout.per_unit_log2 > 1)
        layout.per_unit_log2++;
    layout.unit_bytes = group_bytes * layout.groups_per_unit;
    layout.n_blocks = (layout.unit_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    layout.unit_x_bytes = DIGITS * BLOCK_BYTES * (1 + layout.n_halves * layout.n_blocks);
    layout.row_bytes = compressed_bytes(matrix, matrix->k);
    layout.x_row_bytes = compressed_row_floats(matrix) * sizeof(float);
    for (size_t i = 0; i < VECTOR_LANES; i++)
        layout.lanes[i] = (int32_t)(i * layout.groups_per_unit / VECTOR_LANES);
    return layout;
}

/* Whether the sums cannot overflow, and blocks have whole groups or groups whole blocks. */
static bool is_fixed_possible(const struct compressed_matrix *matrix)
{
    size_t group_bytes = compressed_bytes(matrix, matrix->group);
    size_t n_groups = matrix->k / matrix->group;
    if (is_table(matrix->dtype))
        return false;
    if (group_bytes < BLOCK_BYTES && (group_bytes % 4 != 0 || BLOCK_BYTES % group_bytes != 0 ||
                                      n_groups % (BLOCK_BYTES / group_bytes) != 0))
        return false;
    /* A lane adds group / VECTOR_LANES products of a digit below 2^7 and a code less a zero point:
     * below 2^9 if that is a byte, else below 2^17. */
    bool is_byte = !matrix->zero_points.data || matrix->zero_points.dtype != IRRUN_F32;
    return matrix->group / VECTOR_LANES < ((size_t)1 << (is_byte ? 15 : 7));
}

/* ---- x ---- */

/* Sets *scale to the power of two by which the integers of a group are multiplied. Returns
 * false if the group needs floating point. */
static bool find_scale(const float *x, size_t n, float *scale)
{
    uint32_t most = 0, pattern;
    float magnitude;
    for (size_t i = 0; i < n; i++) {
        memcpy(&pattern, x + i, sizeof pattern);
        pattern &= 0x7FFFFFFF;
        most = pattern > most ? pattern : most;
    }
    memcpy(&magnitude, &most, sizeof most);
    *scale = 0;
    if (most == 0)
        return true;
    if (!(magnitude >= FIXED_MIN && magnitude <= FIXED_MAX))
        return false;
    most = (most & 0x7F800000) - (22U << 23); /* 2^-22 of the power of two below */
    memcpy(scale, &most, sizeof most);
    if (magnitude > MAX_FIXED * *scale)
        *scale *= 2;
    return true;
}

/* Writes the digits of a block of n_halves * BLOCK_BYTES integers. */
ALWAYS_INLINE void store_digits(const int32_t *integers, const size_t n_halves, int8_t *to)
{
    for (size_t half = 0; half < n_halves; half++, to += DIGITS * BLOCK_BYTES) {
        for (size_t i = 0; i < BLOCK_BYTES; i++) {
            int32_t low = integers[i * n_halves + half], middle, high;
            middle = (low - (int8_t)low) >> 8;
            high = (middle - (int8_t)middle) >> 8;
            to[i] = (int8_t)high;
            to[i + BLOCK_BYTES] = (int8_t)middle;
            to[i + 2 * BLOCK_BYTES] = (int8_t)low;
        }
    }
}

/* Adds the digits of n_halves blocks to the sums. */
ALWAYS_INLINE void add_digits(const int8_t *digits, size_t n_halves, vec_i32 sums[DIGITS])
{
    const vec_i32 ones = vec_i32_set1(0x01010101);
    for (size_t half = 0; half < n_halves; half++, digits += DIGITS * BLOCK_BYTES)
        for (size_t d = 0; d < DIGITS; d++)
            sums[d] = vec_i32_dot_u8(sums[d], ones, vec_i32_load(digits + d * BLOCK_BYTES));
}

/* The codes are read without their sign. Returns what this adds to each. */
ALWAYS_INLINE int32_t sign_of(enum irrun_dtype dtype)
{
    return dtype == IRRUN_I8 ? 128 : dtype == IRRUN_I4 ? 8 : 0;
}

/* Writes a unit of x: the sums of the digits in every lane, times minus the zero point if that is
 * known, and the digits. */
static void arrange_unit(const struct compressed_matrix *matrix, const struct fixed_layout *layout,
                         const float *x, const float *scales, int8_t *to)
{
    const size_t block = BLOCK_BYTES * layout->n_halves;
    const size_t n = matrix->group * layout->groups_per_unit;
    int8_t *sums_at = to;
    vec_i32 sums[DIGITS] = {vec_i32_set1(0), vec_i32_set1(0), vec_i32_set1(0)};
    to += DIGITS * BLOCK_BYTES;
    for (size_t first = 0; first < n; first += block) {
        int32_t integers[2 * BLOCK_BYTES] = {0};
        size_t end = n - first < block ? n : first + block, run;
        for (size_t i = first; i < end; i += run) {
            size_t group = i / matrix->group;
            float factor = scales[group] > 0 ? 1 / scales[group] : 0;
            run = (group + 1) * matrix->group - i;
            run = run < end - i ? run : end - i;
            for (size_t j = 0; j < run; j += VECTOR_LANES) {
                size_t left = run - j;
                vec_i32 rounded = vec_round_to_i32(
                    vec_mul(vec_load_first(x + i + j, left < VECTOR_LANES ? left : VECTOR_LANES),
                            vec_set1(factor)));
                vec_i32_store_first(integers + (i - first) + j, rounded, left);
            }
        }
        if (layout->n_halves == 2)
            store_digits(integers, 2, to);
        else
            store_digits(integers, 1, to);
        add_digits(to, layout->n_halves, sums);
        to += DIGITS * BLOCK_BYTES * layout->n_halves;
    }
    for (size_t d = 0; d < DIGITS; d++) {
        if (!matrix->zero_points.data)
            sums[d] *= -sign_of(matrix->dtype);
        memcpy(sums_at + d * BLOCK_BYTES, &sums[d], sizeof sums[d]);
    }
}

/* Returns the number of floats for the scales of a row of x, so that a vector can be read from any
 * of them. */
ALWAYS_INLINE size_t n_fixed_scales(const struct fixed_layout *layout)
{
    return (layout->n_groups / VECTOR_LANES + 2) * VECTOR_LANES;
}

/* Writes the scales of the groups of a row of x, and the units. Returns false if the row needs
 * floating point. */
static bool arrange_fixed(const struct compressed_matrix *matrix, const float *x, float *to)
{
    const struct fixed_layout layout = fixed_layout_of(matrix);
    size_t group = matrix->group, per_unit = layout.groups_per_unit;
    int8_t *units = (int8_t *)(to + n_fixed_scales(&layout));
    for (size_t g = 0; g < layout.n_groups; g++)
        if (!find_scale(x + g * group, group, to + g))
            return false;
    for (size_t g = 0; g < layout.n_groups; g += per_unit, units += layout.unit_x_bytes)
        arrange_unit(matrix, &layout, x + g * group, to + g, units);
    return true;
}

/* ---- products ---- */

/* Of up to MAX_GROUPS groups of a row of the matrix: what the sums are multiplied by, for each row
 * of x, and the negative zero points. */
struct fixed_numbers {
    float factors[COMPRESSED_MAX_ROWS][MAX_GROUPS + VECTOR_LANES];
    int32_t zeros[MAX_GROUPS + VECTOR_LANES];
};

static void load_numbers(const struct group_params *numbers, size_t row, size_t first, size_t n,
                         float none, float *to)
{
    const float *from = numbers->data;
    if (from && numbers->dtype == IRRUN_F32 && numbers->group_step == 1) {
        from += row * numbers->row_step + first;
        for (size_t i = 0; i < n; i += VECTOR_LANES)
            vec_store(to + i,
                      vec_load_first(from + i, n - i < VECTOR_LANES ? n - i : VECTOR_LANES));
        return;
    }
    for (size_t i = 0; i < n; i++)
        to[i] = number_of(numbers, row, first + i, none);
}

/* `scales`: of x, from the first group on. */
static void find_numbers(const struct compressed_matrix *matrix, size_t row, size_t first, size_t n,
                         const float *scales, size_t m, struct fixed_numbers *numbers)
{
    float values[MAX_GROUPS + VECTOR_LANES];
    size_t x_row = compressed_row_floats(matrix);
    if (matrix->zero_points.data) {
        load_numbers(&matrix->zero_points, row, first, n, 0, values);
        for (size_t g = 0; g < n; g++)
            numbers->zeros[g] = -sign_of(matrix->dtype) - (int32_t)values[g];
    }
    load_numbers(&matrix->scales, row, first, n, 1, values);
    for (size_t i = 0; i < m; i++, scales += x_row)
        for (size_t g = 0; g < n; g += VECTOR_LANES)
            vec_store(&numbers->factors[i][g], vec_mul(vec_load(values + g), vec_load(scales + g)));
}

/* Adds the products of the digits of a block of x with the codes of a block. */
ALWAYS_INLINE void add_fixed_block(enum irrun_dtype dtype, vec_i32 codes, const int8_t *digits,
                                   vec_i32 sums[DIGITS])
{
    const vec_i32 halves = vec_i32_set1(0x0F0F0F0F);
    if (is_bytes(dtype)) {
        UNROLL
        for (size_t d = 0; d < DIGITS; d++)
            sums[d] = vec_i32_dot_u8(sums[d], codes, vec_i32_load(digits + d * BLOCK_BYTES));
        return;
    }
    UNROLL
    for (size_t d = 0; d < DIGITS; d++) {
        const int8_t *at = digits + d * BLOCK_BYTES;
        sums[d] = vec_i32_dot_u8(sums[d], codes & halves, vec_i32_load(at));
        sums[d] =
            vec_i32_dot_u8(sums[d], (codes >> 4) & halves, vec_i32_load(at + DIGITS * BLOCK_BYTES));
    }
}

/* Loads a block of codes of which n bytes are in the unit. */
ALWAYS_INLINE vec_i32 load_codes(enum irrun_dtype dtype, const unsigned char *at, size_t n)
{
    vec_i32 codes = n >= BLOCK_BYTES ? vec_i32_load(at) : vec_i32_load_bytes(at, n);
    if (dtype == IRRUN_I8)
        return codes ^ vec_i32_set1((int32_t)0x80808080);
    return dtype == IRRUN_I4 ? codes ^ vec_i32_set1((int32_t)0x88888888) : codes;
}

ALWAYS_INLINE vec join_digits(const vec_i32 sums[DIGITS])
{
    vec low = vec_fma(vec_of_i32(sums[1]), vec_set1(256), vec_of_i32(sums[2]));
    return vec_fma(vec_of_i32(sums[0]), vec_set1(65536), low);
}

/* Adds the products of n_units units of a row of the matrix, whose codes are at `codes`, and of m
 * rows of x to the totals. */
ALWAYS_INLINE void add_units(const struct fixed_layout *layout, enum irrun_dtype dtype,
                             const unsigned char *codes, const int8_t *unit, const size_t m,
                             size_t n_units, const struct fixed_numbers *numbers, bool has_zeros,
                             vec *totals)
{
    const size_t n_halves = is_bytes(dtype) ? 1 : 2, x_row = layout->x_row_bytes;
    const size_t unit_bytes = layout->unit_bytes, unit_x_bytes = layout->unit_x_bytes;
    const size_t per_unit = layout->groups_per_unit;
    const vec_i32 lanes = vec_i32_load(layout->lanes);
    for (size_t u = 0, g = 0; u < n_units; u++, g += per_unit, unit += unit_x_bytes) {
        vec_i32 sums[COMPRESSED_MAX_ROWS][DIGITS];
        UNROLL
        for (size_t i = 0; i < m * DIGITS; i++)
            sums[i / DIGITS][i % DIGITS] =
                vec_i32_load(unit + i / DIGITS * x_row + i % DIGITS * BLOCK_BYTES);
        if (has_zeros) {
            vec_i32 zero = per_unit > 1 ? (vec_i32)vec_lookup(vec_load(numbers->zeros + g), lanes)
                                        : vec_i32_set1(numbers->zeros[g]);
            UNROLL
            for (size_t i = 0; i < m * DIGITS; i++)
                sums[i / DIGITS][i % DIGITS] *= zero;
        }
        const int8_t *digits = unit + DIGITS * BLOCK_BYTES;
        for (size_t at = 0; at < unit_bytes; at += BLOCK_BYTES) {
            if (m == 1)
                __builtin_prefetch((const void *)((uintptr_t)codes + at + FIXED_BYTES_AHEAD), 0, 2);
            vec_i32 block = load_codes(dtype, codes + at, unit_bytes - at);
            UNROLL
            for (size_t i = 0; i < m; i++)
                add_fixed_block(dtype, block, digits + i * x_row, sums[i]);
            digits += n_halves * DIGITS * BLOCK_BYTES;
        }
        codes += unit_bytes;
        UNROLL
        for (size_t i = 0; i < m; i++) {
            vec factor = per_unit > 1 ? vec_lookup(vec_load(&numbers->factors[i][g]), lanes)
                                      : vec_set1(numbers->factors[i][g]);
            totals[i] = vec_fma(join_digits(sums[i]), factor, totals[i]);
        }
    }
}

/* As sum_rows, for one row of the matrix and rows of x in fixed point. */
ALWAYS_INLINE void sum_row_fixed(const struct compressed_product *p,
                                 const struct fixed_layout *layout, enum irrun_dtype dtype,
                                 size_t row, const size_t m, vec *totals)
{
    const struct compressed_matrix *matrix = p->matrix;
    const float *scales = p->x + COMPRESSED_HEAD;
    const int8_t *units = (const int8_t *)(scales + n_fixed_scales(layout));
    const unsigned char *codes = matrix->row + row * layout->row_bytes;
    size_t n_groups;
    struct fixed_numbers numbers;
    vec sums[COMPRESSED_MAX_ROWS];
    UNROLL
    for (size_t i = 0; i < m; i++)
        sums[i] = vec_zero();
    for (size_t first = 0; first < layout->n_groups; first += n_groups) {
        size_t left = layout->n_groups - first, n_units;
        n_groups = left < MAX_GROUPS ? left : MAX_GROUPS;
        n_units = n_groups >> layout->per_unit_log2;
        find_numbers(matrix, row, first, n_groups, scales + first, m, &numbers);
        add_units(layout, dtype, codes, units, m, n_units, &numbers, matrix->zero_points.data,
                  sums);
        codes += n_units * layout->unit_bytes;
        units += n_units * layout->unit_x_bytes;
    }
    UNROLL
    for (size_t i = 0; i < m; i++)
        totals[i] = sums[i];
}
