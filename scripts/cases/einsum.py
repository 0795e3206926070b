# Einsum.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, F64, rng, uniform
from .one_op import error, one_op

FLOAT = "--atol 5e-6 --rtol 1e-5"


def case(name, equation, arrays, about, args=FLOAT, **more):
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays]
    want = np.asarray(np.einsum(equation.replace(" ", ""), *wide)).astype(arrays[0].dtype)
    return one_op("einsum", name, "Einsum", arrays, want, about, 7, args, attrs={"equation": equation}, **more)


def cases():
    g = rng("einsum")

    def x(*shape):
        return uniform(g, shape, -1, 1)
    yield case("matrix_product", "ij,jk->ik", [x(3, 4), x(4, 5)], "A product of matrices.")
    yield case("transposed_sides", "ji,kj->ik", [x(4, 3), x(5, 4)], "Both matrices lie the other way.")
    yield case("implicit_output", "ab,bc", [x(3, 4), x(4, 5)], "Without an arrow: what occurs once, in order.")
    yield case("implicit_order", "bA,Ac", [x(3, 4), x(4, 5)], "Labels in order: capitals first.")
    yield case("batch", "bij,bjk->bik", [x(2, 3, 4), x(2, 4, 5)], "A batch of products.")
    yield case("batch_last", "ijb,bkj->kbi", [x(3, 4, 2), x(2, 5, 4)], "The batch stands anywhere.")
    yield case("attention", "bqhd,bkhd->bhqk", [x(2, 3, 4, 5), x(2, 6, 4, 5)], "Scores of attention.")
    yield case("transpose", "abc->cab", [x(2, 3, 4)], "One input: a transposition.")
    yield case("row_sums", "ij->i", [x(5, 7)], "One input: sums.")
    yield case("total", "ijk->", [x(2, 3, 4)], "One input: the sum of all.")
    yield case("trace", "ii->", [x(5, 5)], "A diagonal, summed.")
    yield case("diagonal", "kii->ik", [x(3, 4, 4)], "A diagonal.")
    yield case("diagonal_product", "iij,jk->ik", [x(3, 3, 4), x(4, 2)], "A diagonal times a matrix.")
    yield case("dot", "i,i->", [x(9), x(9)], "A product of vectors.")
    yield case("outer", "i,jk->kij", [x(3), x(4, 2)], "An outer product.")
    yield case("hadamard", "ij,ij->ji", [x(3, 4), x(3, 4)], "Nothing is summed.")
    yield case("lone_labels", "aij,jkb->ik", [x(2, 3, 4), x(4, 5, 3)], "Labels of one input that are summed alone.")
    yield case("three_inputs", "ij,jk,kl->li", [x(3, 4), x(4, 5), x(5, 2)], "A chain of three.")
    yield case("four_inputs", "ab,bc,cb,ad->dc", [x(2, 3), x(3, 4), x(4, 3), x(2, 5)], "A label in three of four.")
    yield case("ellipsis", "...ij,...jk->...ik", [x(2, 1, 3, 4), x(5, 4, 2)], "Ellipses broadcast.")
    yield case("ellipsis_one_side", "a...b,bc->...ca", [x(3, 2, 4, 5), x(5, 2)], "An ellipsis in the middle.")
    yield case("ellipsis_implicit", "i...,ij", [x(3, 2, 4), x(3, 5)], "Without an arrow its dimensions come first.")
    yield case("blanks", "i j , j k -> i k", [x(3, 4), x(4, 5)], "Blanks mean nothing.", openvino=departures.EINSUM_BLANKS)
    yield case("large", "bij,bjk->bik", [x(2, 33, 65), x(2, 65, 17)], "Larger matrices.", "--atol 2e-5 --rtol 1e-5")
    many = rng("einsum many rows")
    yield case("many_rows", "bqhd,bkhd,bkhe->bqhe", [
        uniform(many, (2, 20, 3, 18), -1, 1),
        uniform(many, (2, 35, 3, 18), -1, 1),
        uniform(many, (2, 35, 3, 17), -1, 1)
    ], "Attention without a SoftMax, large enough for panels packed in every run.", "--atol 2e-5 --rtol 1e-5")
    i = np.int32(g.integers(-9, 9, (3, 4)))
    yield case("i32", "ij,kj->ik", [i, np.int32(g.integers(-9, 9, (5, 4)))], "In i32.", EXACT)
    yield case("i32_sums", "ij,k->k", [i, np.int32([1, 2, 3])], "Sums in i32.", EXACT)
    yield case("f64", "ij,jk->ik", [g.uniform(-1, 1, (3, 4)), g.uniform(-1, 1, (4, 5))], "In f64.", F64,
               confirm_tolerance=(1e-6, 1e-5))
    yield case("dynamic", "bij,bjk->bik", [x(2, 3, 4), x(2, 4, 5)], "No dimension is known.", dynamic=True)
    yield case("nothing_summed_over", "ij,jk->ik", [x(3, 0), x(0, 2)], "A sum over nothing is 0.")
    a = x(2, 3)
    for name, equation, fragment in (
            ("einsum_rank", "ijk,jk->i", "input 0 (input) is f32 [2,3], expected 3 dimensions as in equation"),
            ("einsum_dims", "ij,ij->i", "input 1 (input) is f32 [3,3], expected 2 along axis 0"),
            ("einsum_output", "ij,jk->iz", "has an output label that is repeated or not in the inputs"),
            ("einsum_letters", "i1,jk->i", "is not a list of letters and ellipses"),
            ("einsum_inputs", "ij,jk,k->i", "does not have 2 inputs"),
            ("einsum_rank_ellipsis", "i...jk,jk->i",
             "input 0 (input) is f32 [2,3], expected at least 3 dimensions as in equation")):
        yield error("error_op", name, "Einsum", [a, x(3, 3)], [fragment], f"Equation {equation}.", 7,
                    attrs={"equation": equation})
