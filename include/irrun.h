/* The public API of the irrun library: loads OpenVINO IR models, creates sessions, runs iterations,
 * and reads and writes the variables of a model (its state).
 * SPDX-License-Identifier: Apache-2.0
 *
 * Threads: any number of sessions on any number of threads may share a model; only one thread at a
 * time may use a session. No function prints or exits. Only two things affect the rest of the
 * process: irrun_hold_blas_to_one_thread, and the permission to use AMX, which irrun requests from
 * the kernel when a bf16 product needs it.
 *
 * Errors: a function that can fail returns false and fills *err.
 * Memory: the strings and arrays in the structs that describe a model belong to the model. */
#ifndef IRRUN_H
#define IRRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IRRUN_VERSION "0.1.0"
#define IRRUN_MAX_RANK 16 /* of a tensor */

/* Error codes; the command line exits with them. Those from 64 to 78 are from sysexits.h. */
enum irrun_error_code {
    IRRUN_OK = 0,
    IRRUN_MISMATCH = 1,     /* a comparison found a difference */
    IRRUN_USAGE = 2,        /* an invalid argument or name, or an input that was not set */
    IRRUN_DATA = 65,        /* malformed model, weights, file or state; wrong type or shape */
    IRRUN_NO_INPUT = 66,    /* a file that cannot be opened or read */
    IRRUN_UNSUPPORTED = 69, /* an op, version or type that irrun does not support */
    IRRUN_INTERNAL = 70,    /* a bug in irrun */
    IRRUN_SYSTEM = 71,      /* out of memory, or a system call failed */
    IRRUN_CANT_CREATE = 73, /* an output that cannot be created */
    IRRUN_IO = 74,          /* an output that cannot be written */
    IRRUN_TEMPORARY = 75,   /* interrupted; run again to continue */
    IRRUN_TIMEOUT = 124     /* timed out, and there is no checkpoint to resume from */
};

struct irrun_error {
    enum irrun_error_code code;
    char file[512];        /* "" if the error is not in a file */
    uint32_t line, column; /* from 1, columns in characters; 0: unknown */
    uint64_t offset;       /* in bytes, in a binary file; UINT64_MAX: unknown */
    char message[2048];    /* what was found and what was expected; may have several lines */
    char hint[1024];       /* how to fix it or find out more; "" if none */
};

/* Element types. In memory every element of a type below 8 bits takes one byte. */
enum irrun_dtype {
    IRRUN_DYNAMIC, /* not known yet; possible for a variable */
    IRRUN_BOOLEAN, /* one byte; zero is false, anything else is true */
    IRRUN_BF16,
    IRRUN_F16,
    IRRUN_F32,
    IRRUN_F64,
    IRRUN_I4,
    IRRUN_I8,
    IRRUN_I16,
    IRRUN_I32,
    IRRUN_I64,
    IRRUN_U1,
    IRRUN_U2,
    IRRUN_U3,
    IRRUN_U4,
    IRRUN_U6,
    IRRUN_U8,
    IRRUN_U16,
    IRRUN_U32,
    IRRUN_U64,
    IRRUN_NF4, /* a 4-bit code, in one byte */
    IRRUN_F8E4M3,
    IRRUN_F8E5M2,
    IRRUN_F4E2M1,
    IRRUN_F8E8M0,
    IRRUN_STRING,
    IRRUN_N_DTYPES
};

struct irrun_shape {
    uint32_t rank;
    int64_t dims[IRRUN_MAX_RANK]; /* outermost first, >= 0 */
};

/* A dense row-major tensor. Each function says who owns `data`. */
struct irrun_tensor {
    enum irrun_dtype dtype;
    struct irrun_shape shape;
    void *data; /* aligned to the size of an element */
};

/* A shape whose rank or dimensions may be dynamic. Each dimension is in [min, max]. */
struct irrun_partial_shape {
    bool is_rank_dynamic; /* then the other members are unused */
    uint32_t rank;
    int64_t min[IRRUN_MAX_RANK], max[IRRUN_MAX_RANK]; /* INT64_MAX: no upper bound */
};

struct irrun_model;
struct irrun_session;

enum irrun_gemm { IRRUN_GEMM_AUTO, IRRUN_GEMM_PLAIN, IRRUN_GEMM_CBLAS, IRRUN_GEMM_PACKED };

/* The precision of products: F16 rounds constant weights to f16; BF16 rounds them and, unless it is
 * a transposed matrix, the other operand to bf16. Sums are f32. */
enum irrun_precision { IRRUN_PRECISION_F32, IRRUN_PRECISION_F16, IRRUN_PRECISION_BF16 };

/* Selects one thread per CPU that the affinity mask and the cgroup quota of this process allow. */
#define IRRUN_THREADS_AUTO UINT32_MAX

struct irrun_options {        /* all zero: the defaults; not needed after irrun_model_load */
    const char *weights_path; /* NULL: the model's path with its extension replaced by .bin */
    enum irrun_gemm gemm;     /* how matrices are multiplied */
    const char *simd;         /* a level, see irrun_simd_level; NULL, "auto": the best one */
    unsigned n_threads;       /* per session; 0 means 1; does not change the results */
    bool keep_ops;            /* runs every op as written: nothing is fused or replaced */
    bool is_dry;              /* the model is only inspected: the weights are not read */
    /* Intermediate values to add to the outputs: names of tensors, or "LAYER" or "LAYER:PORT". */
    const char *const *taps;
    size_t n_taps;
    bool traces_all;   /* adds all computed values to the outputs */
    bool stops_at_nan; /* fails with IRRUN_MISMATCH at the first op or input that has NaN or inf */
    bool allows_inf;   /* with stops_at_nan: only NaN fails */
    bool times_ops;    /* measures the time of every op: irrun_profile_new */
    /* Names of recurrent ops, "A,B", or "" for all; NULL: none. These ops keep their states in
     * variables, so that a model for whole sequences can process a chunk of frames per iteration.
     * Loading fails with IRRUN_UNSUPPORTED if this would change results. The weights are read. */
    const char *low_latency;
    bool computes_f64;              /* computes f16, bf16 and f32 in f64; inputs keep their type */
    enum irrun_precision precision; /* no effect with computes_f64 */
    /* Names of outputs that are not read, read only at the last position of axis -2 (if the rank is
     * 3 or more), or read in full. Ignored with keep_ops, traces_all or stops_at_nan. */
    const char *const *unread, *const *read_last, *const *read;
    size_t n_unread, n_read_last, n_read;
    bool dynamic_quantization; /* quantizes operands of integer weights; not in f64 */
};

/* An input or an output of the model. */
struct irrun_port {
    const char *name;         /* the primary name */
    const char *const *names; /* other names for irrun_model_find_input */
    size_t n_names;
    enum irrun_dtype dtype;
    struct irrun_partial_shape shape; /* for outputs: as in the XML */
    uint32_t line, column;            /* of its <layer> in the XML */
    bool is_traced;                   /* an output only because of traces_all */
};

struct irrun_variable {
    const char *id;
    enum irrun_dtype dtype; /* IRRUN_DYNAMIC until a value is known */
    struct irrun_partial_shape shape;
    const char *init;       /* "zeros", or the name of the layer that computes the initial value */
    const char *init_value; /* with is_dry: the number that all elements equal; NULL: unknown */
    uint32_t line, column;  /* of the <layer> of its first ReadValue */
};

/* Reads the model; "-" is standard input. options: NULL for the defaults. The caller frees *model.
 * The message of IRRUN_UNSUPPORTED lists all unsupported ops. */
bool irrun_model_load(const char *xml_path, const struct irrun_options *options,
                      struct irrun_model **model, struct irrun_error *err);
void irrun_model_free(struct irrun_model *model);

/* Fails with IRRUN_DATA if the .bin was modified in place after the model was loaded: results may
 * mix old and new weights. Costs one fstat. */
bool irrun_model_check_weights(const struct irrun_model *model, struct irrun_error *err);

/* Returns the path of the file that irrun has mapped at `address`, or NULL, and sets *is_truncated
 * to whether the file has become shorter. Call it from a SIGBUS handler (SA_SIGINFO), which must
 * then end the process: the kernel sends SIGBUS if a mapped .bin is truncated or its disk fails.
 * Threads of a session do not block SIGBUS. Async-signal-safe. */
const char *irrun_mapped_file(const void *address, bool *is_truncated);

size_t irrun_model_n_inputs(const struct irrun_model *model);
size_t irrun_model_n_outputs(const struct irrun_model *model);
size_t irrun_model_n_variables(const struct irrun_model *model);
const struct irrun_port *irrun_model_input(const struct irrun_model *model, size_t index);
const struct irrun_port *irrun_model_output(const struct irrun_model *model, size_t index);
const struct irrun_variable *irrun_model_variable(const struct irrun_model *model, size_t index);

/* Find a port by one of its names or "@K". Fail with IRRUN_USAGE unless exactly one matches. */
bool irrun_model_find_input(const struct irrun_model *model, const char *name, size_t *index,
                            struct irrun_error *err);
bool irrun_model_find_output(const struct irrun_model *model, const char *name, size_t *index,
                             struct irrun_error *err);

/* Creates a session with its own variables. The model must outlive it. */
bool irrun_session_new(struct irrun_model *model, struct irrun_session **session,
                       struct irrun_error *err);
void irrun_session_free(struct irrun_session *session);

/* Sets input `index`. `tensor->data` is borrowed until the input is set again or the session is
 * freed; it may be modified between iterations. Type and shape must match the model. */
bool irrun_session_set_input(struct irrun_session *session, size_t index,
                             const struct irrun_tensor *tensor, struct irrun_error *err);

/* Plans for the current shapes of the inputs and variables. irrun_session_run does this too. */
bool irrun_session_plan(struct irrun_session *session, struct irrun_error *err);
/* Runs one iteration. If it fails, the variables keep their values. */
bool irrun_session_run(struct irrun_session *session, struct irrun_error *err);

/* Sets a function to call when an op first gives zeros for an index out of range; NULL: none. */
typedef void irrun_warning_fn(void *context, const struct irrun_error *warning);
void irrun_session_on_warning(struct irrun_session *session, irrun_warning_fn *fn, void *context);

/* Returns the input as it was set. Its data is NULL if it was not set. */
const struct irrun_tensor *irrun_session_input(const struct irrun_session *session, size_t index);
/* Returns the value of an output, a view that the next run overwrites. Before the first run it has
 * a type and a shape but no values, or is NULL if the shape depends on data. An output in
 * irrun_options.unread is NULL; one in read_last may have only the last position. */
const struct irrun_tensor *irrun_session_output(const struct irrun_session *session, size_t index);

/* Returns the value of a variable, a view that is valid until the next run; NULL if it is unset, so
 * that the next iteration uses its initial value. */
const struct irrun_tensor *irrun_session_variable(const struct irrun_session *session,
                                                  size_t index);

/* Sets a variable to a copy of `tensor`. Type and shape must match the model. */
bool irrun_session_set_variable(struct irrun_session *session, size_t index,
                                const struct irrun_tensor *tensor, struct irrun_error *err);
/* Resets all variables to their initial values, which the next iteration computes. */
void irrun_session_reset(struct irrun_session *session);

struct irrun_op_count {
    const char *type;    /* as in the XML */
    const char *version; /* as in the XML: "opset1" */
    size_t n;            /* layers, including those of bodies */
    const char *problem; /* why irrun cannot run it; NULL if it can */
};

struct irrun_model_info {
    const char *name;         /* of <net>; "" if it has none */
    const char *weights_path; /* the .bin in use; NULL if there is none */
    uint32_t ir_version;
    size_t n_ops;           /* layers, including those of bodies */
    uint64_t weights_bytes; /* total size of all Consts in the XML; a shared blob counts once */
    uint64_t bin_bytes;     /* size of the .bin; 0 if none is in use */
    uint64_t xml_digest;    /* 64-bit FNV-1a hash of the XML */
    const struct irrun_op_count *op_counts; /* by type, then version */
    const char *const *notes;    /* one line for each change that irrun makes to the graph */
    const char *const *warnings; /* one line for each warning */
    size_t n_op_counts, n_notes, n_warnings;
};

/* Describes a model. With is_dry, op_counts may list unsupported ops and their problems. */
void irrun_model_describe(const struct irrun_model *model, struct irrun_model_info *info);

/* A layer, or an op that replaces layers and has the name of one of them. */
struct irrun_op_name {
    const char *type, *name;
    uint32_t line; /* of the <layer> */
};

/* Figures computed from the XML of a model that was loaded with is_dry. */
struct irrun_analysis {
    uint64_t n_parameters; /* elements of Consts, except indices */
    double flops, bytes;   /* per iteration; see irrun_op_time */
    size_t n_open_ops;     /* ops not counted above, since a shape in the XML is dynamic */
    uint64_t values_bytes; /* peak total size of inputs, outputs and intermediate values */
    uint64_t state_bytes;  /* variables: their current values and the next ones */
    const struct irrun_op_name *unused; /* Consts that nothing uses */
    uint64_t unused_bytes;
    const char *const *suspicions; /* one line for each probable mistake */
    size_t n_unused, n_suspicions;
    bool takes_chunks; /* irrun_options.low_latency would change the model */
};

bool irrun_model_analyse(const struct irrun_model *model, struct irrun_analysis *analysis,
                         struct irrun_error *err);

/* An output of a layer: the index of the layer in the list, and of the output in the layer. */
struct irrun_layer_port {
    size_t layer, port;
};

struct irrun_layer {
    const char *name, *type, *version; /* version: "opset1" */
    const char *path;                  /* of its body: "layer/body/"; "" for a layer of the model */
    uint32_t line;
    bool is_elementwise;  /* output elements depend only on input elements at their position */
    const char *variable; /* of a ReadValue or Assign; otherwise NULL */
    const struct irrun_port *outputs; /* with all names that irrun_options.taps accepts for them */
    const struct irrun_layer_port *inputs; /* outputs of layers of the same body */
    size_t n_outputs, n_inputs;
};

/* Lists all layers; those of a body follow the layer that contains it. */
bool irrun_model_list_layers(struct irrun_model *model, const struct irrun_layer **layers,
                             size_t *n, struct irrun_error *err);

/* Identifies the .bin of a model. */
struct irrun_weights_info {
    uint64_t size_bytes;           /* 0 if no .bin is in use; then the rest is 0 */
    uint64_t digest;               /* 64-bit hash of its content, or of a sample if over 64 MB */
    bool is_sampled;               /* the digest is that of a sample */
    int64_t written_s, written_ns; /* last modification, since 1970 */
};

/* Hashes at most 64 MB of the .bin, which takes about 10 ms. */
void irrun_model_weights(const struct irrun_model *model, struct irrun_weights_info *info);

/* What a session uses after it is planned. */
struct irrun_session_info {
    const char *gemm;      /* how matrices are multiplied: "plain", …, "auto (packed, plain)" */
    const char *simd;      /* the level in use: "scalar", "avx2" … */
    const char *precision; /* "f32", "f16", "bf16" */
    unsigned n_threads;
    size_t n_steps;              /* steps per iteration; each runs one op or several fused ops */
    size_t n_view_ops;           /* ops that are views and need no step */
    size_t n_fused_ops;          /* element-wise ops that are fused with each other */
    size_t n_epilogue_ops;       /* element-wise ops that are fused with a product */
    uint64_t n_new_plans;        /* how often an iteration changed the plan */
    size_t weights_mapped_bytes; /* size of the mapped .bin */
    size_t weights_packed_bytes; /* copies made for the kernels */
    size_t arena_bytes;          /* intermediate values and scratch, also of bodies */
    size_t state_bytes;          /* variables: their current values and the next ones */
    size_t n_quantized_products; /* products that dynamic_quantization quantizes */
};
void irrun_session_describe(const struct irrun_session *session, struct irrun_session_info *info);

/* The time of an op, or of several that run as one step. */
struct irrun_op_time {
    const struct irrun_op_name *members; /* [n_members], in their order */
    size_t n_members;
    uint32_t depth; /* 0: an op of the model; 1: in a body of the preceding op of depth 0 … */
    uint64_t n_calls;
    double time_s;      /* includes the ops of its bodies */
    double in_bodies_s; /* the time of the ops of its bodies */
    double flops;       /* floating-point operations, estimated from the shapes; 0: none */
    double bytes;       /* size of its inputs and outputs */
};

/* The times of all ops, longest first. Ops of a body follow the op that runs it. */
struct irrun_profile {
    const struct irrun_op_time *ops;
    size_t n_ops;
    uint64_t n_plans; /* how often an iteration changed the plan because of a new shape */
    double plan_s;    /* total time of these changes */
    double clock_s;   /* estimated time that reading the clock took */
};

/* Adds up the times of sessions of the same model, which was loaded with times_ops. The caller
 * frees the profile; its strings belong to the model. */
bool irrun_profile_new(const struct irrun_session *const *sessions, size_t n_sessions,
                       struct irrun_profile **profile, struct irrun_error *err);
void irrun_profile_free(struct irrun_profile *profile);
void irrun_session_clear_times(struct irrun_session *session); /* discards the measured times */

/* Sets a function that the session calls with times on CLOCK_MONOTONIC: after every step (op is the
 * first of its ops), after a change of the plan (name "plan", no type), and in threads 1, 2, …
 * after each has finished its part of a step. Needs irrun_options.times_ops. NULL removes it. */
typedef void irrun_watch_fn(void *context, unsigned thread, const struct irrun_op_name *op,
                            uint64_t start_ns, uint64_t end_ns);
void irrun_session_watch(struct irrun_session *session, irrun_watch_fn *watch, void *context);

/* The peak performance of this machine with the kernels and threads of the session: multiply-adds
 * of f32 in registers, and reads from n_bytes of memory. The measurement takes `seconds`. */
struct irrun_peak {
    double flops_per_s, bytes_per_s;
    size_t n_bytes;
};
bool irrun_session_measure_peak(const struct irrun_session *session, double seconds,
                                struct irrun_peak *peak, struct irrun_error *err);

/* An operator that irrun supports, in the opsets first … last. */
struct irrun_supported_op {
    const char *type;
    unsigned opset_first, opset_last;
    uint32_t types; /* a set of 1 << dtype: the types that its first input may have */
};
bool irrun_supported_op(size_t index, struct irrun_supported_op *op); /* false: no such index */

/* Return the names of the families of kernels, such as "select_x32", and of the SIMD levels of this
 * build, from "scalar" upward; NULL: no such index. */
const char *irrun_kernel_family(size_t index);
const char *irrun_simd_level(size_t index);
/* Returns the level that irrun_options.simd selects; NULL with IRRUN_USAGE if it is missing. */
const char *irrun_simd_used(const char *simd, struct irrun_error *err);

struct irrun_build {
    const char *compiler; /* "gcc 12.2.0" */
    const char *blas;     /* the CBLAS library, if known: "reference", "OpenBLAS …" */
    const char *expat;    /* "2.5.0" */
};
const struct irrun_build *irrun_build(void);

/* Limits the BLAS of this process to the calling thread, now or when irrun loads it, and ends the
 * threads that OpenBLAS has started, because two thread pools on the same cores are slow. */
void irrun_hold_blas_to_one_thread(void);

const char *irrun_version(void);
const char *irrun_dtype_name(enum irrun_dtype dtype); /* as in the IR: "f32", "boolean" */

#ifdef __cplusplus
}
#endif

#endif
