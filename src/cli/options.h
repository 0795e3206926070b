/* The parsed command line. Everything that can be checked without a model has been checked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OPTIONS_H
#define IRRUN_CLI_OPTIONS_H

#include "base/arena.h"
#include "formats/format.h"
#include "formats/kept_columns.h"

/* ---- The list -------------------------------------------------------------------------------- */

enum option_id {
#define OPTION(id, ...) OPTION_ID_##id,
#include "cli/options.def"
#undef OPTION
    N_OPTIONS
};

/* The words in the columns of options.def, where they are explained. */
enum option_argument { OPTION_FLAG, OPTION_VALUE, OPTION_MAYBE };
enum option_repeats { OPTION_ONCE, OPTION_NAMED, OPTION_MANY };
enum option_group {
    OPTION_INPUTS,
    OPTION_RUNNING,
    OPTION_OUTPUTS,
    OPTION_MEASURING,
    OPTION_ACTIONS,
    N_OPTION_GROUPS
};

struct options;
struct option_row;
struct warnings;

/* Sets the members of the option. value: NULL if the option has none. Fails with IRRUN_USAGE and a
 * message that names the allowed values. */
typedef bool option_set_fn(struct options *options, const struct option_row *row, const char *value,
                           struct irrun_error *err);

struct option_row {
    const char *name; /* long name, without dashes */
    char letter;      /* '\0': none */
    enum option_argument argument;
    const char *metavar; /* for a WORD, all its words: "auto|never" */
    enum option_repeats repeats;
    enum option_group group;
    const char *help;
    option_set_fn *set;
    size_t member; /* offset in struct options; not for OWN */
    int64_t least,
        most; /* for a COUNT, the range; for an ACTION, the actions without and with a word */
};

extern const struct option_row option_rows[N_OPTIONS];

/* ---- Values of options ----------------------------------------------------------------------- */

/* The actions from RUN to DOT need a model; those from INSPECT to DOT do not read its weights. */
enum action {
    ACTION_RUN,
    ACTION_CHECK,
    ACTION_INSPECT,
    ACTION_INSPECT_JSON,
    ACTION_LIST_OPS,
    ACTION_DOT,
    ACTION_SUPPORTED_OPS,
    ACTION_SUPPORTED_OPS_JSON,
    ACTION_LIST_KERNELS,
    ACTION_HELP,
    ACTION_HELP_ALL,
    ACTION_VERSION
};

/* A list in the arena of the options. */
#define OPTION_LIST(name, type)                                                                    \
    struct name {                                                                                  \
        type *items;                                                                               \
        size_t n;                                                                                  \
    }

/* [NAME=]SRC or [NAME=]DST. */
struct binding {
    const char *name; /* NULL: not given */
    struct format_spec spec;
};
OPTION_LIST(binding_list, struct binding);

enum random_kind {
    RANDOM_DEFAULT, /* depends on the type: uniform(-1,1), zeros, random booleans */
    RANDOM_UNIFORM,
    RANDOM_NORMAL,
    RANDOM_INT,
    RANDOM_ZEROS,
    RANDOM_ONES,
    RANDOM_ARANGE
};

struct random_spec {
    const char *name; /* NULL: all inputs without a source */
    enum random_kind kind;
    double a, b;       /* uniform: the range [a, b); normal: mean and standard deviation */
    int64_t low, high; /* int: the range [low, high] */
};
OPTION_LIST(random_list, struct random_spec);

struct axis_spec {
    const char *name; /* NULL: all inputs that -i reads */
    int64_t axis;
    int64_t chunk, hop; /* 0: not given */
    int64_t lead;
};
OPTION_LIST(axis_list, struct axis_spec);

struct shape_spec {
    const char *name; /* NULL: missing, which is an error */
    const char *text; /* the shape as given */
    struct irrun_shape shape;
};
OPTION_LIST(shape_list, struct shape_spec);

/* The next input: the whole output, or an index for each of its rows. */
enum feed_choice { FEED_WHOLE, FEED_ARGMAX, FEED_SAMPLE };

struct sampling {
    double temperature;
    uint64_t top_k; /* 0: no limit */
    double top_p;   /* 1: no limit */
};

/* Output `out` of an iteration becomes input `in` of the next. */
struct feed_spec {
    const char *out, *in;
    const char *choice_text; /* ":argmax", ":sample(T,K,P)" as given, or "" */
    enum feed_choice choice;
    struct sampling sampling;
};
OPTION_LIST(feed_list, struct feed_spec);

/* --columns for a csv file; text: "A,B,...". */
struct columns_spec {
    const char *name; /* NULL: all csv files that are read */
    const char *text;
};
OPTION_LIST(columns_list, struct columns_spec);

OPTION_LIST(tap_list, const char *);

struct tolerance {
    const char *name; /* NULL: all outputs */
    double value;
};
OPTION_LIST(tolerance_list, struct tolerance);

enum reset_when { RESET_SEQUENCE, RESET_NEVER, RESET_ITERATION, RESET_EVERY, RESET_IF };

struct reset_policy {
    enum reset_when when;
    uint64_t every;   /* iterations between resets, for RESET_EVERY */
    const char *name; /* of the scalar, for RESET_IF */
    const char *text; /* as given; "sequence" if the option is not given */
};

/* The enumerators below are in the order of the words in options.def. */

/* Which conversions of a file's type are allowed. */
enum cast { CAST_NONE, CAST_SAFE, CAST_ANY };

/* What to do with a short last record. */
enum partial { PARTIAL_ERROR, PARTIAL_DROP, PARTIAL_PAD };

/* The progress line: only on a terminal, never, or as plain lines everywhere. */
enum progress_mode { PROGRESS_AUTO, PROGRESS_NEVER, PROGRESS_PLAIN };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Whether to restrict files and system calls: never; as far as the kernel supports it; or always,
 * and fail if the kernel does not support it. */
enum sandbox_mode { SANDBOX_NEVER, SANDBOX_AUTO, SANDBOX_ALWAYS };

enum emit { EMIT_ALL, EMIT_LAST, EMIT_NONE, EMIT_DEFAULT };

/* An option that was given on the command line or in the environment. */
struct given_option {
    enum option_id id;
    const char *value; /* "" if it has none */
};
OPTION_LIST(given_list, struct given_option);

#define NO_LIMIT UINT64_MAX

struct options {
    struct given_list given; /* in the order given */
    enum action action;
    const char *action_name;               /* the option that selected it; NULL: none */
    const char *model_path, *weights_path; /* weights_path: NULL if not given */

    struct binding_list inputs;
    struct random_list randoms;
    struct axis_list axes;
    struct columns_list columns;
    struct kept_columns *kept; /* of --keep-columns; NULL: none */
    struct shape_list shapes;
    uint64_t seed;
    const char *manifest_path; /* NULL: none; "-": standard input */
    uint64_t shard, n_shards;
    uint64_t n_jobs;
    bool keeps_going; /* after a failed sequence */
    enum cast cast;
    enum partial partial;
    bool accepts_any_raw; /* --raw-check=never */
    struct feed_list feeds;
    const char *key;        /* NULL: no --key */
    const char *spill_path; /* a directory; NULL: none */
    uint64_t max_keys, batch;
    const char *until_name; /* NULL: no --until */
    const char *until_text; /* the number of --until, as given */
    double until_value;     /* the same number, to compare with boolean outputs */

    uint64_t n_iterations;        /* NO_LIMIT: one for each record */
    double duration_s, timeout_s; /* 0: none */
    struct reset_policy reset;
    bool flushes_denormals;
    uint64_t max_memory_bytes;        /* 0: no limit */
    bool resets_to_state;             /* to --state-in instead of the initial values */
    const char *state_in, *state_out; /* NULL: none */
    bool accepts_any_state;
    uint64_t n_warmups;
    const char *checkpoint_path; /* NULL: none */
    uint64_t checkpoint_every;   /* iterations */
    enum irrun_gemm gemm;
    enum irrun_precision precision;
    bool dynamic_quantization;
    const char *simd;   /* NULL: auto */
    unsigned n_threads; /* 0: not given */
    enum sandbox_mode sandbox;
    bool keeps_ops;          /* --no-fuse */
    const char *low_latency; /* NULL: off; "": every op */

    struct binding_list outputs, expected;
    struct axis_list concats;
    struct tap_list taps;
    const char *tap_all_path, *tap_records_path; /* NULL: none */
    const char *diff_reference;                  /* of --diff; NULL: none */
    bool stops_at_nan, allows_inf;               /* --fail-on-nan, --fail-on-nan=nan */
    struct tolerance_list atols, rtols;
    double outliers; /* share of the elements of an output that may differ */
    enum emit emit;
    bool is_line_buffered, is_synced, skips_existing;

    bool wants_stats, wants_samples;
    const char *trace_path;  /* of --trace; NULL: none */
    bool profiles_types;     /* --profile=type; for --profile, use option_is_given */
    const char *report_path; /* NULL: none; "-": standard output */
    double rate_hz;          /* 0: none */
    bool is_paced;
    double deadline_s; /* 0: not given */
    bool fails_if_late;
    bool is_quiet, is_verbose;
    enum progress_mode progress;
    enum color color;

    struct warnings *warnings; /* warnings so far; not owned */

    struct arena arena; /* holds the strings and lists */
};

/* Parses argv, which it permutes, and the environment. Strings are borrowed from argv or are in the
 * arena. Call options_free even after a failure. Fails with IRRUN_USAGE. */
bool options_parse(int argc, char **argv, struct options *options, struct irrun_error *err);
void options_free(struct options *options);

/* Returns whether all tensors become outputs: --tap-all, --tap-records or --diff. */
static inline bool options_trace_all(const struct options *options)
{
    return options->tap_all_path || options->tap_records_path || options->diff_reference;
}

static inline bool action_needs_model(enum action action)
{
    return action <= ACTION_DOT;
}

static inline bool action_is_dry(enum action action)
{
    return action >= ACTION_INSPECT && action_needs_model(action);
}

/* Returns whether a run prints its graph with the times of ops: --dot with --profile. */
bool options_draw_profile(const struct options *options);

/* Returns whether ops are timed: --profile or --trace. */
bool options_time_ops(const struct options *options);

bool option_is_given(const struct options *options, enum option_id id);

/* Fails with IRRUN_USAGE if one of `others` is given, because --name cannot be used with them. */
bool options_exclude(const struct options *options, const char *name, const enum option_id *others,
                     size_t n, struct irrun_error *err);
#define OPTIONS_EXCLUDE(options, name, err, ...)                                                   \
    options_exclude(options, name, (const enum option_id[]){__VA_ARGS__},                          \
                    sizeof((enum option_id[]){__VA_ARGS__}) / sizeof(enum option_id), err)

/* Returns the most similar of n words, or NULL if none is similar. */
const char *nearest_word(const char *word, const char *const *words, size_t n);

#endif
