/* Checks products of bytes against their definition: numbers of rows and columns around a tile,
 * memory that ends at an unmapped page, and bytes that would saturate sums of 16 bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check_kernels.h"

struct problem {
    size_t m, n, k;                /* k: of a segment */
    const uint8_t *const *a_bytes; /* segments of A in bytes, also if the product has words */
    const int8_t *b_whole;         /* B as packed, before int8_excess_extract or int8_split_quads */
    struct guarded segments, a, b, c, start, row_start, scale, bias, low, high;
};

static void *alloc_guarded(struct guarded *guarded, size_t n_bytes)
{
    *guarded = guarded_new(n_bytes);
    return guarded_last(guarded, n_bytes);
}

/* The segments of a row follow each other in memory, the last one first. */
static struct problem problem_new(size_t m, size_t n, size_t k, size_t n_segments,
                                  struct int8_product *p)
{
    struct problem problem = {.m = m, .n = n, .k = k};
    size_t segment_bytes = int8_n_quads(k) * INT8_QUAD, columns = int8_n_groups(n) * INT8_GROUP;
    size_t n_quads = n_segments * int8_n_quads(k);
    const uint8_t **segments = alloc_guarded(&problem.segments, n_segments * sizeof *segments);
    uint8_t *a = alloc_guarded(&problem.a, m * n_quads * INT8_QUAD);
    int8_t *b = alloc_guarded(&problem.b, columns * n_quads * INT8_QUAD);
    int32_t *start = alloc_guarded(&problem.start, columns * sizeof *start);
    int32_t *row_start = alloc_guarded(&problem.row_start, m * sizeof *row_start);
    float *scale = alloc_guarded(&problem.scale, columns * sizeof *scale);
    float *bias = alloc_guarded(&problem.bias, columns * sizeof *bias);
    float *low = alloc_guarded(&problem.low, columns * sizeof *low);
    float *high = alloc_guarded(&problem.high, columns * sizeof *high);
    bool is_extreme = random_below(4) == 0;
    for (size_t i = 0; i < m * n_quads * INT8_QUAD; i++)
        a[i] = is_extreme ? UINT8_MAX : (uint8_t)random_below(256);
    memset(b, 0, columns * n_quads * INT8_QUAD);
    for (size_t row = 0; row < n_quads * INT8_QUAD; row++)
        for (size_t column = 0; column < n && row % segment_bytes < k; column++)
            b[int8_packed_index(n_quads, row, column)] =
                (int8_t)(is_extreme ? (int)random_below(2) * 255 - 128
                                    : (int)random_below(256) - 128);
    for (size_t i = 0; i < n_segments; i++)
        segments[i] = a + (n_segments - 1 - i) * segment_bytes;
    for (size_t column = 0; column < columns; column++) {
        start[column] = (int32_t)random_below(1 << 20) - (1 << 19);
        scale[column] = random_float(1e-3F);
        bias[column] = random_float(100) + 100;
        low[column] = (float)random_below(100);
        high[column] = low[column] + (float)random_below(155);
    }
    for (size_t row = 0; row < m; row++)
        row_start[row] = (int32_t)random_below(1 << 20);
    *p = (struct int8_product){.m = m,
                               .n = n,
                               .n_segments = n_segments,
                               .n_quads = int8_n_quads(k),
                               .end = int8_n_groups(n),
                               .a = segments,
                               .lda = n_quads * INT8_QUAD,
                               .b = b,
                               .start = start,
                               .row_start = row_start,
                               .requantization = {scale, bias, low, high},
                               .ldc = n};
    problem.a_bytes = segments;
    problem.b_whole = b;
    return problem;
}

static void problem_free(struct problem *problem)
{
    struct guarded *all[] = {
        &problem->segments,  &problem->a,     &problem->b,    &problem->c,   &problem->start,
        &problem->row_start, &problem->scale, &problem->bias, &problem->low, &problem->high};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        guarded_free(all[i]);
}

static int32_t sum_of(const struct problem *problem, const struct int8_product *p, size_t row,
                      size_t column)
{
    size_t k = problem->k;
    uint32_t sum = (uint32_t)p->start[column] + (uint32_t)p->row_start[row];
    size_t n_quads = p->n_segments * p->n_quads;
    for (size_t i = 0; i < p->n_segments * k; i++) {
        size_t b_row = i / k * p->n_quads * INT8_QUAD + i % k;
        sum += (uint32_t)(problem->a_bytes[i / k][row * n_quads * INT8_QUAD + i % k] *
                          problem->b_whole[int8_packed_index(n_quads, b_row, column)]);
    }
    return (int32_t)sum;
}

static bool is_right(const struct int8_product *p, int32_t sum, size_t row, size_t column)
{
    size_t at = row * p->ldc + column;
    const float *bias = p->row_biases ? p->row_biases[row] : p->requantization.bias;
    if (p->to == INT8_TO_I32)
        return ((const int32_t *)p->c)[at] == sum;
    volatile float scaled =
        (float)sum * p->requantization.scale[column]; /* rounded before the addition */
    float x = scaled + bias[column];
    float low = p->requantization.low[column], high = p->requantization.high[column];
    x = x < low ? low : x > high ? high : x;
    return p->to == INT8_TO_F32 ? ((const float *)p->c)[at] == x
                                : ((const uint8_t *)p->c)[at] == (uint8_t)nearbyintf(x);
}

/* Multiplies by tiles, and then by those of packed_gemm, which have another configuration. Releases
 * neither, so that the next product must configure its tiles again. */
static void use_tiles(const struct trial *trial, const struct int8_product *p)
{
    float a[1] = {0}, b[TILE_PAIRS * PANEL_GROUP] = {0}, c[PANEL_GROUP];
    trial->variant->gemm_int8->multiply(p);
    trial->variant->packed_gemm->tiles.multiply[1](
        &(struct gemm_args){.rows = 1, .k = 2, .b = b, .a = a, .lda = 1, .c = c, .ldc = 1});
}

static bool try_result(const struct trial *trial, struct problem *problem, struct int8_product *p,
                       enum int8_result to)
{
    size_t n_bytes = problem->m * problem->n * (to == INT8_TO_U8 ? 1 : 4);
    p->to = to;
    p->c = alloc_guarded(&problem->c, n_bytes);
    if (p->tile_rows > 0)
        use_tiles(trial, p);
    int8_multiply(trial->variant->gemm_int8, p);
    for (size_t at = 0; at < problem->m * problem->n; at++) {
        size_t row = at / problem->n, column = at % problem->n;
        if (!is_right(p, sum_of(problem, p, row, column), row, column))
            return trial_fail("result %d, row %zu, column %zu, tiles of %zu rows", (int)to, row,
                              column, p->tile_rows);
    }
    guarded_free(&problem->c);
    problem->c = (struct guarded){0};
    return true;
}

static bool try_wide(const struct trial *trial, struct problem *problem,
                     const struct int8_product *p)
{
    size_t m = problem->m, n = problem->n, k = problem->k;
    struct guarded a;
    int32_t *from = alloc_guarded(&a, m * k * sizeof *from),
            *c = alloc_guarded(&problem->c, m * n * sizeof *c);
    for (size_t i = 0; i < m * k; i++)
        from[i] = (int32_t)random_below(UINT32_MAX);
    trial->variant->gemm_int8->multiply_wide(&(struct int8_wide_product){
        .m = m,
        .n = n,
        .k = k,
        .end = p->end,
        .a = from,
        .b = p->b,
        .row_start = p->row_start,
        .c = c,
    });
    bool is_good = true;
    for (size_t at = 0; at < m * n && is_good; at++) {
        uint32_t sum = (uint32_t)p->row_start[at / n];
        for (size_t i = 0; i < k; i++)
            sum += (uint32_t)from[at / n * k + i] *
                   (uint32_t)p->b[int8_packed_index(p->n_quads, i, at % n)];
        is_good = c[at] == (int32_t)sum || trial_fail("wide, element %zu", at);
    }
    guarded_free(&a);
    return is_good;
}

static bool try_narrow(const struct trial *trial, size_t m, size_t k)
{
    size_t row_bytes = int8_n_quads(k) * INT8_QUAD;
    struct guarded a, b, c;
    int32_t *from = alloc_guarded(&a, m * k * sizeof *from), min;
    int32_t *sums = alloc_guarded(&c, m * sizeof *sums);
    uint8_t *to = alloc_guarded(&b, m * row_bytes);
    uint32_t origin = random_below(UINT32_MAX);
    for (size_t i = 0; i < m * k; i++)
        from[i] = (int32_t)(origin / 2 + random_below(256));
    bool is_good = trial->variant->gemm_int8->narrow(m, k, from, to, &min, sums) ||
                   trial_fail("narrow rejects a range of 255");
    for (size_t i = 0; i < m * row_bytes && is_good; i++) {
        int32_t x = i % row_bytes < k ? min + to[i] : to[i];
        int32_t wanted = i % row_bytes < k ? from[i / row_bytes * k + i % row_bytes] : 0;
        is_good = x == wanted || trial_fail("byte %zu", i);
    }
    for (size_t row = 0; row < m && is_good; row++) {
        uint32_t sum = 0;
        for (size_t i = 0; i < k; i++)
            sum += (uint32_t)from[row * k + i];
        is_good = sums[row] == (int32_t)sum || trial_fail("sum of row %zu", row);
    }
    from[0] = from[m * k - 1] < 0 ? from[m * k - 1] + 256 : from[m * k - 1] - 256;
    if (is_good && m * k > 1 && trial->variant->gemm_int8->narrow(m, k, from, to, &min, sums))
        is_good = trial_fail("narrow accepts a range above 255");
    guarded_free(&a);
    guarded_free(&b);
    guarded_free(&c);
    return is_good;
}

/* Makes the biases of rows: alternately the biases and the scales of the columns. */
static const float **make_row_biases(struct guarded *guarded, size_t m,
                                     const struct int8_product *p)
{
    const float **biases = alloc_guarded(guarded, m * sizeof *biases);
    for (size_t i = 0; i < m; i++)
        biases[i] = i % 2 ? p->requantization.scale : p->requantization.bias;
    return biases;
}

static bool try_results(const struct trial *trial, struct problem *problem, struct int8_product *p)
{
    return try_result(trial, problem, p, INT8_TO_I32) &&
           try_result(trial, problem, p, INT8_TO_F32) && try_result(trial, problem, p, INT8_TO_U8);
}

/* Multiplies by a copy of b after int8_excess_extract. */
static bool try_excess(const struct trial *trial, struct problem *problem, struct int8_product *p)
{
    size_t n_groups = int8_n_groups(p->n), n_quads = n_groups * p->n_segments * p->n_quads;
    size_t b_bytes = n_quads * INT8_GROUP * INT8_QUAD, n = int8_excess_count(p->b, n_quads);
    struct guarded b, begins, places, odd;
    struct int8_product less = *p;
    int8_t *copy = memcpy(alloc_guarded(&b, b_bytes), p->b, b_bytes);
    struct int8_excess to = {alloc_guarded(&begins, (n_groups + 1) * sizeof *to.begins),
                             alloc_guarded(&places, n * sizeof *to.places),
                             alloc_guarded(&odd, n * INT8_GROUP * sizeof *to.odd)};
    int8_excess_extract(copy, n_groups, p->n_segments, p->n_quads, &to);
    less.b = copy;
    less.excess = &to;
    bool is_good = int8_excess_count(copy, n_quads) == 0 || trial_fail("an excess is left");
    is_good = is_good && try_results(trial, problem, &less);
    struct guarded *all[] = {&b, &begins, &places, &odd};
    for (size_t i = 0; i < 4; i++)
        guarded_free(all[i]);
    return is_good;
}

/* Multiplies words by a copy of b after int8_split_quads. */
static bool try_words(const struct trial *trial, struct problem *problem,
                      const struct int8_product *p)
{
    size_t n_quads = int8_n_groups(p->n) * p->n_segments * p->n_quads;
    size_t b_bytes = n_quads * INT8_GROUP * INT8_QUAD, n = problem->m * p->lda;
    struct guarded b, words, segments;
    struct int8_product p_words = *p;
    int8_t *copy = memcpy(alloc_guarded(&b, b_bytes), p->b, b_bytes);
    uint16_t *a = alloc_guarded(&words, n * sizeof *a);
    const uint8_t **at = alloc_guarded(&segments, p->n_segments * sizeof *at);
    const uint8_t *first = p->a[p->n_segments - 1];
    int8_split_quads(copy, n_quads);
    trial->variant->gemm_int8->widen(n, first, a);
    for (size_t i = 0; i < p->n_segments; i++)
        at[i] = (const uint8_t *)(a + (p->a[i] - first));
    p_words.a = at;
    p_words.lda = 2 * p->lda;
    p_words.b = copy;
    p_words.has_words = true;
    bool is_good = try_results(trial, problem, &p_words);
    struct guarded *all[] = {&b, &words, &segments};
    for (size_t i = 0; i < 3; i++)
        guarded_free(all[i]);
    return is_good;
}

static bool try_sizes(const struct trial *trial, size_t m, size_t n, size_t k)
{
    struct int8_product p;
    size_t n_segments = k < 60 ? 1 + random_below(3) : 1;
    struct problem problem = problem_new(m, n, k, n_segments, &p);
    struct guarded biases;
    const float **row_biases = make_row_biases(&biases, m, &p);
    p.row_biases = random_below(2) ? row_biases : NULL;
    trial_says("m=%zu n=%zu k=%zu segments=%zu", m, n, k, n_segments);
    bool is_good = try_results(trial, &problem, &p) &&
                   (n_segments > 1 || try_wide(trial, &problem, &p)) && try_narrow(trial, m, k);
    if (is_good && tiles_request(trial->variant->gemm_int8->tiles_end)) {
        p.tile_rows = 1 + random_below((uint32_t)(m < TILE_ROWS ? m : TILE_ROWS));
        is_good = try_results(trial, &problem, &p);
    }
    if (is_good && trial->variant->gemm_int8->adds_pairs)
        is_good = try_excess(trial, &problem, &p) && try_words(trial, &problem, &p);
    problem_free(&problem);
    guarded_free(&biases);
    return is_good;
}

bool check_gemm_int8(const struct trial *trial)
{
    for (size_t m = 1; m <= 14; m++)
        for (size_t n = 1; n <= 80; n += 1 + random_below(13))
            if (!try_sizes(trial, m, n, 1 + random_below(70)))
                return false;
    return try_sizes(trial, 7, 33, 1000) && try_sizes(trial, 1, 200, 513) &&
           try_sizes(trial, 40, 64, 200) && check_int8_depthwise(trial) &&
           check_int8_winograd(trial);
}

static void multiply(const void *context)
{
    const struct trial *trial = ((const void *const *)context)[0];
    int8_multiply(trial->variant->gemm_int8, ((const void *const *)context)[1]);
}

void measure_gemm_int8(const struct trial *trial)
{
    static const size_t sizes[][3] = {{1, 512, 512}, {16, 512, 512}, {2304, 32, 144}};
    for (size_t i = 0; i < 3; i++) {
        size_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        struct int8_product p;
        struct problem problem = problem_new(m, n, k, 1, &p);
        p.c = alloc_guarded(&problem.c, m * n * 4);
        p.tile_rows =
            int8_tile_rows(trial->variant->gemm_int8, m, p.n_quads, (double)(m * n * p.n_quads));
        char what[64];
        snprintf(what, sizeof what, "%zux%zux%zu i8", m, k, n);
        double seconds = measure_s(multiply, (const void *[]){trial, &p});
        measure_line(what, seconds, m * k + n * k + 4 * m * n);
        problem_free(&problem);
    }
    measure_int8_winograd(trial);
}
