# Files that must be refused: graph, XML, weights, ops without meaning here, and records that do not
# fit.
# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np

from .common import npz_bytes
from .errors_model import DATA, UNSUPPORTED, X, binary, refused
from .net import Net


def base(name, shape=(1, 3)):
    net = Net(name)
    x = net.param("x", "f32", list(shape))
    twice = binary(net, "Add", x, net.const(np.float32([[1, 2, 3]]), name="weights")).named("twice")
    twice.layer.name = "adder"
    net.result(binary(net, "Multiply", twice, x), "y")
    return net


def edit(family, name, about, stderr, change, code=DATA, **more):
    net = base(name)
    net.rewrite = change
    return refused(family, name, net, about, stderr, code, **more)


def swap(old, new):
    def change(text):
        assert old in text, (old, text)
        return text.replace(old, new, 1)

    return change


def graph_cases():
    def graph(name, about, stderr, change):
        return edit("graph", name, about, ["model.xml:"] + stderr, change)

    yield graph("missing_edge", "An input port without an edge.", ["adder"],
                lambda t: re.sub(r'\t\t<edge from-layer="1"[^>]*>\n', "", t))
    yield graph(
        "two_edges_to_one_input", "Two edges end at one input port.", ["adder"],
        swap('</edges>',
             '\t<edge from-layer="0" from-port="0" to-layer="2" to-port="1" />\n\t</edges>'))
    yield graph("unknown_source_layer", "An edge from a layer that does not exist.", ["77"],
                swap('<edge from-layer="1" from-port="0"', '<edge from-layer="77" from-port="0"'))
    yield graph("unknown_source_port", "An edge from a port that the layer has not.", ["9"],
                swap('<edge from-layer="1" from-port="0"', '<edge from-layer="1" from-port="9"'))
    yield graph("unknown_target_port", "An edge to a port that the layer has not.", ["5"],
                swap('to-layer="2" to-port="1"', 'to-layer="2" to-port="5"'))
    yield graph(
        "cycle", "Two layers feed each other: both are named.", ["adder", "Multiply_3"],
        swap('<edge from-layer="1" from-port="0" to-layer="2"',
             '<edge from-layer="3" from-port="2" to-layer="2"'))
    yield graph(
        "cycle_of_itself", "A layer feeds itself.", ["adder"],
        swap('<edge from-layer="1" from-port="0" to-layer="2"',
             '<edge from-layer="2" from-port="2" to-layer="2"'))
    yield graph("duplicate_layer_id", "Two layers of one id.", ["id", "1"],
                swap('<layer id="2" name="adder"', '<layer id="1" name="adder"'))
    yield graph("layer_without_id", "A layer without id.", ["id"],
                swap('<layer id="2" name="adder"', '<layer name="adder"'))
    yield graph(
        "too_few_inputs", "An Add with one input port.", ["adder"], lambda t: re.sub(
            r'\t\t<edge from-layer="1"[^>]*>\n', "",
            re.sub(r'(name="adder".*?)<port id="1" precision="FP32">.*?</port>\s*', r"\1", t, count=
                   1, flags=re.S)))
    yield graph("dim_below_minus_one", "A dimension of -7.", ["-7"],
                swap("<dim>3</dim>", "<dim>-7</dim>"))
    yield graph("dim_no_number", "A dimension that is not a number.", ["three"],
                swap("<dim>3</dim>", "<dim>three</dim>"))


def xml_cases():
    def xml(name, about, stderr, change, code=DATA):
        return edit("xml", name, about, stderr, change, code)

    yield xml("truncated", "The file ends in the middle: line and column.", ["model.xml:"],
              lambda t: t[:len(t) // 2])
    yield xml("mismatched_tag", "A tag that is closed by another.",
              ["model.xml:", "mismatched tag"], swap("</layers>", "</layer>"))
    yield xml("not_xml", "Plain text.", ["model.xml:"], lambda t: "weights and measures\n")
    yield xml("empty", "No byte at all.", ["model.xml"], lambda t: "")
    yield xml("doctype", "IR has no DOCTYPE.", ["model.xml:", "DOCTYPE"],
              swap('<net name', '<!DOCTYPE net [<!ENTITY a "aaaa">]>\n<net name'))
    yield xml("other_root", "The root is not net.", ["model.xml:", "html"],
              lambda t: t.replace("<net ", "<html ").replace("</net>", "</html>"))
    yield xml("duplicate_attribute", "An attribute given twice.",
              ["model.xml:", "duplicate attribute"],
              swap('name="adder"', 'name="adder" name="adder"'))
    yield xml("version_7", "IR of version 7, of 2019.", ["version", "7"],
              swap('version="11"', 'version="7"'), UNSUPPORTED)
    yield xml("version_12", "IR of a version to come.", ["version", "12"],
              swap('version="11"', 'version="12"'), UNSUPPORTED)
    yield xml("version_absent", "IR without a version.", ["version"], swap(' version="11"', ""))
    yield xml("layer_type_absent", "A layer without a type.", ["<layer>", "type"],
              swap('type="Add" ', ""))
    yield xml("element_type_unknown", "A Parameter of a type that does not exist.",
              ["f33", "element_type"], swap('element_type="f32"', 'element_type="f33"'))
    yield xml("shape_text", "A shape that is none.", ["shape", "1,x"],
              swap('shape="1,3"', 'shape="1,x"'))
    yield xml("shape_too_large", "A shape whose size overflows.", ["weights"],
              swap('shape="1, 3"', 'shape="4294967296, 4294967296, 4294967296"'))


def weights_cases():
    def weights(name, about, stderr, change, **more):
        return edit("weights", name, about, stderr, change, **more)

    yield weights("outside", "A Const that ends after the .bin: what it needs and what there is.",
                  ["weights", "12", "100"], swap('offset="0" size="12"', 'offset="100" size="12"'))
    yield weights("offset_overflow", "offset + size is beyond 64 bits.", ["weights"],
                  swap('offset="0" size="12"', 'offset="18446744073709551610" size="12"'))
    yield weights("size_too_small", "size is less than the shape needs.", ["weights", "8", "12"],
                  swap('offset="0" size="12"', 'offset="0" size="8"'))
    yield weights("no_bin", "There is no .bin, and a Const needs it.", ["model.bin"], lambda t: t,
                  code=66, files={"model.bin": None})
    pointer = (b"version https://git-lfs.github.com/spec/v1\noid sha256:" +
               b"0123456789abcdef" * 4 + b"\nsize 12345\n")
    yield weights("git_lfs_pointer", "The .bin is the pointer that git-lfs leaves.", ["git", "lfs"],
                  lambda t: t, files={"model.bin": pointer})
    yield weights("const_without_offset", "A Const without offset.", ["weights", "offset"],
                  swap('offset="0" ', ""))


def op_cases():
    net = base("unknown_ops")
    last = net.layers[3].outputs[0]
    for k, kind in enumerate(("Frobnicate", "Quux", "Frobnicate")):
        last = net.op(kind, last, name=f"strange {k}")
    net.result(last, "z")
    yield refused("op", net.name, net,
                  "Three layers of two unknown types: all are listed, with counts.",
                  ["Frobnicate", "Quux", "2 x", "1 x"], UNSUPPORTED)
    yield edit("op", "opset_99", "An opset that does not exist.", ["Add", "opset99"],
               swap('type="Add" version="opset1"', 'type="Add" version="opset99"'), UNSUPPORTED)
    yield edit("op", "older_than_the_op", "An op in an opset that did not have it yet.",
               ["Mish", "opset1"],
               swap('type="Multiply" version="opset1"',
                    'type="Mish" version="opset1"'), UNSUPPORTED)
    yield edit("op", "type_string", "Strings are not supported.", ["string"],
               swap('element_type="f32"', 'element_type="string"'), UNSUPPORTED)

    def select(name, about, words, types=("boolean", "f32", "f32"), shapes=((1, 3),) * 3,
               mode="numpy"):
        net = Net(name)
        ports = [
            net.param(n, t, list(s)) for n, t, s in zip(("cond", "then", "else"), types, shapes)
        ]
        net.result(net.op("Select", *ports, name="chooser", auto_broadcast=mode), "y")
        kinds = {
            "boolean": np.bool_, "f32": np.float32, "i32": np.int32, "i64": np.int64, "u8": np.uint8
        }
        feed = {
            n: np.zeros(s, kinds[t])
            for n, t, s in zip(("cond", "then", "else"), types, shapes)
        }
        return refused("op", name, net, about, ["model.xml:", "chooser"] + words, feed=feed)

    yield select("select_condition_type", "The condition is u8.", ["u8", "boolean"],
                 ("u8", "f32", "f32"))
    yield select("select_branch_types", "The branches are i64 and i32.", ["i64", "i32"],
                 ("boolean", "i64", "i32"))
    yield select("select_shapes", "Shapes that do not broadcast.", ["[2,3]", "[4,3]"],
                 shapes=((1, 3), (2, 3), (4, 3)))
    yield select("select_none_shapes", "auto_broadcast none with unequal shapes.", ["[3]", "[1,3]"],
                 shapes=((3,), (1, 3), (1, 3)), mode="none")
    yield select("select_pdpd_shapes", "pdpd: else does not fit into then.", ["[4]"],
                 shapes=((1, 3), (1, 3), (4,)), mode="pdpd")
    yield select("select_broadcast_word", "auto_broadcast of a word that does not exist.",
                 ["auto_broadcast", "torch"], mode="torch")
    for name, op, attrs, shapes, words in (("matmul_inner", "MatMul", {
            "transpose_a": False, "transpose_b": False
    }, ((1, 3), (4, 5)), ["[1,3]",
                          "[4,5]"]), ("concat_other_axis", "Concat", {
                              "axis": 0
                          }, ((1, 3), (1, 4)), ["[1,4]"]), ("add_broadcast", "Add", {
                              "auto_broadcast": "numpy"
                          }, ((2, 3), (2, 4)), ["[2,3]", "[2,4]"]), ("concat_axis", "Concat", {
                              "axis": 5
                          }, ((1, 3), (1, 3)), ["axis", "5"])):
        net = Net(name)
        ports = [net.param(n, "f32", list(s)) for n, s in zip("ab", shapes)]
        net.result(net.op(op, *ports, name="culprit", **attrs), "y")
        yield refused("op", name, net, f"{op} of {list(shapes[0])} and {list(shapes[1])}.",
                      ["model.xml:", "culprit"] + words,
                      feed={n: np.ones(s, np.float32)
                            for n, s in zip("ab", shapes)})
    net = Net("reshape_count")
    net.result(
        net.op("Reshape", net.param("x", "f32", [1, 3]), net.i64([2, 2]), special_zero=False,
               name="culprit"), "y")
    yield refused("op", net.name, net, "Three elements into four.",
                  ["model.xml:", "culprit", "[1,3]", "[2,2]"])
    for op in ("Divide",):
        net = Net("divide_by_zero")
        net.result(binary(net, op, net.param("a", "i32", [2]), net.param("b", "i32", [2])), "y")
        net.layers[2].name = "quotient"
        yield refused("op", net.name, net, "An integer division by zero.", ["quotient", "zero"],
                      feed={"a": np.array([4, 4], np.int32), "b": np.array([2, 0], np.int32)})


def record_cases():
    def record(name, about, stderr, feed, code=DATA, args="", **more):
        return refused("record", name, base(name), about, stderr, code, feed, args, **more)

    f32 = np.float32
    yield record("wrong_shape", "The record is [1,4], the Parameter [1,3].",
                 ["x", "[1,4]", "[1,3]"], {"x": np.zeros((1, 4), f32)})
    yield record("wrong_rank", "An array of rank 4 is neither a record nor a stack.",
                 ["x", "[1,1,1,3]"], {"x": np.zeros((1, 1, 1, 3), f32)})
    yield record("wrong_type", "f64 does not fit into f32 safely.", ["x", "f64", "f32"],
                 {"x": np.zeros((1, 3))})
    yield record("missing_member", "No member for the input.", ["x"], {"z": X})
    yield record("extra_member", "A member that is not an input.", ["stranger"],
                 {"x": X, "stranger": X})
    yield record("reset_by_nobody", "--reset=if: names nothing there is.", ["nobody"],
                 {"x": np.stack([X, X])}, 2, "--reset=if:nobody")
    yield record("expectation_fails",
                 "The output differs from what is expected: where, and both values.",
                 ["y", "2", "13"], {"x": np.stack([X, X])}, 1, files={
                     "out.npz": npz_bytes({"y": np.array([[[2, 3, 4]], [[2, 3, 13]]], f32)})
                 })
    yield record("expectation_of_another_shape", "The output has another shape than expected.",
                 ["y", "[1,3]", "[1,2]"], {"x": X}, 1,
                 files={"out.npz": npz_bytes({"y": np.zeros((1, 2), f32)})})
    yield record("expectation_of_another_type", "The output has another type than expected.",
                 ["y", "f32", "i32"], {"x": X}, 1,
                 files={"out.npz": npz_bytes({"y": np.zeros((1, 3), np.int32)})})
    net = Net("records_differ_in_number")
    net.result(binary(net, "Add", net.param("a", "f32", [2]), net.param("b", "f32", [2])), "y")
    yield refused("record", net.name, net, "Three records of one input, two of the other.",
                  ["\"a\"", "\"b\"", "2"],
                  feed={"a": np.zeros((3, 2), f32), "b": np.zeros((2, 2), f32)})


def cases():
    for make in (graph_cases, xml_cases, weights_cases, op_cases, record_cases):
        yield from make()
