/* Checks products by packed matrices against sums in double, and each row against the product of
 * this row alone, whose bits must be the same. check_recurrent_cells.c checks the cells.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"
#include "tensor/half.h"

#define POISON (-12345.0F)

/* ---- products ---- */

struct problem {
    struct packed_matrix packed_b;
    size_t n_columns, rows, lda, ldc;
    enum weight_type type;
    float *a, *c, *one_row;
    const float *rounded; /* a, rounded if the product requires it */
    float *source;        /* [columns][k], representable in the type */
    struct guarded data, factors, rounded_factors;
};

static bool lay_out(const struct trial *trial, struct problem *problem, size_t k, size_t width,
                    size_t rows, size_t stream_rows)
{
    const struct gemm_microkernels *kernels = trial->variant->packed_gemm;
    struct packed_matrix *packed_b = &problem->packed_b;
    size_t size_bytes;

    *packed_b = (struct packed_matrix){.k = k, .n_panels = 1 + random_below(2), .width = width};
    packed_matrix_set_type(packed_b, kernels, problem->type);
    if (!packed_matrix_layout(packed_b, kernels, stream_rows, &size_bytes))
        return false;
    problem->n_columns = packed_b->n_panels * width * PANEL_GROUP;
    problem->rows = rows;
    problem->lda = k + random_below(3);
    problem->ldc = problem->n_columns + random_below(3);
    problem->data = guarded_new(size_bytes);
    packed_b->data = guarded_last(&problem->data, size_bytes);
    return true;
}

/* Returns the number rounded to the type, and sets *bits to its 16 bits. */
static float narrow(enum weight_type type, float value, uint16_t *bits)
{
    *bits = type == WEIGHTS_BF16 ? bf16_from_f32(value) : f16_from_f32(value);
    return type == WEIGHTS_BF16  ? bf16_to_f32(*bits)
           : type == WEIGHTS_F16 ? f16_to_f32(*bits)
                                 : value;
}

/* Rounds a if the product requires it. */
static void round_factors(struct problem *problem)
{
    const struct packed_matrix *packed_b = &problem->packed_b;
    size_t n = (packed_b->k + packed_b->step_k - 1) / packed_b->step_k;

    problem->rounded = problem->a;
    if (!packed_b->round)
        return;
    size_t n_bytes = ((problem->rows - 1) * problem->lda + n) * sizeof(float);
    problem->rounded_factors = guarded_new(n_bytes);
    float *rounded = (void *)guarded_last(&problem->rounded_factors, n_bytes);
    for (size_t row = 0; row < problem->rows; row++)
        packed_b->round(problem->a + row * problem->lda, rounded + row * problem->lda, packed_b->k);
    problem->rounded = rounded;
}

static void fill(struct problem *problem)
{
    struct packed_matrix *packed_b = &problem->packed_b;
    size_t n_factors = problem->rows * problem->lda - (problem->lda - packed_b->k);
    size_t n_source = problem->n_columns * packed_b->k;

    problem->factors = guarded_new(n_factors * sizeof(float) + 4);
    problem->a = (void *)guarded_last(&problem->factors, n_factors * sizeof(float));
    for (size_t i = 0; i < n_factors; i++)
        problem->a[i] = random_float(1.0F);
    round_factors(problem);
    problem->source = malloc((n_source + 1) * sizeof(float));
    uint16_t *halves = malloc((n_source + 1) * sizeof(uint16_t));
    for (size_t i = 0; i < n_source; i++) {
        problem->source[i] = narrow(problem->type, random_float(0.5F), &halves[i]);
    }
    for (size_t column = 0; column < problem->n_columns; column += PANEL_GROUP) {
        size_t group = column / PANEL_GROUP;
        const void *from = problem->type != WEIGHTS_F32
                               ? (const void *)(halves + column * packed_b->k)
                               : (const void *)(problem->source + column * packed_b->k);
        packed_matrix_pack_group(packed_b, (void *)packed_b->data, group / packed_b->width,
                                 group % packed_b->width, from, problem->type, packed_b->k,
                                 PANEL_GROUP);
    }
    free(halves);
    problem->c = malloc(problem->rows * problem->ldc * sizeof(float));
    problem->one_row = malloc(problem->ldc * sizeof(float));
}

static void release(struct problem *problem)
{
    guarded_free(&problem->data);
    guarded_free(&problem->factors);
    if (problem->packed_b.round)
        guarded_free(&problem->rounded_factors);
    free(problem->source);
    free(problem->c);
    free(problem->one_row);
}

static float addend(size_t column)
{
    return 0.25F * (float)(column % 7) - 0.5F;
}

static void multiply(const struct problem *problem, size_t first_row, size_t rows, float *c)
{
    float add[PANEL_MAX_WIDTH * PANEL_GROUP];
    for (size_t i = 0; i < rows * problem->ldc; i++)
        c[i] = POISON;
    for (size_t panel = 0; panel < problem->packed_b.n_panels; panel++) {
        size_t columns = problem->packed_b.width * PANEL_GROUP;
        for (size_t j = 0; j < columns; j++)
            add[j] = addend(panel * columns + j);
        packed_gemm_panel(&problem->packed_b, &(struct panel_product){
                                                  .panel = panel,
                                                  .rows = rows,
                                                  .a = problem->rounded + first_row * problem->lda,
                                                  .lda = problem->lda,
                                                  .add = add,
                                                  .c = c + panel * columns,
                                                  .ldc = problem->ldc,
                                              });
    }
}

static bool compare_element(const struct problem *problem, size_t row, size_t column, float add)
{
    size_t k = problem->packed_b.k;
    const float *a = problem->a + row * problem->lda, *w = problem->source + column * k;
    double sum = 0, size = 1;

    for (size_t i = 0; i < k; i++) {
        double factor =
            (double)(problem->type == WEIGHTS_BF16 ? bf16_to_f32(bf16_from_f32(a[i])) : a[i]);
        sum += factor * (double)w[i];
        size += fabs(factor * (double)w[i]);
    }
    double got = (double)problem->c[row * problem->ldc + column];
    double expected = sum + (double)add;
    if (fabs(got - expected) <= 2e-7 * size * sqrt((double)(k + 4)))
        return true;
    return trial_fail("row %zu, column %zu: %.9g, expected %.9g", row, column, got, expected);
}

static bool compare(const struct problem *problem)
{
    for (size_t row = 0; row < problem->rows; row++) {
        const float *c = problem->c + row * problem->ldc;
        for (size_t j = problem->n_columns; j < problem->ldc; j++)
            if (c[j] != POISON)
                return trial_fail("row %zu: written behind the columns", row);
        for (size_t j = 0; j < problem->n_columns; j++)
            if (!compare_element(problem, row, j, addend(j)))
                return false;
        multiply(problem, row, 1, problem->one_row);
        if (memcmp(problem->one_row, c, problem->n_columns * sizeof(float)) != 0)
            return trial_fail("row %zu has other bits if it is multiplied alone", row);
    }
    return true;
}

static const char *const type_names[] = {" f32", " f16", " bf16"};

static bool try_product(const struct trial *trial, size_t k, size_t width, size_t rows,
                        enum weight_type type)
{
    struct problem problem = {.type = type};
    size_t stream_rows = 1 + random_below(14);

    trial_says("k=%zu width=%zu rows=%zu stream for %zu%s", k, width, rows, stream_rows,
               type == WEIGHTS_F32 ? "" : type_names[type]);
    if (!lay_out(trial, &problem, k, width, rows, stream_rows))
        return trial_fail("no layout");
    fill(&problem);
    multiply(&problem, 0, rows, problem.c);
    bool is_good = compare(&problem);
    release(&problem);
    return is_good;
}

static bool check_products(const struct trial *trial)
{
    static const size_t widths[] = {2, 4, 6},
                        depths[] = {0, 1, 2, 3, 7, 16, 33, 100, 511, 513, 1025};
    enum {
        N_WIDTHS = sizeof widths / sizeof widths[0],
        N_DEPTHS = sizeof depths / sizeof depths[0]
    };

    for (size_t rows = 1; rows <= 28; rows++)
        for (size_t i = 0; i < N_WIDTHS; i++)
            for (enum weight_type type = WEIGHTS_F32; type <= WEIGHTS_BF16; type++)
                if (!try_product(trial, depths[(rows + i) % 8], widths[i], rows, type))
                    return false;
    for (size_t i = 0; i < N_DEPTHS; i++)
        for (enum weight_type type = WEIGHTS_F32; type <= WEIGHTS_BF16; type++)
            if (!try_product(trial, depths[i], widths[i % N_WIDTHS], 1 + random_below(14), type))
                return false;
    return true;
}

/* ---- whole matrices ---- */

/* Packs n columns of a group, from [n][k] or from [k][16]. */
static void pack_matrix_group(const struct problem *problem, size_t group, size_t n,
                              bool is_transposed)
{
    const struct packed_matrix *packed_b = &problem->packed_b;
    size_t k = packed_b->k, size = problem->type == WEIGHTS_F32 ? 4 : 2;
    const float *columns = problem->source + group * 16 * k;
    unsigned char *from = malloc((16 * k + 1) * sizeof(float));

    for (size_t i = 0; i < 16 * k; i++) {
        uint16_t bits;
        float value = narrow(problem->type, columns[i], &bits);
        memcpy(from + (is_transposed ? i : i % k * 16 + i / k) * size,
               size == 4 ? (const void *)&value : (const void *)&bits, size);
    }
    if (is_transposed)
        packed_matrix_pack_group(packed_b, (void *)packed_b->data, group / 4, group % 4, from,
                                 problem->type, k, n);
    else
        packed_matrix_pack_columns(packed_b, (void *)packed_b->data, group / 4, group % 4, from,
                                   problem->type, 16, n);
    free(from);
}

/* Weights are [k][n] or [n][k], with any n. Elements of c between two rows must not change. */
static bool try_matrix(const struct trial *trial, size_t m, size_t n, size_t k, bool is_transposed,
                       enum weight_type type)
{
    struct problem problem = {.type = type};
    struct packed_matrix *packed_b = &problem.packed_b;
    size_t left;

    trial_says("m=%zu n=%zu k=%zu%s%s", m, n, k, type_names[type],
               is_transposed ? " transposed" : "");
    if (!lay_out(trial, &problem, k, 4, m, m))
        return trial_fail("no layout");
    n = n < problem.n_columns ? n : problem.n_columns;
    left = n;
    fill(&problem);
    for (size_t group = 0; group < packed_b->n_panels * 4; group++, left -= left < 16 ? left : 16)
        pack_matrix_group(&problem, group, left < 16 ? left : 16, is_transposed);
    for (size_t i = 0; i < m * problem.ldc; i++)
        problem.c[i] = POISON;
    packed_gemm(packed_b, &(struct packed_gemm){.begin = 0,
                                                .end = (n + 63) / 64,
                                                .m = m,
                                                .n = n,
                                                .a = problem.a,
                                                .lda = problem.lda,
                                                .c = problem.c,
                                                .ldc = problem.ldc});
    bool is_good = true;
    for (size_t i = 0; is_good && i < m * problem.ldc; i++) {
        size_t row = i / problem.ldc, column = i % problem.ldc;
        is_good = column < n ? compare_element(&problem, row, column, 0.0F)
                             : problem.c[i] == POISON || trial_fail("row %zu is too long", row);
    }
    release(&problem);
    return is_good;
}

static bool check_matrices(const struct trial *trial)
{
    for (int i = 0; i < 120; i++)
        if (!try_matrix(trial, 1 + random_below(120), 1 + random_below(128), 1 + random_below(40),
                        i % 2, (enum weight_type)(i / 2 % 3)))
            return false;
    for (int i = 0; i < 12; i++) /* of more than one block of terms */
        if (!try_matrix(trial, 1 + random_below(40), 1 + random_below(70), 500 + random_below(600),
                        i % 2, (enum weight_type)(i / 2 % 3)))
            return false;
    return true;
}

bool check_packed_gemm(const struct trial *trial)
{
    return check_recurrent_cells(trial) && check_products(trial) && check_matrices(trial);
}

/* ---- speed ---- */

static void multiply_all(const void *context)
{
    const struct problem *problem = context;
    for (size_t panel = 0; panel < problem->packed_b.n_panels; panel++) {
        size_t columns = problem->packed_b.width * PANEL_GROUP;
        packed_gemm_panel(&problem->packed_b, &(struct panel_product){
                                                  .panel = panel,
                                                  .rows = problem->rows,
                                                  .a = problem->rounded,
                                                  .lda = problem->lda,
                                                  .add = problem->source,
                                                  .c = problem->c + panel * columns,
                                                  .ldc = problem->ldc,
                                              });
    }
}

void measure_packed_gemm(const struct trial *trial)
{
    static const size_t rows[] = {1, 2, 4, 8, 12, 96}, depths[] = {64, 512};
    const struct gemm_microkernels *kernels = trial->variant->packed_gemm;
    const bool has_type[] = {true, kernels->has_f16, kernels->round_pairs != NULL};
    for (enum weight_type type = WEIGHTS_F32; type <= WEIGHTS_BF16; type++) {
        if (!has_type[type])
            continue;
        for (size_t i = 0; i < 12; i++) {
            size_t k = depths[i % 2], n = rows[i / 2];
            struct problem problem = {.type = type};
            if (!lay_out(trial, &problem, k, 4, n, n))
                return;
            problem.lda = k + PANEL_GROUP;
            fill(&problem);
            double seconds = measure_s(multiply_all, &problem);
            double flops = 2.0 * (double)(n * k * problem.n_columns);
            printf("# %3zu x %3zu x %3zu%s  %7.2f us  %6.1f GFLOP/s\n", n, k, problem.n_columns,
                   type_names[type], seconds * 1e6, flops / seconds * 1e-9);
            release(&problem);
        }
    }
    measure_recurrent(trial);
}
