/* kernels/recurrent against known results of six decimals, in f32 and f64: a masked LSTMSequence
 * computed in double, and the cases of OpenVINO's lstm_cell test.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu.h"
#include "recurrent_engine.h"

enum { MAX_FLOATS = 128 };

static const struct recurrent_activation defaults[3] = {
    {.function = RECURRENT_SIGMOID},
    {.function = RECURRENT_TANH},
    {.function = RECURRENT_TANH},
};

static const float *to_f32(const double *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (float)from[i];
    return to;
}

static void run_f32(const struct recurrent *common, const struct recurrent_f64_tensors *tensors,
                    gemm_f32_fn *gemm)
{
    static float x[MAX_FLOATS], h0[MAX_FLOATS], c0[MAX_FLOATS], w[MAX_FLOATS], r[MAX_FLOATS];
    static float b[MAX_FLOATS], y[MAX_FLOATS], ho[MAX_FLOATS], co[MAX_FLOATS];
    struct recurrent_f32 engine = engine_of(common, simd_best(), gemm);
    size_t rows = common->n_directions * 4 * common->hidden_size;
    size_t n_state = common->batch * common->n_directions * common->hidden_size;

    const struct recurrent_weights weights = {
        .w = to_f32(tensors->w, rows * common->input_size, w),
        .r = to_f32(tensors->r, rows * common->hidden_size, r),
        .b = tensors->b != NULL ? to_f32(tensors->b, rows, b) : NULL,
    };
    engine_pack(&engine, &weights);
    engine_run(&engine,
               &(struct recurrent_f32_tensors){
                   .x = to_f32(tensors->x, common->batch * common->n_steps * common->input_size, x),
                   .h0 = to_f32(tensors->h0, n_state, h0),
                   .c0 = to_f32(tensors->c0, n_state, c0),
                   .lengths = tensors->lengths,
                   .w = w,
                   .r = r,
                   .y = y,
                   .ho = ho,
                   .co = co,
               },
               0, NULL);
    engine_free(&engine);
    for (size_t i = 0; i < n_state * common->n_steps; i++)
        tensors->y[i] = (double)y[i];
    for (size_t i = 0; i < n_state; i++) {
        tensors->ho[i] = (double)ho[i];
        tensors->co[i] = (double)co[i];
    }
}

/* which: 0 f64, 1 f32 on plain loops, 2 f32 on CBLAS, 3 f32 with packed weights */
enum { N_ENGINES = 4 };
static void run(int which, const struct recurrent *common,
                const struct recurrent_f64_tensors *tensors)
{
    if (which == 0) {
        void *scratch = malloc(recurrent_f64_scratch_bytes(common));
        assert_non_null(scratch);
        recurrent_f64_run(common, tensors, scratch);
        free(scratch);
    } else {
        run_f32(common, tensors, which == 1 ? gemm_plain_f32 : which == 2 ? gemm_cblas_f32 : NULL);
    }
}

static void assert_near(const double *computed, const double *expected, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(computed[i] - expected[i]) <= 2e-6);
}

/* ---- a batch of lengths 3, 1 and 0 -------------------------------------------------------- */

#define FORWARD_B0 .047009, -.359202, .088923, -.359612, .142711, -.298323
#define FORWARD_B1 .110227, -.163151, 0, 0, 0, 0
#define REVERSE_B0 .067686, -.408907, .089153, -.314519, .098799, -.230497
#define SECOND_B0 .026249, -.551842, .048867, -.424985, .074101, -.297690
#define SECOND_B1 .106693, -.193739, 0, 0, 0, 0
#define ZEROS 0, 0, 0, 0, 0, 0

struct masked_golden {
    size_t n_directions;
    bool is_reverse;
    double y[36], ho[12], co[12]; /* [3][D][3][2], [3][D][2] */
};

static const struct masked_golden masked_goldens[] = {
    {1,
     false,
     {FORWARD_B0, FORWARD_B1, ZEROS},
     {.142711, -.298323, .110227, -.163151, 0, 0},
     {.613394, -.440726, .300708, -.285645, 0, 0}},
    {1,
     true,
     {REVERSE_B0, FORWARD_B1, ZEROS},
     {.067686, -.408907, .110227, -.163151, 0, 0},
     {.664366, -.507371, .300708, -.285645, 0, 0}},
    {2,
     false,
     {FORWARD_B0, SECOND_B0, FORWARD_B1, SECOND_B1, ZEROS, ZEROS},
     {.142711, -.298323, .026249, -.551842, .110227, -.163151, .106693, -.193739, 0, 0, 0, 0},
     {.613394, -.440726, .664536, -.663317, .300708, -.285645, .333371, -.318718, 0, 0, 0, 0}},
};

static void check_masked(const struct masked_golden *golden, int which)
{
    static const double h0[] = {.5, -.5, .5, -.5, .5, -.5, .5, -.5, .5, -.5, .5, -.5};
    static const double c0[] = {.25, -.25, .25, -.25, .25, -.25, .25, -.25, .25, -.25, .25, -.25};
    static const size_t lengths[] = {3, 1, 0};
    double x[18], w[32], r[32], b[16], y[36], ho[12], co[12];
    struct recurrent common = {.kind = RECURRENT_LSTM,
                               .batch = 3,
                               .n_steps = 3,
                               .input_size = 2,
                               .hidden_size = 2,
                               .n_directions = golden->n_directions,
                               .is_reverse = golden->is_reverse,
                               .clip = INFINITY,
                               .slots = {0, 1, 2, 3}};
    memcpy(common.activations, defaults, sizeof defaults);

    for (int i = 0; i < 18; i++)
        x[i] = i % 6 / 2 < (int)lengths[i / 6] ? 0.25 * (i - 8) : NAN;
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < 16; i++) {
            w[d * 16 + i] = (i % 7 - 3) * (0.2 + 0.1 * d);
            r[d * 16 + i] = (i % 7 - 3) * (0.1 + 0.05 * d);
        }
        for (int k = 0; k < 8; k++)
            b[d * 8 + k] = (k % 5 - 2) * 0.1;
    }
    run(which, &common,
        &(struct recurrent_f64_tensors){x, h0, c0, lengths, w, r, b, NULL, y, ho, co});
    assert_near(y, golden->y, golden->n_directions * 18);
    assert_near(ho, golden->ho, golden->n_directions * 6);
    assert_near(co, golden->co, golden->n_directions * 6);
}

static void masked_sequences_match_in_all_directions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof masked_goldens / sizeof masked_goldens[0]; i++)
        for (int which = 0; which < N_ENGINES; which++)
            check_masked(&masked_goldens[i], which);
}

/* ---- LSTMCell ----------------------------------------------------------------------------- */

static const double cell_x[] = {.81342685, .84108883, .8152282, .46893653, .0901856, .37088776};
static const double cell_h[] = {.77956, .5331557, .04297554, .7962175, .7635707, .11989366};
static const double cell_c[] = {.8488452, .18851636, .5020695, .29716516, .06740791, .45384037};
static const double cell_w[] = {
    .33330739,  .00036229487, .4677366,  .43046016, .073950343, .38063636, .96921772,  .96897459,
    .62964785,  .31134409,    .84709978, .94928098, .61676943,  .66020679, .19072217,  .088032126,
    .40472135,  .68342745,    .83432144, .4492819,  .79524308,  .53966165, .85936421,  .83136767,
    .055125546, .47791195,    .35788772, .67507404, .21716513,  .27473119, .033999152, .96835363,
    .37581277,  .24026,       .67418844, .34199652};
static const double cell_r[] = {.0987983,  .52032113, .5848073,  .5356095,  .74497133, .73260087,
                                .1700787,  .45684233, .1495722,  .42734373, .4433832,  .25906256,
                                .03854987, .47480518, .37215272, .99890584, .74019486, .3518967,
                                .6881257,  .8170279,  .54088944, .81225616, .14619833, .42941234,
                                .86843914, .45967972, .6237719,  .11074839, .6029616,  .3149305,
                                .46504205, .5843412,  .8733427,  .7687243,  .07074859, .39188156};
static const double cell_bias[] = {1.07393714, 1.15248052, 1.16671345, .21450312,
                                   1.2380678,  1.51688835, .46718366,  .91810346,
                                   1.1274234,  .51022074,  1.11389844, .74174305};

static const struct cell_golden {
    bool is_iofc, has_bias;
    double clip, ho[6], co[6];
} cell_goldens[] = {
    {true,
     false,
     INFINITY,
     {.814571, .611092, .769522, .522397, .432464, .631830},
     {1.444495, .963568, 1.287527, .805342, .718452, .958033}},
    {false,
     false,
     INFINITY,
     {.726757, .646247, .728288, .548544, .452299, .585029},
     {1.528264, .965768, 1.301017, .962702, .683124, 1.091395}},
    {false,
     true,
     INFINITY,
     {.810144, .766655, .825090, .647914, .665863, .748386},
     {1.680016, 1.115021, 1.457837, 1.064989, .937618, 1.365968}},
    {false,
     true,
     3.5,
     {.810144, .766655, .823874, .647914, .665863, .748386},
     {1.680016, 1.115021, 1.451097, 1.064989, .937618, 1.365968}},
};

static void check_cell(const struct cell_golden *golden, int which)
{
    static const uint8_t fico[] = {0, 1, 2, 3}, iofc[] = {2, 0, 3, 1};
    double y[6], ho[6], co[6];
    struct recurrent common = {.kind = RECURRENT_LSTM,
                               .batch = 2,
                               .n_steps = 1,
                               .input_size = 3,
                               .hidden_size = 3,
                               .n_directions = 1,
                               .clip = golden->clip};
    memcpy(common.activations, defaults, sizeof defaults);
    memcpy(common.slots, golden->is_iofc ? iofc : fico, sizeof common.slots);

    run(which, &common,
        &(struct recurrent_f64_tensors){.x = cell_x,
                                        .h0 = cell_h,
                                        .c0 = cell_c,
                                        .w = cell_w,
                                        .r = cell_r,
                                        .b = golden->has_bias ? cell_bias : NULL,
                                        .y = y,
                                        .ho = ho,
                                        .co = co});
    assert_near(ho, golden->ho, 6);
    assert_near(co, golden->co, 6);
    assert_memory_equal(y, ho, sizeof y);
}

static void cells_match_the_test_of_openvino(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cell_goldens / sizeof cell_goldens[0]; i++)
        for (int which = 0; which < N_ENGINES; which++)
            check_cell(&cell_goldens[i], which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_sequences_match_in_all_directions),
        cmocka_unit_test(cells_match_the_test_of_openvino),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
