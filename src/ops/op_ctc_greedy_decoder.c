/* CTCGreedyDecoder-1 and CTCGreedyDecoderSeqLen-6: output the best class of every step, without
 * blanks and, with merge_repeated, without repetitions. The rest of the output is -1.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/indexing.h"

struct ctc_attrs {
    bool merge_repeated;
    enum irrun_dtype classes_index_type, sequence_length_type; /* version 6 */
};

static const struct attr_def v1_attr_table[] = {
    ATTR_NAMED(struct ctc_attrs, merge_repeated, "ctc_merge_repeated", "true"),
};
static const struct attr_def seq_len_attr_table[] = {
    ATTR(struct ctc_attrs, merge_repeated, "true"),
    ATTR(struct ctc_attrs, classes_index_type, "i32"),
    ATTR(struct ctc_attrs, sequence_length_type, "i32"),
};

static const struct op_input_def v1_inputs[] = {
    {"data", .types = TYPES_FLOAT},
    {"sequence_mask", .types = TYPES_FLOAT},
};
static const struct op_input_def seq_len_inputs[] = {
    {"data", .types = TYPES_FLOAT},
    {"sequence_length", .types = TYPES_INTEGER},
    {"blank_index", .types = TYPES_INTEGER, .is_optional = true},
};

enum { DATA, LENGTHS, BLANK };

/* Sets best to the index of the first maximum of n classes. */
#define BEST(T)                                                                                    \
    for (size_t i = 1; i < n; i++)                                                                 \
        best = ((const T *)classes)[i] > ((const T *)classes)[best] ? i : best;

static int64_t best_class(const struct irrun_tensor *data, size_t first, size_t n)
{
    const void *classes = tensor_at(data, first);
    size_t best = 0;
    if (data->dtype == IRRUN_F32)
        BEST(float)
    else
        BEST(double)
    return (int64_t)best;
}

static void write_integer(struct irrun_tensor *out, size_t i, int64_t number)
{
    convert_elements(IRRUN_I64, &number, out->dtype, tensor_at(out, i), 1);
}

/* A sequence of n steps, `stride` elements apart, from element `first` of the data on. row_length:
 * elements per row of the output. */
struct ctc_steps {
    size_t first, stride, n, row_length;
};

/* Decodes sequence b to row b of the output. Returns the number of classes. */
static size_t decode(const struct step *step, size_t b, const struct ctc_steps *steps,
                     int64_t blank)
{
    const struct irrun_tensor *data = step->in[DATA];
    bool merges_repeated = ((const struct ctc_attrs *)step->op->attrs)->merge_repeated;
    size_t first = b * steps->row_length, at = first;
    int64_t previous = -1;
    for (size_t t = 0; t < steps->n; t++) {
        int64_t class =
            best_class(data, steps->first + t * steps->stride, (size_t)data->shape.dims[2]);
        if (class != blank && !(merges_repeated && class == previous))
            write_integer(step->out[0], at++, class);
        previous = class;
    }
    size_t n_classes = at - first;
    while (at < first + steps->row_length)
        write_integer(step->out[0], at++, -1);
    return n_classes;
}

/* ---- version 1: data [T][N][C], mask [T][N], output [N][T][1][1] in the type of the data ---- */

static bool infer_v1(struct infer *infer)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    const struct irrun_shape *mask = &infer->in[LENGTHS]->shape;
    if (data->rank != 3 || data->dims[2] < 1)
        return infer_fail_input(infer, DATA, "[T,N,C] with at least one class");
    if (mask->rank != 2 || mask->dims[0] != data->dims[0] || mask->dims[1] != data->dims[1])
        return infer_fail_input(infer, LENGTHS, "[%lld,%lld], the first two dimensions of the data",
                                (long long)data->dims[0], (long long)data->dims[1]);
    struct irrun_shape out = {.rank = 4, .dims = {data->dims[1], data->dims[0], 1, 1}};
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out);
}

static void run_v1(const struct step *step)
{
    const struct irrun_tensor *data = step->in[DATA], *mask = step->in[LENGTHS];
    size_t n_steps = (size_t)data->shape.dims[0], n_batch = (size_t)data->shape.dims[1];
    size_t n_classes = (size_t)data->shape.dims[2];
    for (size_t b = 0; b < n_batch; b++) {
        struct ctc_steps steps = {b * n_classes, n_batch * n_classes, 0, n_steps};
        while (steps.n < n_steps &&
               element_as_f64(mask->dtype, mask->data, steps.n * n_batch + b) != 0)
            steps.n++;
        decode(step, b, &steps, (int64_t)n_classes - 1);
    }
}

/* ---- with lengths: data [N][T][C], lengths [N], outputs [N][T] and [N] --------------------- */

struct seq_len_state {
    struct index_list lengths, blank;
};

static bool infer_seq_len(struct infer *infer)
{
    const struct ctc_attrs *attrs = infer->attrs;
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    const struct irrun_shape *lengths = &infer->in[LENGTHS]->shape;
    if (data->rank != 3 || data->dims[2] < 1)
        return infer_fail_input(infer, DATA, "[N,T,C] with at least one class");
    if (lengths->rank != 1 || lengths->dims[0] != data->dims[0])
        return infer_fail_input(infer, LENGTHS, "[%lld], the batch of the data",
                                (long long)data->dims[0]);
    if (infer->n_inputs > BLANK && shape_n_elements(&infer->in[BLANK]->shape) != 1)
        return infer_fail_input(infer, BLANK, "one integer");
    struct irrun_shape classes = shape_of(2, data->dims), n_classes = shape_of(1, data->dims);
    return infer_index_type(infer, "classes_index_type", attrs->classes_index_type) &&
           infer_index_type(infer, "sequence_length_type", attrs->sequence_length_type) &&
           infer_output(infer, 0, attrs->classes_index_type, &classes) &&
           infer_output(infer, 1, attrs->sequence_length_type, &n_classes);
}

static bool resolve_lengths(const struct step *step, int64_t *lengths, struct irrun_error *err)
{
    const struct irrun_shape *data = &step->in[DATA]->shape;
    const struct irrun_tensor *given = step->in[LENGTHS];
    elements_as_i64(given->dtype, given->data, 0, (size_t)data->dims[0], lengths);
    for (int64_t b = 0; b < data->dims[0]; b++)
        if (lengths[b] < 0 || lengths[b] > data->dims[1])
            return step_fail(
                step, err, IRRUN_DATA,
                "sequence_length[%lld] is %lld, outside 0 ... %lld, the number of steps",
                (long long)b, (long long)lengths[b], (long long)data->dims[1]);
    return true;
}

static bool prepare_seq_len(struct prepare *prepare)
{
    struct seq_len_state *state = prepare->state;
    size_t batch = (size_t)prepare->in[DATA]->shape.dims[0];
    return index_list_prepare(prepare, LENGTHS, batch, resolve_lengths, &state->lengths) &&
           (prepare->n_inputs <= BLANK ||
            index_list_prepare(prepare, BLANK, 1, NULL, &state->blank));
}

static bool run_seq_len(const struct step *step, struct irrun_error *err)
{
    const struct seq_len_state *state = step->state;
    const struct irrun_tensor *data = step->in[DATA];
    int64_t blank = data->shape.dims[2] - 1;
    size_t n_steps = (size_t)data->shape.dims[1], n_classes = (size_t)data->shape.dims[2];
    const int64_t *lengths = index_list_get(step, &state->lengths, err);
    if (!lengths)
        return false;
    if (step->n_inputs > BLANK)
        blank = *index_list_get(step, &state->blank, err);
    for (size_t b = 0; b < (size_t)data->shape.dims[0]; b++) {
        struct ctc_steps steps = {b * n_steps * n_classes, n_classes, (size_t)lengths[b], n_steps};
        write_integer(step->out[1], b, (int64_t)decode(step, b, &steps, blank));
    }
    return true;
}

const struct op_def op_ctc_greedy_decoder = {
    .type = "CTCGreedyDecoder",
    .opset = 1,
    OP_INPUTS(v1_inputs),
    OP_ATTRS(v1_attr_table, struct ctc_attrs),
    .infer = infer_v1,
    .compute = run_v1,
};

const struct op_def op_ctc_greedy_decoder_seq_len = {
    .type = "CTCGreedyDecoderSeqLen",
    .opset = 6,
    OP_INPUTS(seq_len_inputs),
    .n_outputs = 2,
    OP_ATTRS(seq_len_attr_table, struct ctc_attrs),
    .state_size = sizeof(struct seq_len_state),
    .infer = infer_seq_len,
    .prepare = prepare_seq_len,
    .run = run_seq_len,
};
