/* The passes that rewrite the graph of a model while it is loaded, called by irrun.c. A pass that
 * takes *remarks calls toposort after a change, and says in a remark what it did. A pass
 * does not change bodies unless its comment says so.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PASSES_H
#define IRRUN_PLAN_PASSES_H

#include "plan/model.h"

/* Messages for -v: a list that grows in the arena of the graph. */
struct remarks {
    const char **items;
    size_t n;
};

bool remarks_add(struct remarks *remarks, struct arena *arena, struct irrun_error *err,
                 const char *format, ...) PRINTF_LIKE(4, 5);

/* Sets order and n_order of the graph and of the bodies of its live ops. First come all Parameters
 * in document order (they are inputs of the model even if nothing reads them). All ops that a
 * Result or an Assign depends on follow, by depth-first search from these in document order,
 * visiting inputs from first to last. An Assign depends on the ReadValues of its variable. The
 * type of an unsupported layer decides whether it is a Parameter, Result or Assign. Fails with
 * IRRUN_DATA on a cycle and names two of its layers. */
bool toposort(struct graph *graph, struct arena *arena, struct irrun_error *err);

/* Adds a Result for each name: a tensor name, the name of a layer with one output, or LAYER:PORT. A
 * value that is an output already gets none. Must be called before toposort. Fails with IRRUN_USAGE
 * for a name that the graph does not have. */
bool taps_add(struct graph *graph, struct arena *arena, const char *const *names, size_t n_names,
              struct irrun_error *err);

/* Adds a Result for every output of a live op that has none. Outputs of Consts get none, nor do
 * those of Assigns, which are equal to their inputs. Must be called after toposort, which must then
 * be called again. */
bool taps_add_all(struct graph *graph, struct arena *arena, struct irrun_error *err);

/* Keeps the states of recurrent ops in variables and makes the time axis of inputs dynamic. A model
 * that took a whole sequence then takes a chunk of frames per iteration, with the same results.
 * names: names of recurrent ops, as in "A,B", or "" for all of them. Fails with IRRUN_USAGE for any
 * other name, and with IRRUN_UNSUPPORTED and the names of the ops if results would change, or if
 * there is nothing to do. The graph must be sorted, its ops supported and the .bin open. */
bool low_latency_apply(struct graph *graph, struct arena *arena, const char *names,
                       struct remarks *remarks, struct irrun_error *err);

/* Returns whether low_latency_apply would succeed for all recurrent ops. */
bool low_latency_fits(struct graph *graph, struct arena *arena);

/* Turns every f16, bf16 and f32 value of the graph and of its bodies into f64, for a reference with
 * almost no rounding errors. Parameters of the graph and Consts keep their types; a Convert follows
 * each. Call toposort before and after. */
bool float64_widen(struct graph *graph, struct arena *arena, struct irrun_error *err);

/* Moves slices of the first or last position of an axis before ops that compute each position
 * independently, if at least one product then computes less. takes_last: for each Result, whether
 * only the last position of its second-to-last axis is read, if it has three axes or more; the
 * Result may then have only this position. */
bool early_slices_move(const struct model *model, const bool *takes_last, struct remarks *remarks,
                       struct irrun_error *err);

/* Replaces TensorIterators whose body is a single LSTM, GRU or RNN cell with sequence ops.
 * Changes bodies, too. Older converters wrote every recurrent layer as a loop of this kind. */
bool cell_loop_replace(struct graph *graph, struct arena *arena, struct remarks *remarks,
                       struct irrun_error *err);

/* Folds a Transpose of the last two dimensions of a product's second operand into the product, so
 * that no elements are moved. Changes bodies, too. */
bool transposed_factors_fold(struct graph *graph, struct arena *arena, struct remarks *remarks,
                             struct irrun_error *err);

/* Replaces each normalization that consists of separate ops with an op_norm: (x - mean) /
 * sqrt(variance + eps), as in MVN, and x / sqrt(mean square + eps). eps may also be added to the
 * root, and the division may be a multiplication by the reciprocal. Changes bodies, too. */
bool norms_replace(struct graph *graph, struct arena *arena, struct remarks *remarks,
                   struct irrun_error *err);

/* Removes a Slice that drops the last positions of a convolution, or of its sum with a bias, and
 * makes the pads smaller instead. Causal convolutions are written with such a Slice. */
bool cropped_convolutions_replace(struct graph *graph, struct arena *arena, struct remarks *remarks,
                                  struct irrun_error *err);

/* Runs convolutions and products between FakeQuantizes in integers if their weights and ranges
 * allow it. Values between them are u8, and the bias, ReLU and the next FakeQuantize become one
 * scaling of the sums. Remarks also name the ops that do not qualify. */
bool int8_convolutions_replace(const struct model *model, struct remarks *remarks,
                               struct irrun_error *err);

/* Converts chains of convolutions, with their element-wise ops, MaxPools and reductions over all
 * positions, to channels last ([n][h][w][c], NHWC). Chains consist of depthwise convolutions and
 * their neighbours, or, in a model without grouped convolutions, convolutions whose output channels
 * fill vectors. A pixel is then a row of a matrix, and its channels are in the lanes of vectors.
 * The first and the last convolution of a chain convert the order; if a chain begins or ends with a
 * different op, an op that converts the order is inserted. */
bool channels_last_place(const struct model *model, struct remarks *remarks,
                         struct irrun_error *err);

/* Keeps compressed weights (integers or small floats times a scale) as they are stored if a product
 * or a Gather reads them. In a model with variables and a file of 256 MB or more, also keeps
 * f32, f16 and bf16 matrices of 1 MB or more that a product reads; --gemm=packed packs them. */
bool compressed_weights_keep(const struct model *model, struct remarks *remarks,
                             struct irrun_error *err);

/* With kernels.precision, rounds the f32 and f16 constants among op_def.rounded_inputs to 16 bits,
 * in the graph of the model and in its bodies, except weights whose product would not be faster.
 * Inserts conversions to f16 or bf16 and back, before which prepare_constant finds the 16-bit
 * values. Quantized weights are kept as they are. */
bool lower_precision(const struct model *model, struct remarks *remarks, struct irrun_error *err);

#endif
