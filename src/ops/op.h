/* The interface of an op: one struct op_def, in one file (element-wise ops: one row of
 * kernels/elementwise.def), and one row of ops.def.
 *
 * The engine handles for all ops: opset versions, attributes, the number and the types of the
 * inputs, dynamic shapes, f16 and bf16 (below), constant folding, memory, views, in-place outputs.
 * An op file implements:
 *
 *   infer    computes shapes and types of the outputs from those of the inputs (and, where the op
 *            needs them, their values: infer_value). Fills the op's state with sizes and strides.
 *            Called again for other shapes; all shapes are concrete.
 *   prepare  optional: chooses kernels, prepacks constants, resolves indices, requests memory.
 *   run      computes. Allocates nothing, parses no attributes.
 *
 * Most ops need only type, opset, inputs, state_size, infer and run or compute.
 *
 * f16 and bf16: arithmetic ops never see them. Their inputs are widened to f32, and their outputs
 * stay f32 until 16 bits are needed, for example in an output of the model. So in prepare and run
 * the dtype of a tensor is its type in memory, which may be f32 where infer set f16.
 * OP_DATA_MOVEMENT ops get the 16 bits unchanged.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_OP_H
#define IRRUN_OPS_OP_H

#include <string.h>

#include "base/checked.h"
#include "graph/graph.h"
#include "kernels/epilogue.h"
#include "kernels/kernels.h"
#include "kernels/thread_pool.h"
#include "ops/attrs.h"
#include "tensor/tensor.h"

#define OPSET_LAST 17            /* the newest opset */
#define OUTPUTS_LISTED UINT8_MAX /* for op_def.n_outputs */

enum op_role {
    ROLE_ORDINARY,
    ROLE_PARAMETER,
    ROLE_CONST,
    ROLE_RESULT,
    ROLE_READ_VALUE,
    ROLE_ASSIGN,
};

enum op_flags {
    /* copies elements of any type: keeps f16 and bf16 bits */
    OP_DATA_MOVEMENT = 1,
    /* output 0 is input 0 with a different shape: no run, no memory */
    OP_VIEW = 2,
    /* output 0 may use the memory of the first input of its shape and element size that no later
     * step reads; run may overwrite any such input */
    OP_IN_PLACE = 4,
    /* reads f16 and bf16 as 16 bits or as f32, and writes the dtype that infer set (Convert) */
    OP_ANY_STORAGE = 8,
    /* run reads the shapes of its inputs, never their data (ShapeOf) */
    OP_SHAPES_ONLY = 16,
    /* element i of output 0 is computed from elements i of the inputs, broadcast */
    OP_ELEMENTWISE = 32,
    /* like OP_IN_PLACE, but only for input 0, and only if no other input has the same memory */
    OP_IN_PLACE_INPUT0 = 64,
    /* with --precision=bf16, prepare_constant may return bf16; run then rounds the other operand,
     * except in a convolution of few channels */
    OP_MULTIPLIES_BF16 = 128,
};

/* One input of an op. OP_INPUTS puts a table of them into a struct op_def. */
struct op_input_def {
    const char *name; /* as in the specification: "X", "initial_hidden_state" */
    uint32_t types;   /* set of TYPE_BIT */
    uint8_t same;     /* inputs with equal non-zero numbers have equal types */
    bool is_optional; /* this input and all later ones may be absent */
    bool is_repeated; /* the last row: any number of inputs */
};
#define OP_ONE_INPUT(name_, types_)                                                                \
    .inputs = &(const struct op_input_def){name_, .types = types_}, .n_inputs = 1
#define OP_INPUTS(table) .inputs = table, .n_inputs = sizeof(table) / sizeof *(table)

/* Describes a tensor in which each run of `length` elements is repeated `count` times. */
struct runs {
    size_t length, count;
};

struct infer;
struct prepare;
struct step;

struct op_def {
    const char *type;   /* as in the IR */
    uint8_t opset;      /* the first opset with this definition */
    uint8_t opset_last; /* the last opset with it; 0 = OPSET_LAST */
    bool is_extension;  /* also found under version="extension" and "experimental" */
    enum op_role role;
    uint32_t flags;
    const struct op_input_def *inputs; /* rows of a table: OP_INPUTS */
    uint8_t n_outputs; /* 0 = 1 (a Result has none); OUTPUTS_LISTED: the number the layer lists */
    uint8_t n_outputs_min;        /* the smallest number that a layer may list; 0 = n_outputs */
    const struct attr_def *attrs; /* OP_ATTRS */
    uint8_t n_inputs, n_attrs;    /* rows of the tables */
    size_t attrs_size;
    size_t state_size;  /* bytes of the state, which infer fills and run reads */
    const void *family; /* distinguishes ops that share functions */
    bool (*infer)(struct infer *infer);
    /* Optional: returns whether the op is a view for these shapes and values. Then each output k is
     * a contiguous part of input 0 from element firsts[k] on. The caller has zeroed firsts. */
    bool (*views)(const struct infer *infer, int64_t *firsts);
    /* Optional: returns whether output 0 is input 0 with each of its runs repeated. `state` was
     * filled by infer. */
    bool (*repeats)(const void *state, struct runs *runs);
    /* A set of 1 << i: inputs whose matrices (the last two dimensions) may have any stride, and may
     * each serve several consecutive batches; see prepare_matrices. */
    uint32_t strided_inputs;
    uint32_t rounded_inputs; /* a set of 1 << i: inputs whose constants --precision rounds */
    /* Optional: returns which of these constant inputs prepare will prepack (both are sets of 1 <<
     * i). Their data is not widened then, and step->in has no data for them. */
    uint32_t (*prepacks)(const struct prepare *prepare, uint32_t constants);
    bool (*prepare)(struct prepare *prepare);
    /* Set run if it can fail, otherwise compute; set neither if prepare sets made.flat, as
     * prepare_sharing does. */
    bool (*run)(const struct step *step, struct irrun_error *err);
    void (*compute)(const struct step *step);
    /* Optional: returns the number of floating-point operations per run; see op_flops in cost.h. */
    double (*flops)(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out);
};

/* ---- infer -------------------------------------------------------------------------------- */

struct infer {
    const struct graph *graph;
    const struct op *op;
    const void *attrs;
    void *state; /* zeroed, def->state_size bytes */
    uint32_t n_inputs, n_outputs;
    /* Declared types, concrete shapes; no data: see infer_value. */
    const struct irrun_tensor *const *in;
    struct irrun_tensor *out; /* set by infer: dtype and shape */
    struct arena *arena;      /* freed with the plan */
    struct plan *plan;        /* for ops with bodies, see body.h; NULL while constants are folded */
    const struct irrun_tensor *(*value)(struct infer *infer, uint32_t i); /* for infer_value */
    const bool *is_constant; /* for each input: has the same value in all runs of this plan */
    bool is_value_missing;   /* set by infer_value: a value is not known yet */
    uint32_t hinted;         /* a set of 1 << i: inputs already named in the hint */
    struct irrun_error *err;
};

/* Returns the value of input i, or NULL if it is not known during planning. infer must then return
 * false at once; the engine calls it again when the value is known. Use this only if the shape
 * depends on the value. */
const struct irrun_tensor *infer_value(struct infer *infer, uint32_t i);

/* Reads input i, 0-D or 1-D of any integer type, as a list of int64 in the arena. */
bool infer_ints(struct infer *infer, uint32_t i, struct i64_list *list);
/* Reads input i as one number, 0-D or [1]. */
bool infer_int(struct infer *infer, uint32_t i, int64_t *number);

/* Sets type and shape of output i; fails if its size overflows. Call it before planning loops. */
bool infer_output(struct infer *infer, uint32_t i, enum irrun_dtype dtype,
                  const struct irrun_shape *shape);

/* Fails with the op's place, type and name before the message. */
bool infer_fail(struct infer *infer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Fails with `input 4 (W) is f32 [1,512,40], expected <format>`, and a hint that names the input's
 * producer and its line. */
bool infer_fail_input(struct infer *infer, uint32_t i, const char *expected, ...) PRINTF_LIKE(3, 4);
/* Adds the type, shape and producer of input i to the hint, for conflicts between two inputs. The
 * engine itself adds all inputs if there are at most three, otherwise input 0. */
bool infer_hint_input(struct infer *infer, uint32_t i);

/* Normalizes axis to [0, rank); fails if it is out of range. */
bool infer_axis(struct infer *infer, int64_t axis, uint32_t rank, uint32_t *normal);
/* Sets is_set[axis] for each axis of the list; negative axes count from the end. Fails if an axis
 * is repeated. */
bool infer_axes(struct infer *infer, const struct i64_list *axes, uint32_t rank,
                bool is_set[IRRUN_MAX_RANK]);

enum auto_broadcast { AUTO_BROADCAST_NONE, AUTO_BROADCAST_NUMPY, AUTO_BROADCAST_PDPD };

/* Computes the output shape of inputs a and b under auto_broadcast (axis is for pdpd). b_shape is
 * the shape of b; for pdpd, without trailing ones and padded with ones to the rank of a. */
bool infer_broadcast(struct infer *infer, uint32_t a, uint32_t b, int auto_broadcast, int64_t axis,
                     struct irrun_shape *out, struct irrun_shape *b_shape);

/* ---- prepare ------------------------------------------------------------------------------ */

/* Computes units begin … end - 1 of a step, whose work is divided into n units. A unit depends
 * neither on other units nor on the thread that computes it. */
typedef void share_fn(const struct step *step, size_t begin, size_t end);

struct sharing {
    share_fn *run;
    size_t n, n_parts; /* n units, in n_parts parts for the thread pool */
};

#define FLAT_MAX_OPERANDS 4

/* A step that is one kernel call over n elements. Every operand starts at element 0 of its
 * tensor. */
struct flat {
    bool (*run)(const struct step *step, struct irrun_error *err);
    union {
        binary_fn *binary;
        unary_fn *unary;
        fused_fn *fused;               /* for a step of several fused ops */
        const struct sharing *sharing; /* for a step whose work is divided into units */
        void (*compute)(const struct step *step);
    } kernel;
    size_t n; /* elements; for an Assign, bytes */
};

/* Element i of the output uses element i / inner % count of an operand. */
struct repetition {
    size_t inner, count;
};

/* The op as an instruction, which can be fused with others into one step. */
struct fusable {
    enum fused_code code; /* FUSED_NONE: not fusable */
    uint32_t scalars;     /* a set of 1 << i: inputs of one element, broadcast over the output */
    size_t n;             /* elements */
    /* For inputs 0 and 1: how an input with fewer elements than the output, but more than one,
     * repeats (a bias); otherwise zeros. Such an op can only be part of an epilogue. */
    struct repetition repeated[2];
    const float *parameters; /* the two parameters of a unary op */
};

/* A product that can run an epilogue, step->epilogue, over parts of its output 0. The plan decides
 * which ops are the epilogue. */
struct epilogue_offer {
    size_t n;               /* elements of the output; 0: not offered */
    struct repetition bias; /* an added operand that can be the initial sums; count 0: none */
};

/* The results of prepare other than the op's state, all optional. */
struct prepared {
    size_t scratch_bytes; /* memory that run may use, 64-byte aligned, not kept between runs */
    struct flat flat;     /* replaces run or compute for these shapes */
    struct fusable fusable;
    struct epilogue_offer epilogue;           /* not allowed with OP_IN_PLACE */
    const struct pooling *pooling;            /* of a MaxPool that a convolution can compute */
    struct indirect_convolution *convolution; /* of a convolution that can compute a MaxPool */
    const struct row_op *rows;                /* of a convolution that can compute rows */
};

/* The positions of the matrices of an input: matrix i begins at element i / repeats * stride. */
struct matrices {
    size_t repeats, stride;
};

struct prepare {
    const struct graph *graph;
    const struct op *op;
    const void *attrs;
    void *state;
    uint32_t n_inputs, n_outputs;         /* n_outputs: up to the last one that a step reads */
    const struct irrun_tensor *const *in; /* dtype as in memory; data NULL unless constant */
    const struct irrun_tensor *const *out;
    const struct kernels *kernels;
    const struct thread_pool *pool;  /* the pool that run will use; NULL = one thread */
    struct arena *arena;             /* freed with the plan */
    const struct matrices *matrices; /* of each input; repeats 0, or NULL: contiguous */
    uint32_t prepacked;              /* result of op_def.prepacks; 0 while constants are folded */
    struct prepared made;            /* set by prepare */
    /* The stored values that prepacked inputs are made from; NULL while constants are folded. */
    struct prepack_sources *sources;
    struct irrun_error *err;
};

/* Requests scratch memory for n more items, after the memory requested so far. */
bool prepare_scratch(struct prepare *prepare, size_t n, size_t item_bytes);

/* ---- sharing */

/* Sets made.flat to run n units: shared with the thread pool if there is enough work (in the unit
 * of thread_pool_n_parts); otherwise in one call, unless made.flat.run is set already. Fails if
 * memory runs out. */
bool prepare_sharing(struct prepare *prepare, share_fn *run, size_t n, double work);

/* Elements per unit. All units except the last fill the tiles and vectors of element-wise
 * kernels. */
#define SHARE_UNIT 64
#define SHARE_ELEMENT_WORK 10 /* the work of reading and writing one f32 in L2 */

static inline size_t share_units(size_t n)
{
    return divide_up(n, SHARE_UNIT);
}

/* The elements of units begin … end - 1 of n elements. */
struct share_range {
    size_t first, n;
};

static inline struct share_range share_range(size_t n, size_t begin, size_t end)
{
    size_t first = begin * SHARE_UNIT;
    return (struct share_range){first, end * SHARE_UNIT < n ? end * SHARE_UNIT - first : n - first};
}

/* Implements flat.run for a step with units. */
bool sharing_run(const struct step *step, struct irrun_error *err);

/* ---- prepacked inputs; defined in plan/prepare_op.c */

/* Returns the shape and type of a prepacked input as stored: f16 if its f32 was converted from f16
 * (or bf16, see OP_MULTIPLIES_BF16), otherwise its own type. It has no data: use
 * prepare_elements. */
const struct irrun_tensor *prepare_constant(struct prepare *prepare, uint32_t i);

/* Returns n elements of a prepacked input from `begin` on, and computes them if necessary; whole
 * rows are cheapest. They are valid until the next call for the same input, or until prepare ends.
 * Returns NULL with *err filled on failure. */
const void *prepare_elements(struct prepare *prepare, uint32_t i, size_t begin, size_t n);

/* Returns memory for prepacked inputs, 64-byte aligned. All plans of the model share the memory of
 * the same layout; the op chooses the number of the layout. If *is_new is set, the caller must fill
 * the memory now. Returns NULL with *err filled if memory runs out. */
void *prepare_prepacked(struct prepare *prepare, uint32_t layout, size_t size_bytes, bool *is_new);

/* Returns the positions of the matrices of input i, of `elements` elements each. i is one of
 * def->strided_inputs. */
static inline struct matrices prepare_matrices(const struct prepare *prepare, uint32_t i,
                                               size_t elements)
{
    bool is_dense = !prepare->matrices || prepare->matrices[i].repeats == 0;
    return is_dense ? (struct matrices){1, elements} : prepare->matrices[i];
}

/* Offers an epilogue if output 0 is f32. run must then call epilogue_run. */
static inline void prepare_epilogue(struct prepare *prepare)
{
    if (prepare->out[0]->dtype == IRRUN_F32)
        prepare->made.epilogue.n = (size_t)shape_n_elements(&prepare->out[0]->shape);
}

/* ---- run ---------------------------------------------------------------------------------- */

struct step {
    struct flat flat;                /* see op_flat, unless prepare has replaced it */
    void *data[FLAT_MAX_OPERANDS];   /* inputs, then outputs, if all of them fit */
    const void *state;               /* NULL: the step converts an input for the next step */
    struct irrun_tensor *const *in;  /* the op's inputs, then those of the epilogue */
    struct irrun_tensor *const *out; /* outputs, then those of the epilogue */
    void *scratch;                   /* never NULL, even if none was requested */
    uint32_t n_inputs, n_outputs;
    const struct epilogue *epilogue; /* NULL: none. See prepared.epilogue */
    const struct graph *graph;
    const struct op *op;
    struct irrun_session *session; /* for ops with bodies */
    struct thread_pool *pool;      /* for work that threads share; NULL = one thread */
    const struct step_cost *cost;  /* NULL: steps are not timed */
};

/* Fails with the op's place, type and name before the message. */
bool step_fail(const struct step *step, struct irrun_error *err, enum irrun_error_code code,
               const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- registry ----------------------------------------------------------------------------- */

extern const struct op_def *const op_defs[]; /* the rows of ops.def */
extern const size_t n_op_defs;

/* Returns the row at this index, sorted by type, then opset. */
const struct op_def *op_def_sorted(size_t index);

/* Returns the row of input i of an op: the last row if it is repeated, NULL beyond the end. */
const struct op_input_def *op_find_input(const struct op_def *def, uint32_t i);

/* Returns whether input i has indices, axes, bounds or lengths instead of data. If it is constant,
 * infer and prepare read it, and run gets its shape in step->in, but no data. */
bool op_input_is_index(const struct op_def *def, uint32_t i);

/* Returns a set of TYPE_BIT: the element types of the op's first input that is neither an index nor
 * a condition; for an op without inputs, all types. */
uint32_t op_types(const struct op_def *def);

#define OP_WHY_BYTES 256

/* Returns the op of `type` and `version` ("opset6", "extension"), or NULL with the reason in `why`:
 * "irrun has Gather of opset1 to opset6 only". The type may be an alias or have any letter case. If
 * version is "", the type must have only one op. */
const struct op_def *op_find(const char *type, const char *version, char why[OP_WHY_BYTES]);

/* Returns whether the op has this type; false if irrun does not implement the op. */
static inline bool op_is_type(const struct op *op, const char *type)
{
    return op->def && strcmp(op->def->type, type) == 0;
}

static inline const char *op_type(const struct op *op)
{
    return op->def ? op->def->type : op->fault->type;
}

static inline enum op_role op_role_of(const struct op *op)
{
    return op->def && !op->fault ? op->def->role : ROLE_ORDINARY;
}

#endif
