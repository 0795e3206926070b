/* Runs the body of a TensorIterator or Loop repeatedly, on slices, invariant values and results of
 * the previous iteration. The op file determines the number of iterations.
 *
 * If the shapes of all outputs follow from those of the inputs, run executes the iterations.
 * Otherwise (the number of iterations or a shape depends on data), the engine calls infer when the
 * data is known; infer then executes the iterations, and run copies the results.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_BODY_LOOP_H
#define IRRUN_OPS_BODY_LOOP_H

#include "ops/body.h"
#include "ops/body_buffers.h"
#include "ops/op.h"

/* LOOP_MERGED: an input in the first iteration, then a result of the previous one (a back edge). */
enum loop_source { LOOP_UNBOUND, LOOP_SLICED, LOOP_MERGED, LOOP_INVARIANT, LOOP_ITERATION };

/* The source of a Parameter of the body. */
struct loop_param {
    enum loop_source source;
    uint32_t input;  /* index of the op's input */
    uint32_t result; /* LOOP_MERGED: the Result whose value the next iteration gets */
    const struct port_map *map;
    uint32_t axis;       /* LOOP_SLICED; in [0, rank) */
    int64_t first, part; /* iteration i starts at first + i * part */
    bool is_reverse;     /* iteration i ends at first - i * part */
};

/* The source of an output of the op. */
struct loop_output {
    bool is_bound, is_concatenated, is_reverse;
    uint32_t result; /* index of the body's Result */
    const struct port_map *map;
    uint32_t axis; /* in [0, rank); set with the shape of the output */
};

struct loop_state {
    struct place place; /* of the op, for messages */
    struct runner *runner;
    const struct body *body;
    uint32_t n_params, n_results, n_outputs;
    struct loop_param *params;
    struct loop_output *outputs;
    uint32_t *param_of_result; /* for each Result: the merged Parameter that it sets, or NO_ID */
    struct irrun_tensor *in;   /* [n_params], for the current iteration */
    const struct irrun_tensor **in_pointers;
    /* [n_params] each: iteration i reads merged[i % 2] and writes merged[(i + 1) % 2]. */
    struct loop_buffer *merged[2];
    struct loop_buffer *slices; /* [n_params] */
    int64_t *iteration;         /* one number, in the type of the Parameter */
    int64_t n_iterations;       /* -1: until the condition is false */
    uint32_t condition_result;  /* NO_ID: none */
    bool ran_in_infer;          /* infer has run the iterations; the outputs are in `kept` */
    struct loop_buffer *kept;   /* [n_outputs] */
    int64_t n_kept;             /* iterations that infer has run */
    struct arena *arena;        /* for buffers that grow, in infer; NULL in run */
};

/* Connects the body to the op: fills params, outputs and the runner. */
bool loop_bind(struct infer *infer, struct loop_state *state);

/* Converts start or end of a port_map to a position in [0, length]. Negative numbers count from the
 * end; -1 is the position after the last element. Returns false if it is out of range. */
bool loop_bound(int64_t bound, int64_t length, int64_t *position);

/* Finds the axis of a sliced input or concatenated output, in [0, rank). */
bool loop_axis(struct infer *infer, const struct port_map *map, uint32_t rank, uint32_t *axis);

/* Sets *n_iterations to the number of slices of an input: |end - start| / part_size. */
bool loop_count_slices(struct infer *infer, const struct loop_param *param, int64_t *n_iterations);

/* Checks that start and end of a concatenated output span the pieces of n_iterations. */
bool loop_check_pieces(struct infer *infer, const struct loop_output *output, int64_t n_iterations);

/* Sets the shapes of the outputs. Runs the iterations if the shapes depend on data. is_exact: the
 * body cannot end the loop before n_iterations. condition: false if no iteration runs. */
bool loop_infer(struct infer *infer, struct loop_state *state, bool is_exact, bool condition);

bool loop_prepare(struct prepare *prepare);
bool loop_run(const struct step *step, struct irrun_error *err, int64_t n_iterations,
              bool condition);

#endif
