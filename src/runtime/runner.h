/* Runs the graph of a model or of a body: finds or makes the plan for the current shapes, and runs
 * its steps. Also defines the session.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_RUNNER_H
#define IRRUN_RUNTIME_RUNNER_H

#include "plan/plan.h"
#include "runtime/variables.h"

struct irrun_session {
    struct model *model;
    const struct ports *ports; /* the inputs of the model */
    struct thread_pool *pool;  /* NULL: one thread */
    struct variables variables;
    struct runner *root;
    struct irrun_tensor *inputs;
    const struct irrun_tensor **input_pointers;
    bool *has_input;               /* for each input: whether it is set */
    bool is_input_changed;         /* a type or shape was set after the current plan was chosen */
    size_t n_missing;              /* number of inputs that are not set */
    struct step_times_table times; /* used if model->times_steps */
    irrun_watch_fn *watch;         /* called after every timed step; NULL: none */
    void *watch_context;
    const struct step *timed_step; /* the step that runs; NULL: none */
    irrun_warning_fn *warning;     /* called once, then NULL */
    void *warning_context;
    /* Set by finite_check.c: the Parameter of a body that holds the first NaN or infinity. */
    const struct graph *failed_body; /* NULL: none */
    uint32_t failed_parameter;
    unsigned failed_kind; /* NONFINITE_NAN or NONFINITE_INF */
};

struct runner {
    struct irrun_session *session;
    const struct graph *graph;
    bool is_body;
    bool *is_constant; /* for each Parameter: its data never changes */
    struct plan_set plans;
    struct plan *plan;           /* the current plan */
    const struct slot **outputs; /* the slot of each Result, after a run */
};

/* Creates a runner for a graph. Copies is_constant, which has an element for each Parameter; NULL:
 * no Parameter is constant. Returns NULL with *err filled on failure. */
struct runner *runner_new(struct irrun_session *session, const struct graph *graph, bool is_body,
                          const bool *is_constant, struct irrun_error *err);

/* Selects or makes a plan for these inputs and variables. */
bool runner_choose_plan(struct runner *runner, const struct irrun_tensor *const *in,
                        struct irrun_error *err);

/* Runs the steps of the chosen plan and of its continuations; does not commit variables. */
bool runner_execute(struct runner *runner, const struct irrun_tensor *const *in,
                    struct irrun_error *err);

#endif
