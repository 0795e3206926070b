/* irrun.h: the library's only public header. Load an OpenVINO IR model, plan a session, run
 * iterations on records, read and write the variables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Threads: a model may be shared by any number of sessions on any number of threads; a session
 * belongs to one thread at a time. Nothing here prints or exits, and nothing changes what
 * others in the process see, but for irrun_hold_blas_to_one_thread.
 *
 * Errors: a function that can fail returns false and fills *err; the first error wins. */
#ifndef IRRUN_H
#define IRRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IRRUN_VERSION "0.1.0"

/* The largest rank of a tensor. */
#define IRRUN_MAX_RANK 16

/* The value of a code is the exit status of the command line (of sysexits.h where one fits). */
enum irrun_error_code {
    IRRUN_OK = 0,
    IRRUN_MISMATCH = 1,     /* a comparison found a difference */
    IRRUN_USAGE = 2,        /* the caller asked for something that does not exist */
    IRRUN_DATA = 65,        /* malformed model, weights, tensor file or state */
    IRRUN_NO_INPUT = 66,    /* a file that cannot be opened */
    IRRUN_UNSUPPORTED = 69, /* an op, version or type that irrun does not support */
    IRRUN_INTERNAL = 70,    /* a bug of irrun */
    IRRUN_SYSTEM = 71,      /* out of memory, or another refusal of the system */
    IRRUN_CANT_CREATE = 73, /* an output that cannot be created */
    IRRUN_IO = 74,          /* an output that cannot be written */
    IRRUN_TEMPORARY = 75,   /* interrupted; run again to continue */
    IRRUN_TIMEOUT = 124     /* timed out, nothing to resume from */
};

struct irrun_error {
    enum irrun_error_code code;
    char file[512];     /* "" if the error has no place in a file */
    uint32_t line;      /* 1-based; 0 = does not apply */
    uint32_t column;    /* 1-based, in characters; 0 = does not apply */
    uint64_t offset;    /* byte offset in a binary file; UINT64_MAX = does not apply */
    char message[2048]; /* what was found and what was expected; may have several lines */
    char hint[1024];    /* something to type or to look at; "" if none */
};

/* Element types. In memory every element of a type below 8 bits takes one byte. */
enum irrun_dtype {
    IRRUN_DYNAMIC, /* not known: the type of a variable may be left open */
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
    IRRUN_NF4, /* the 4-bit code, one a byte */
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

/* A dense row-major tensor. Who owns `data` is said where one is passed. */
struct irrun_tensor {
    enum irrun_dtype dtype;
    struct irrun_shape shape;
    void *data; /* aligned to the size of an element */
};

/* A shape whose dimensions, or whose rank, may be open: each dimension is in [min, max]. */
struct irrun_partial_shape {
    bool is_rank_dynamic; /* then the rest says nothing */
    uint32_t rank;
    int64_t min[IRRUN_MAX_RANK];
    int64_t max[IRRUN_MAX_RANK]; /* INT64_MAX = no upper bound */
};

struct irrun_model;
struct irrun_session;

enum irrun_gemm { IRRUN_GEMM_AUTO, IRRUN_GEMM_PLAIN, IRRUN_GEMM_CBLAS, IRRUN_GEMM_PACKED };

/* As many threads as CPUs that this process may use, by affinity and the quota of its cgroup. */
#define IRRUN_THREADS_AUTO UINT32_MAX

/* Set to zero for the defaults. */
struct irrun_options {
    const char *weights_path; /* NULL: the model's path with its ending replaced by .bin */
    enum irrun_gemm gemm;     /* how matrices are multiplied */
    const char *simd;         /* irrun_simd_level to use; NULL, "auto": the last the CPU has */
    unsigned n_threads;       /* of each session, 0 = 1; results do not depend on it */
    bool keep_ops;            /* run the ops one by one as written: no fusing, no replacing */
    bool is_dry;              /* read no weights: for a look at the model only */
    const char *const *taps; /* inner values that become outputs after the model's own, by tensor */
    size_t n_taps;           /* name or layer name, with ":PORT" if the layer has several */
    bool traces_all;         /* every value that is computed becomes an output, after those */
    /* A run fails with IRRUN_MISMATCH at the first op that gives NaN or inf; the error names that
     * op, or the input of the model whose NaN or inf made it fail. */
    bool stops_at_nan;
    bool lets_inf_pass; /* with stops_at_nan: at NaN only */
    bool times_ops;     /* the time of every op is measured: irrun_profile_new */
};

/* An input or an output of the model. All pointers belong to the model. */
struct irrun_port {
    const char *name;         /* the primary name */
    const char *const *names; /* every further name it answers to */
    size_t n_names;
    enum irrun_dtype dtype;
    struct irrun_partial_shape shape; /* of an output: what the XML says of it */
    uint32_t line, column;            /* of its <layer> */
    bool is_traced;                   /* an output only because of traces_all */
};

struct irrun_variable {
    const char *id;
    enum irrun_dtype dtype; /* IRRUN_DYNAMIC until a value is known */
    struct irrun_partial_shape shape;
    const char *init; /* "zeros", or the name of the layer that gives the initial value */
    /* Of a model that is_dry: the number that all its elements have; NULL: not known. */
    const char *init_value;
    uint32_t line, column; /* of the <layer> of its ReadValue */
};

/* Reads the model; "-" is standard input. On success *model is the caller's to free. Fails with
 * IRRUN_NO_INPUT, IRRUN_DATA, IRRUN_UNSUPPORTED (all lacking ops are listed) or IRRUN_SYSTEM. */
bool irrun_model_load(const char *xml_path, const struct irrun_options *options,
                      struct irrun_model **model, struct irrun_error *err);
void irrun_model_free(struct irrun_model *model);

/* Whether the .bin is as it was when the model was loaded: IRRUN_DATA if somebody has written to it
 * since, and what was computed may be half old and half new. A call of fstat; for the end of a run.
 * A .bin that was replaced under its name stays whole, and so does a small one, which is copied. */
bool irrun_model_check_weights(const struct irrun_model *model, struct irrun_error *err);

/* A large .bin is mapped: if it is truncated or the disk fails, the thread that reads it gets
 * SIGBUS, which the program must handle. Its handler (SA_SIGINFO) may pass si_addr to this
 * function, which is async-signal-safe. It returns the path of the file that irrun has mapped
 * there, or NULL, and sets *is_truncated to whether the file is shorter than it was. The iteration
 * cannot continue, so the handler must end the process. The threads of a session do not block
 * SIGBUS. */
const char *irrun_mapped_file(const void *address, bool *is_truncated);

size_t irrun_model_n_inputs(const struct irrun_model *model);
size_t irrun_model_n_outputs(const struct irrun_model *model);
size_t irrun_model_n_variables(const struct irrun_model *model);
const struct irrun_port *irrun_model_input(const struct irrun_model *model, size_t index);
const struct irrun_port *irrun_model_output(const struct irrun_model *model, size_t index);
const struct irrun_variable *irrun_model_variable(const struct irrun_model *model, size_t index);

/* Finds a name, an alias or "@K"; IRRUN_USAGE that lists what there is if it fits none or two. */
bool irrun_model_find_input(const struct irrun_model *model, const char *name, size_t *index,
                            struct irrun_error *err);
bool irrun_model_find_output(const struct irrun_model *model, const char *name, size_t *index,
                             struct irrun_error *err);

/* Creates a session: memory for one run of iterations, with its own variables. The model must
 * outlive it. */
bool irrun_session_new(struct irrun_model *model, struct irrun_session **session,
                       struct irrun_error *err);
void irrun_session_free(struct irrun_session *session);

/* Gives input `index` its value. `tensor->data` is borrowed, and read, until the input is set
 * again or the session freed; it may be written between iterations. Type and shape must fit. */
bool irrun_session_set_input(struct irrun_session *session, size_t index,
                             const struct irrun_tensor *tensor, struct irrun_error *err);

/* Plans for the shapes of the inputs and variables at hand; run does it when needed. */
bool irrun_session_plan(struct irrun_session *session, struct irrun_error *err);

/* Runs one iteration. If it fails, the variables keep their values. */
bool irrun_session_run(struct irrun_session *session, struct irrun_error *err);

/* Returns the input as it was set. Its data is NULL if it was not. */
const struct irrun_tensor *irrun_session_input(const struct irrun_session *session, size_t index);

/* Returns the value of an output after a run. It is a view that the next run overwrites. Between
 * planning and the first run it has a type and a shape but no values, or is NULL if the shape
 * depends on data. */
const struct irrun_tensor *irrun_session_output(const struct irrun_session *session, size_t index);

/* Returns the value of a variable, a view that is valid until the next run. NULL means that it is
 * unset: then the next iteration uses its initial value. */
const struct irrun_tensor *irrun_session_variable(const struct irrun_session *session,
                                                  size_t index);

/* Sets a variable: copies `tensor`. Type and shape must fit what the model says. */
bool irrun_session_set_variable(struct irrun_session *session, size_t index,
                                const struct irrun_tensor *tensor, struct irrun_error *err);

/* Resets all variables to their initial values, which the next iteration computes. */
void irrun_session_reset(struct irrun_session *session);

/* ---- What else there is to know ------------------------------------------------------------- */

/* The number of layers of an operator in a model, including those of bodies. */
struct irrun_op_count {
    const char *type;    /* as in the XML */
    const char *version; /* as in the XML: "opset1" */
    size_t n;
    const char *problem; /* why irrun cannot run it; NULL if it can */
};

/* All pointers belong to the model. */
struct irrun_model_info {
    const char *name;         /* of <net>; "" if it has none */
    const char *weights_path; /* the .bin in use; NULL if there is none */
    uint32_t ir_version;
    size_t n_ops;           /* layers as written, those of bodies too */
    uint64_t weights_bytes; /* sizes of all Consts as the XML says; a shared blob counts once */
    uint64_t bin_bytes;     /* size of the .bin; 0 if none is in use */
    uint64_t xml_digest;    /* FNV-1a, 64 bits, of the bytes of the XML */
    const struct irrun_op_count *op_counts; /* by type, then version */
    size_t n_op_counts;
    const char *const *notes; /* what runs otherwise than it is written, a line each */
    size_t n_notes;
    const char *const *warnings; /* what a user should know, a line each */
    size_t n_warnings;
};

/* Describes a model. This works for a model loaded with is_dry even if it uses ops that irrun does
 * not support: those are in op_counts with their problem, and only irrun_session_new fails. */
void irrun_model_describe(const struct irrun_model *model, struct irrun_model_info *info);

/* A layer, or one that irrun has put in the place of others, under the name of one of them. */
struct irrun_op_name {
    const char *type, *name;
    uint32_t line; /* of the <layer> */
};

/* What is known of a model loaded with is_dry from its XML alone. All pointers belong to the
 * model. */
struct irrun_analysis {
    uint64_t n_parameters; /* elements of the Consts that are weights, not indices */
    double flops, bytes;   /* of an iteration, as in irrun_op_time */
    size_t n_open_ops;     /* ops without which these are: the XML leaves a shape of theirs open */
    uint64_t values_bytes; /* the most that inputs, outputs and values take at a time */
    uint64_t state_bytes;  /* variables, front and back */
    const struct irrun_op_name *unused; /* Consts whose bytes of the .bin nothing needs */
    size_t n_unused;
    uint64_t unused_bytes;
    const char *const *suspicions; /* what looks like a mistake, a line each */
    size_t n_suspicions;
};

bool irrun_model_analyse(const struct irrun_model *model, struct irrun_analysis *analysis,
                         struct irrun_error *err);

/* Output `port` of layer `layer` of the list. */
struct irrun_layer_port {
    size_t layer, port;
};

/* A layer as written. All pointers belong to the model. */
struct irrun_layer {
    const char *name, *type, *version; /* version: "opset1" */
    const char *path;                  /* of the body that it is in: "layer/body/"; "" if in none */
    uint32_t line;
    bool is_elementwise; /* elements of its output are made of those of its inputs in their place */
    const char *variable;             /* of a ReadValue or Assign; else NULL */
    const struct irrun_port *outputs; /* with all names that irrun_options.taps takes for them */
    const struct irrun_layer_port *inputs; /* outputs of layers of the same body */
    size_t n_outputs, n_inputs;
};

/* Lists all layers. Those of a body follow the layer that has it. */
bool irrun_model_list_layers(struct irrun_model *model, const struct irrun_layer **layers,
                             size_t *n, struct irrun_error *err);

/* Identifies the .bin of a model, to find out whether a later run uses the same one. */
struct irrun_weights_info {
    uint64_t size_bytes; /* 0 if none is in use; then the rest is 0 */
    uint64_t digest;     /* of its content, 64 bits; of a file above 64 MB, of a sample of it */
    bool is_sampled;
    int64_t written_s, written_ns; /* when it was written last, since 1970 */
};

/* Reads the .bin, 64 MB of it at most: some 10 ms. */
void irrun_model_weights(const struct irrun_model *model, struct irrun_weights_info *info);

/* What a session uses after it is planned. */
struct irrun_session_info {
    const char *gemm; /* how matrices are multiplied: "plain", …, "auto (packed, plain)" */
    const char *simd; /* the level in use: "scalar", "avx2" … */
    unsigned n_threads;
    size_t n_steps;              /* steps of every iteration: an op each, or several joined */
    size_t n_view_ops;           /* ops that would only have copied, and need no step */
    size_t n_fused_ops;          /* element-wise ones that are joined to each other … */
    size_t n_epilogue_ops;       /* … or done by the product before them */
    size_t weights_mapped_bytes; /* of the .bin */
    size_t weights_packed_bytes; /* copies made for the kernels */
    size_t arena_bytes;          /* intermediate values and scratch */
    size_t state_bytes;          /* variables, front and back */
};
void irrun_session_describe(const struct irrun_session *session, struct irrun_session_info *info);

/* ---- Where the time goes -------------------------------------------------------------------- */

/* The time of an op, or of several that run as one step. */
struct irrun_op_time {
    const struct irrun_op_name *members; /* [n_members], in their order */
    size_t n_members;
    uint32_t depth; /* 0: an op of the model; 1: of a body of the op before it with depth 0 … */
    uint64_t n_calls;
    double time_s;      /* an op with bodies: with their ops */
    double in_bodies_s; /* the part of time_s that these ops took */
    double flops;       /* floating point operations, estimated from the shapes; 0: none */
    double bytes;       /* of its operands: read and written */
};

/* The times of all ops, the longest first. Ops of a body follow the op that runs it. */
struct irrun_profile {
    const struct irrun_op_time *ops;
    size_t n_ops;
    uint64_t n_plans; /* that iterations chose because a shape had changed */
    double plan_s;    /* the time that this took */
    double clock_s;   /* the part of the time that reading the clock took */
};

/* Adds the times of all sessions, which must be of one model loaded with times_ops. The caller
 * frees the profile; its strings belong to the model. */
bool irrun_profile_new(const struct irrun_session *const *sessions, size_t n_sessions,
                       struct irrun_profile **profile, struct irrun_error *err);
void irrun_profile_free(struct irrun_profile *profile);

/* With irrun_options.times_ops: `watch` is called with the time on CLOCK_MONOTONIC after every step
 * (the op, or the first of several), after the choice of another plan (named "plan", no type), and
 * by the threads 1 … of the session after their part of a step. NULL: no more. */
typedef void irrun_watch_fn(void *context, unsigned thread, const struct irrun_op_name *op,
                            uint64_t start_ns, uint64_t end_ns);
void irrun_session_watch(struct irrun_session *session, irrun_watch_fn *watch, void *context);

/* Forgets what was measured so far. */
void irrun_session_clear_times(struct irrun_session *session);

/* The peak performance of this machine with the kernels and the threads of the session:
 * multiply-adds of f32 in registers, and reads from n_bytes of memory, as much as an iteration
 * touches. Measured for `seconds`. */
struct irrun_peak {
    double flops_per_s, bytes_per_s;
    size_t n_bytes;
};
bool irrun_session_measure_peak(const struct irrun_session *session, double seconds,
                                struct irrun_peak *peak, struct irrun_error *err);

/* An operator that irrun has, in the opsets first … last. */
struct irrun_supported_op {
    const char *type;
    unsigned opset_first, opset_last;
    uint32_t types; /* bit 1 << dtype for each element type that its first input may have */
};
bool irrun_supported_op(size_t index, struct irrun_supported_op *op); /* false: no such index */

/* Returns the name of a family of kernels, such as "select_x32", or NULL if there is no such index.
 * Each has a variant for every level. */
const char *irrun_kernel_family(size_t index);

/* Returns a level of vector instructions of this build, such as "sse4.1", or NULL if there is no
 * such index. The weakest, "scalar", comes first. */
const char *irrun_simd_level(size_t index);

/* Returns the level that irrun_options.simd selects. Fails with IRRUN_USAGE and returns NULL if the
 * CPU or the build does not have it. */
const char *irrun_simd_used(const char *simd, struct irrun_error *err);

struct irrun_build {
    const char *compiler; /* "gcc 12.2.0" */
    const char *blas;  /* the library behind CBLAS as far as it says: "reference", "OpenBLAS …" */
    const char *expat; /* "2.5.0" */
};
const struct irrun_build *irrun_build(void);

/* Sets the BLAS of this process, which others in it may use too, to work in the calling thread
 * only, and ends the threads that OpenBLAS starts; at once if it is loaded, else when irrun loads
 * it. For programs that have no other use for it: two thread pools on the same cores are slow. */
void irrun_hold_blas_to_one_thread(void);

const char *irrun_dtype_name(enum irrun_dtype dtype); /* as in the IR: "f32", "boolean" */
const char *irrun_version(void);

#ifdef __cplusplus
}
#endif

#endif
