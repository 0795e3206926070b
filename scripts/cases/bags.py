# Bags of embeddings and greedy CTC decoders.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, rng, uniform
from .one_op import error, ints, one_op

FLOAT = "--atol 1e-6 --rtol 1e-5"
TABLE = uniform(rng("bags"), (7, 3, 2), -2, 2)
INDICES = np.int32([0, 2, 6, 3, 3, 1])
WEIGHTS = np.float32([0.5, -1, 2, 1.5, 0.25, 3])


def bag(table, rows, weights, mean, default):
    if len(rows) == 0:
        return table[default] if default is not None and default >= 0 else np.zeros_like(table[0])
    wide = np.float64(table) if table.dtype.kind == "f" else table
    factors = np.ones(len(rows), wide.dtype) if weights is None else weights.astype(wide.dtype)
    total = np.tensordot(factors, wide[rows], 1)
    if mean:
        total = total / len(rows) if table.dtype.kind == "f" else np.trunc(total / len(rows))
    return total.astype(table.dtype)


def offsets_case(name, offsets, about, table=TABLE, indices=INDICES, default=None, weights=None,
                 reduction=None, args=FLOAT, **more):
    """reduction None: version 3."""
    ends = list(offsets[1:]) + [len(indices)]
    want = np.stack([
        bag(table, indices[b:e], None if weights is None else weights[b:e], reduction == "mean",
            default) for b, e in zip(offsets, ends)
    ])
    inputs = [table, indices, np.int32(offsets)]
    if default is not None or weights is not None:
        inputs.append(ints(-1 if default is None else default, np.int32))
    if weights is not None:
        inputs.append(weights)
    kind = "EmbeddingBagOffsetsSum" if reduction is None else "EmbeddingBagOffsets"
    family = "embedding_bag_offsets_sum" if reduction is None else "embedding_bag_offsets"
    return one_op(family, name, kind, inputs, want, about, 3 if reduction is None else 15, args,
                  attrs={} if reduction is None else {"reduction": reduction}, **more)


def packed_case(name, about, table=TABLE, weights=None, reduction=None, **more):
    indices = np.int32([[0, 2], [6, 6], [1, 5]])
    want = np.stack([
        bag(table, row, None if weights is None else weights[k], reduction == "mean", None)
        for k, row in enumerate(indices)
    ])
    kind = "EmbeddingBagPackedSum" if reduction is None else "EmbeddingBagPacked"
    family = "embedding_bag_packed_sum" if reduction is None else "embedding_bag_packed"
    return one_op(family, name, kind, [table, indices] + ([] if weights is None else [weights]),
                  want, about, 3 if reduction is None else 15, FLOAT,
                  attrs={} if reduction is None else {"reduction": reduction}, **more)


def segments_case(name, ids, n, about, default=None, weights=None, **more):
    ids = np.int32(ids)
    want = np.stack([
        bag(TABLE, INDICES[ids == k], None if weights is None else weights[ids == k], False,
            default) for k in range(n)
    ])
    inputs = [TABLE, INDICES, ids, ints(n, np.int32)]
    if default is not None or weights is not None:
        inputs.append(ints(-1 if default is None else default, np.int32))
    if weights is not None:
        inputs.append(weights)
    return one_op("embedding_segments_sum", name, "EmbeddingSegmentsSum", inputs, want, about, 3,
                  FLOAT, **more)


def bag_cases():
    yield offsets_case("plain", [0, 2, 5], "Three bags.")
    yield offsets_case("empty_bags", [0, 2, 2, 5], "An empty bag is zeros.")
    yield offsets_case("empty_last_bag", [0, 2, 2, 6], "So is one at the end.",
                       openvino=departures.LAST_BAG)
    yield offsets_case("default_index", [0, 2, 2, 5], "Empty bags are row 4.", default=4)
    yield offsets_case("weights", [0, 3, 3], "Weighted, empty bags are row 1.", default=1,
                       weights=WEIGHTS)
    yield offsets_case("weights_no_default", [0, 3, 3], "Weighted, default_index -1: zeros.",
                       weights=WEIGHTS)
    yield offsets_case("dynamic", [0, 2, 5], "No dimension is known.", dynamic=True)
    yield offsets_case("i32", [0, 2, 5], "Integers.", table=np.int32(TABLE * 50), args=EXACT)
    for reduction in ("sum", "mean"):
        yield offsets_case(reduction, [0, 2, 5], f"{reduction} of three bags.", reduction=reduction)
        yield offsets_case(f"{reduction}_default_index", [0, 2, 2, 5],
                           f"{reduction}, empty bags are row 4.", default=4, reduction=reduction)
        yield packed_case(reduction, f"{reduction} of pairs.", reduction=reduction)
        yield packed_case(f"{reduction}_dynamic", f"{reduction}, no dimension is known.",
                          reduction=reduction, dynamic=True)
    yield offsets_case("sum_weights", [0, 3, 3], "Weighted.", default=1, weights=WEIGHTS,
                       reduction="sum")
    yield packed_case("plain", "Pairs.")
    yield packed_case("weights", "Weighted pairs.", weights=WEIGHTS.reshape(3, 2))
    yield packed_case("rank_2", "Rows that are lists.", table=TABLE[:, :, 0])
    yield packed_case("sum_weights", "Weighted pairs.", weights=WEIGHTS.reshape(3, 2),
                      reduction="sum")
    yield segments_case("plain", [0, 0, 1, 1, 1, 2], 3, "Three segments.")
    yield segments_case("holes", [0, 0, 2, 2, 2, 5], 7, "Segments that are empty.")
    yield segments_case("default_index", [0, 0, 2, 2, 2, 3], 5, "Empty segments are row 5.",
                        default=5)
    yield segments_case("weights", [0, 0, 2, 2, 2, 3], 5, "Weighted.", default=0, weights=WEIGHTS)
    yield segments_case("dynamic", [0, 0, 1, 1, 1, 2], 3, "No dimension is known.", dynamic=True)
    yield error("embedding_bag_offsets_sum", "index", "EmbeddingBagOffsetsSum",
                [TABLE, np.int32([0, 7]), np.int32([0])],
                ["EmbeddingBagOffsetsSum", "indices[1] is 7", "axis 0"], "A row that is not there.",
                3)
    yield error("embedding_bag_offsets_sum", "offset", "EmbeddingBagOffsetsSum",
                [TABLE, INDICES, np.int32([0, 9])], ["EmbeddingBagOffsetsSum", "offsets[1] is 9"],
                "An offset beyond the indices.", 3)
    yield error("embedding_segments_sum", "unsorted", "EmbeddingSegmentsSum",
                [TABLE, INDICES, np.int32([0, 1, 0, 1, 1, 1]),
                 ints(2, np.int32)], ["EmbeddingSegmentsSum", "segment_ids[2] is 0"],
                "Segments that are not sorted.", 3)
    yield error("embedding_bag_packed", "mean_weights", "EmbeddingBagPacked",
                [TABLE, INDICES.reshape(3, 2), WEIGHTS.reshape(3, 2)],
                ["EmbeddingBagPacked", "per_sample_weights"], "The mean takes no weights.", 15,
                attrs={"reduction": "mean"})


# ---- CTC ----------------------------------------------------------------------------------------


def decode(classes, blank, merge):
    """-1 fills the rest."""
    found, before = [], -1
    for c in classes:
        if c != blank and not (merge and c == before):
            found.append(c)
        before = c
    return found


def logits(paths, n_classes, key):
    """[N][T][C] with the best class as in paths."""
    x = uniform(rng("ctc", key), (*np.shape(paths), n_classes), -1, 0)
    np.put_along_axis(x, np.asarray(paths)[..., None], np.float32(0.5), -1)
    return x


PATHS = [[0, 0, 3, 0, 1, 1, 3, 3], [2, 2, 2, 3, 2, 1, 1, 0], [3, 3, 3, 3, 3, 3, 3, 3]]


def ctc_cases():
    lengths = [8, 6, 3]
    for merge in (True, False):
        for name, ends in (("whole", [8, 8, 8]), ("masked", lengths)):
            x = logits(PATHS, 4, 1)
            mask = np.float32([[t < n for n in ends] for t in range(8)])
            rows = [decode(p[:n], 3, merge) for p, n in zip(PATHS, ends)]
            want = np.float32([r + [-1] * (8 - len(r)) for r in rows]).reshape(3, 8, 1, 1)
            word = "merge" if merge else "keep"
            yield one_op("ctc_greedy_decoder", f"{name}_{word}", "CTCGreedyDecoder",
                         [x.transpose(1, 0, 2).copy(), mask], want,
                         f"ctc_merge_repeated {merge}, lengths {ends}.",
                         attrs={"ctc_merge_repeated": merge})
        for name, blank in (("last_blank", None), ("blank_0", 0), ("blank_outside", 9)):
            x = logits(PATHS, 4, 2)
            rows = [
                decode(p[:n], 3 if blank is None else blank, merge) for p, n in zip(PATHS, lengths)
            ]
            want = (np.int32([r + [-1] * (8 - len(r))
                              for r in rows]), np.int32([len(r) for r in rows]))
            if blank == 9 and merge:
                continue
            yield one_op(
                "ctc_greedy_decoder_seq_len", f"{name}_{'merge' if merge else 'keep'}",
                "CTCGreedyDecoderSeqLen",
                [x, np.int32(lengths)] + ([] if blank is None else [ints(blank, np.int32)]), want,
                f"merge_repeated {merge}, blank_index {blank}.", 6, attrs={
                    "merge_repeated": merge, "classes_index_type": "i32", "sequence_length_type":
                    "i32"
                })
    x = logits(PATHS, 4, 3)
    rows = [decode(p, 3, True) for p in PATHS]
    yield one_op(
        "ctc_greedy_decoder_seq_len", "i64", "CTCGreedyDecoderSeqLen", [x, np.int64([8, 8, 8])],
        (np.int64([r + [-1] * (8 - len(r))
                   for r in rows]), np.int64([len(r) for r in rows])), "All in i64.", 6,
        attrs={"merge_repeated": True, "classes_index_type": "i64", "sequence_length_type": "i64"})
    yield one_op(
        "ctc_greedy_decoder_seq_len", "dynamic", "CTCGreedyDecoderSeqLen",
        [x, np.int32([8, 8, 8])], (np.int32([r + [-1] * (8 - len(r))
                                             for r in rows]), np.int32([len(r) for r in rows])),
        "No dimension is known.", 6,
        attrs={"merge_repeated": True, "classes_index_type": "i32", "sequence_length_type":
               "i32"}, dynamic=True)
    yield error(
        "ctc_greedy_decoder_seq_len", "too_long", "CTCGreedyDecoderSeqLen",
        [x, np.int32([8, 9, 8])], ["CTCGreedyDecoderSeqLen", "sequence_length[1] is 9", "8"],
        "A length beyond the steps.", 6, 2,
        {"merge_repeated": True, "classes_index_type": "i32", "sequence_length_type": "i32"})


def cases():
    yield from bag_cases()
    yield from ctc_cases()
