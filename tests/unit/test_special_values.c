/* Special values have the same effect as in the scalar loops. All cases and models run with NaN,
 * infinities, -0 and denormals in their inputs, at every SIMD level, fused and op by op, with every
 * kind of product. The outputs must have NaN and infinities where those of the scalar run have
 * them, zeros of the same sign, and other numbers within the tolerance of the case. Models that
 * compute in bytes lose NaN and -0, so their fused runs are compared with each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <float.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "case_records.h"
#include "kernels/kernels.h"

#define MAX_RECORDS 4 /* of a stack */

static size_t n_cases, n_covered, n_refused, n_runs, n_differences;
static size_t n_nan, n_infinite, n_zeros, n_others;

/* ---- inputs ------------------------------------------------------------------------------- */

enum special { PUT_NAN, PUT_INF, PUT_MINUS_INF, PUT_MINUS_0, PUT_DENORMAL, N_SPECIALS };

/* One special value at one position of an input, or many in all inputs. */
struct trial {
    enum special special;
    size_t input, place; /* place: an element, modulo their number */
    size_t period;       /* 0: one value; 1: all elements; n: every n-th, with all values in turn */
};

static const char *describe(const struct trial *trial)
{
    static const char *const names[] = {"NaN", "inf", "-inf", "-0", "a denormal"};
    static char text[128];
    if (trial->period == 0)
        snprintf(text, sizeof text, "%s at place %zu of input %zu", names[trial->special],
                 trial->place, trial->input);
    else if (trial->period == 1)
        snprintf(text, sizeof text, "%s everywhere", names[trial->special]);
    else
        snprintf(text, sizeof text, "one of each in turn at every %zuth place, %s first",
                 trial->period, names[trial->special]);
    return text;
}

/* Sets trial `number` of a case; returns false if there are no more. */
static bool choose_trial(size_t n_inputs, size_t number, struct trial *trial)
{
    static const size_t places[] = {0, 2654435761}, periods[] = {1, 3, 11};
    size_t n_singles = n_inputs * N_SPECIALS * 2;
    *trial = (struct trial){.special = number % N_SPECIALS};
    number /= N_SPECIALS;
    if (number < n_singles / N_SPECIALS) {
        trial->input = number % n_inputs;
        trial->place = places[number / n_inputs] * (1 + trial->special);
        return true;
    }
    number -= n_singles / N_SPECIALS;
    if (number < 3)
        trial->period = periods[number];
    return number < 3;
}

static double denormal_of(enum irrun_dtype dtype)
{
    switch (dtype) {
    case IRRUN_F64:
        return 3e-310;
    case IRRUN_F16:
    case IRRUN_F8E5M2:
        return 0x3p-17;
    case IRRUN_F8E4M3:
        return 0x3p-9;
    default:
        return 3e-39;
    }
}

static bool can_hold(enum irrun_dtype dtype)
{
    return dtype_is_float(dtype) || dtype == IRRUN_F8E5M2 || dtype == IRRUN_F8E4M3;
}

/* Puts the special values of a trial into an input. Returns false if they do not change it. */
static bool put_trial(const struct input_records *input, size_t number, const struct trial *trial)
{
    enum irrun_dtype dtype = input->record.dtype;
    size_t n = input->n_elements;
    if (!input->record.data || n == 0 || !can_hold(dtype) ||
        (trial->period == 0 && number != trial->input))
        return false;
    const double values[N_SPECIALS] = {NAN, INFINITY, -INFINITY, -0.0, denormal_of(dtype)};
    const size_t size = dtype_size(dtype);
    char elements[N_SPECIALS * sizeof(double)], *data = input->record.data;
    convert_elements(IRRUN_F64, values, dtype, elements, N_SPECIALS);
    if (trial->period == 0)
        memcpy(data + trial->place % n * size, elements + trial->special * size, size);
    for (size_t i = 0; trial->period > 0 && i < n; i += trial->period) {
        size_t turn = trial->period > 1 ? i / trial->period : 0;
        memcpy(data + i * size, elements + (trial->special + turn) % N_SPECIALS * size, size);
    }
    return true;
}

/* ---- outputs ------------------------------------------------------------------------------ */

/* All outputs of all records of a trial. */
struct outcome {
    struct irrun_tensor *outputs;
    size_t n;
    bool is_refused; /* a record failed */
};

static void outcome_free(struct outcome *outcome)
{
    for (size_t i = 0; i < outcome->n; i++)
        free(outcome->outputs[i].data);
    free(outcome->outputs);
}

/* Runs the records from the initial state on. */
static void run_records(struct irrun_session *session, size_t n_outputs,
                        const struct case_records *records, struct outcome *outcome)
{
    struct irrun_error err;
    size_t n = records->n < MAX_RECORDS ? records->n : MAX_RECORDS;
    *outcome = (struct outcome){.outputs = calloc(n * n_outputs + 1, sizeof *outcome->outputs)};
    assert_non_null(outcome->outputs);
    irrun_session_reset(session);
    for (size_t r = 0; r < n; r++) {
        outcome->is_refused =
            !records_set(records, r, session, &err) || !irrun_session_run(session, &err);
        if (outcome->is_refused)
            break;
        for (size_t i = 0; i < n_outputs; i++) {
            const struct irrun_tensor *output = irrun_session_output(session, i);
            struct irrun_tensor *kept = &outcome->outputs[outcome->n++];
            *kept = *output;
            kept->data = malloc(tensor_n_bytes(output) + 1);
            assert_non_null(kept->data);
            memcpy(kept->data, output->data, tensor_n_bytes(output));
        }
    }
    n_runs++;
}

static void count_numbers(const struct outcome *outcome)
{
    n_refused += outcome->is_refused;
    for (size_t k = 0; k < outcome->n; k++) {
        const struct irrun_tensor *output = &outcome->outputs[k];
        for (size_t i = 0; i < (size_t)shape_n_elements(&output->shape); i++) {
            double x = element_as_f64(output->dtype, output->data, i);
            *(isnan(x) ? &n_nan : isinf(x) ? &n_infinite : x == 0 ? &n_zeros : &n_others) += 1;
        }
    }
}

/* ---- cases -------------------------------------------------------------------------------- */

struct way {
    const char *simd;
    enum irrun_gemm gemm;
    bool keeps_ops;
};

struct special_case {
    const char *directory;
    double atol, rtol;
    struct outcome *wanted; /* [n_wanted]: of the scalar runs, in the order of the trials */
    size_t n_wanted;
};

/* The tolerance of denormals, which would fail if they were flushed to zero. */
#define DENORMAL_ATOL (1000 * (double)FLT_TRUE_MIN)

static bool is_alike(const struct special_case *c, enum irrun_dtype dtype, double want, double got)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (isinf(want) || isinf(got))
        return want == got;
    if (want == 0 && got == 0)
        return !signbit(want) == !signbit(got);
    bool is_denormal = dtype == IRRUN_F32 && want != 0 && fabs(want) < (double)FLT_MIN;
    double atol = is_denormal ? DENORMAL_ATOL : 2 * c->atol;
    return fabs(want - got) <= atol + 2 * c->rtol * fabs(want);
}

static bool report(const struct special_case *c, const struct way *way, const struct trial *trial)
{
    static const char *const gemm_names[] = {"auto", "plain", "cblas", "packed"};
    print_error("%s: --simd=%s --gemm=%s%s, %s: ", c->directory, way->simd, gemm_names[way->gemm],
                way->keeps_ops ? " --no-fuse" : "", describe(trial));
    return false;
}

/* Returns false after a message about the first element that differs. */
static bool compare(const struct special_case *c, const struct way *way, const struct trial *trial,
                    const struct outcome *want, const struct outcome *got)
{
    if (want->is_refused != got->is_refused || want->n != got->n) {
        report(c, way, trial);
        print_error("%s, but the scalar loops do not\n",
                    got->is_refused ? "refuses it" : "runs it");
        return false;
    }
    for (size_t k = 0; k < want->n; k++) {
        const struct irrun_tensor *a = &want->outputs[k], *b = &got->outputs[k];
        if (a->dtype != b->dtype || !shape_equals(&a->shape, &b->shape)) {
            report(c, way, trial);
            print_error("output %zu has another type or shape\n", k);
            return false;
        }
        if (memcmp(a->data, b->data, tensor_n_bytes(a)) == 0)
            continue;
        size_t n = (size_t)shape_n_elements(&a->shape), size = tensor_n_bytes(a) / n;
        for (size_t i = 0; i < n; i++) {
            if (size > 0 && /* the elements have whole bytes */
                memcmp((char *)a->data + i * size, (char *)b->data + i * size, size) == 0)
                continue;
            double x = element_as_f64(a->dtype, a->data, i);
            double y = element_as_f64(b->dtype, b->data, i);
            if (!is_alike(c, a->dtype, x, y)) {
                report(c, way, trial);
                print_error("output %zu, element %zu is %.9g, not %.9g\n", k, i, y, x);
                return false;
            }
        }
    }
    return true;
}

/* A loaded model, with its records and those that a trial changes. */
struct opened {
    struct irrun_model *model;
    struct irrun_session *session;
    struct case_records clean, changed;
};

static void open_case(const char *directory, const struct way *way, struct opened *opened)
{
    struct irrun_options options = {
        .simd = way->simd, .gemm = way->gemm, .keep_ops = way->keeps_ops};
    struct irrun_error err;
    char model_path[512], records_path[512];
    snprintf(model_path, sizeof model_path, "%s/model.xml", directory);
    snprintf(records_path, sizeof records_path, "%s/in.npz", directory);
    if (!irrun_model_load(model_path, &options, &opened->model, &err) ||
        !irrun_session_new(opened->model, &opened->session, &err) ||
        !records_read(records_path, opened->model, &opened->clean, &err) ||
        !records_read(records_path, opened->model, &opened->changed, &err))
        fail_test("%s: %s\n", directory, err.message);
}

static bool change_records(const struct opened *opened, const struct trial *trial)
{
    bool is_changed = false;
    for (size_t i = 0; i < opened->clean.n_inputs; i++) {
        const struct input_records *from = &opened->clean.inputs[i];
        if (!from->record.data)
            continue;
        memcpy(opened->changed.inputs[i].record.data, from->record.data,
               from->n_elements * dtype_size(from->record.dtype));
        is_changed |= put_trial(&opened->changed.inputs[i], i, trial);
    }
    return is_changed;
}

static void add_wanted(struct special_case *c, const struct outcome *outcome)
{
    count_numbers(outcome);
    c->wanted = realloc(c->wanted, (c->n_wanted + 1) * sizeof *c->wanted);
    assert_non_null(c->wanted);
    c->wanted[c->n_wanted++] = *outcome;
}

/* Runs all trials in one way, up to the first whose outputs differ. */
static void run_trials(struct special_case *c, const struct way *way, bool is_wanted)
{
    struct opened opened;
    struct trial trial;
    size_t number = 0, n_done = 0;
    bool is_good = true;
    open_case(c->directory, way, &opened);
    while (is_good && choose_trial(opened.clean.n_inputs, number++, &trial)) {
        struct outcome outcome;
        if (!change_records(&opened, &trial))
            continue;
        run_records(opened.session, irrun_model_n_outputs(opened.model), &opened.changed, &outcome);
        if (is_wanted) {
            add_wanted(c, &outcome);
        } else {
            is_good = compare(c, way, &trial, &c->wanted[n_done++], &outcome);
            outcome_free(&outcome);
        }
    }
    n_differences += !is_good;
    records_free(&opened.clean);
    records_free(&opened.changed);
    irrun_session_free(opened.session);
    irrun_model_free(opened.model);
}

static void read_tolerance(struct special_case *c)
{
    char path[512], text[256] = "";
    snprintf(path, sizeof path, "%s/args", c->directory);
    FILE *file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file)) {
        const char *atol = strstr(text, "--atol "), *rtol = strstr(text, "--rtol ");
        c->atol = atol ? strtod(atol + strlen("--atol "), NULL) : c->atol;
        c->rtol = rtol ? strtod(rtol + strlen("--rtol "), NULL) : c->rtol;
    }
    if (file)
        fclose(file);
}

/* Returns whether convolutions of the case compute in bytes unless fusion is off. */
static bool is_in_bytes(const struct special_case *c)
{
    return strstr(c->directory, "cases/int8/") || strstr(c->directory, "cases/quantised/");
}

/* A max pool over NaN alone gives the lowest f32, which a convolution then multiplies. Whether such
 * sums overflow depends on their order, so these cases are not compared as they are written. */
static bool sums_lowest_numbers(const struct special_case *c)
{
    return strstr(c->directory, "cases/int8/") && strstr(c->directory, "max_pool");
}

static void try_ways(struct special_case *c, const char *simd, bool keeps_ops)
{
    static const enum irrun_gemm gemms[] = {IRRUN_GEMM_AUTO, IRRUN_GEMM_PACKED, IRRUN_GEMM_PLAIN};
    for (size_t i = 0; i < sizeof gemms / sizeof *gemms; i++)
        run_trials(c, &(struct way){simd, gemms[i], keeps_ops}, false);
}

static void run_scalar(struct special_case *c, bool keeps_ops)
{
    for (size_t i = 0; i < c->n_wanted; i++)
        outcome_free(&c->wanted[i]);
    c->n_wanted = 0;
    run_trials(c, &(struct way){"scalar", IRRUN_GEMM_PLAIN, keeps_ops}, true);
}

static void try_case(const char *directory)
{
    struct special_case c = {.directory = directory, .atol = 1e-5, .rtol = 1e-4};
    read_tolerance(&c);
    for (int keeps_ops = 1; keeps_ops >= 0; keeps_ops--) {
        if (keeps_ops && sums_lowest_numbers(&c))
            continue;
        if (keeps_ops || is_in_bytes(&c))
            run_scalar(&c, keeps_ops);
        for (enum simd simd = SIMD_scalar; simd < N_SIMD && c.n_wanted > 0; simd++)
            if (simd_is_supported(simd))
                try_ways(&c, simd_name(simd), keeps_ops);
    }
    n_cases++;
    n_covered += c.n_wanted > 0;
    for (size_t i = 0; i < c.n_wanted; i++)
        outcome_free(&c.wanted[i]);
    free(c.wanted);
}

static void special_values_go_where_the_scalar_loops_let_them_go(void **state)
{
    static const char *const patterns[] = {"tests/cases/*/*/out.npz", "models/*/out.npz"};
    (void)state;
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        glob_t found;
        assert_int_equal(glob(patterns[p], 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char *path = found.gl_pathv[i], in_path[512];
            *strrchr(path, '/') = '\0';
            snprintf(in_path, sizeof in_path, "%s/in.npz", path);
            if (access(in_path, R_OK) == 0)
                try_case(path);
        }
        globfree(&found);
    }
    print_message(
        "# %zu cases with inputs, %zu of them with floats; %zu runs; the scalar ones gave "
        "%zu NaN, %zu infinities, %zu zeros, %zu other numbers, and refused %zu trials\n",
        n_cases, n_covered, n_runs, n_nan, n_infinite, n_zeros, n_others, n_refused);
    assert_true(n_covered > n_cases / 2);
    assert_int_equal(n_differences, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values_go_where_the_scalar_loops_let_them_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
