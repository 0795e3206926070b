# Ways to write the same model: versions, spellings, ports, sections, encodings.
# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np

from . import departures
from .common import EXACT, Case, rng, uniform
from .net import Net

FAMILY = "ir_form"
X = np.round(uniform(rng(FAMILY), (3, 1, 4)) * 64) / 64


def base(name, version=11):
    """y = (sum of x so far) * [1, 2, 3, 4]."""
    net = Net(name, version)
    x = net.param("x", "f32", [1, 4])
    s = net.read("sum", net.const(np.zeros((1, 4), np.float32)), name="the sum")
    total = net.op("Add", s, x, auto_broadcast="numpy", name="add")
    net.assign("sum", total)
    net.result(
        net.op("Multiply", total, net.const(np.float32([[1, 2, 3, 4]])), auto_broadcast="numpy",
               name="scale"), "y")
    return net


WANT = {"y": np.cumsum(X, axis=0) * np.float32([1, 2, 3, 4])}


def case(net, about, openvino="", feed=None, want=None, **more):
    return Case(FAMILY, net.name, net, feed or {"x": X}, want or WANT, about, EXACT, openvino,
                **more)


def rewritten(name, about, change, openvino="", **more):
    net = base(name)
    net.rewrite = change
    return case(net, about, openvino, **more)


def swap(old, new, count=-1):
    def change(text):
        assert old in text, old
        return text.replace(old, new, count)

    return change


def document_cases():
    yield case(base("version_10", 10), "Version 10.")
    net = base("const_port_1")
    for layer in net.layers:
        if layer.type == "Const":
            layer.first_output = 1
    yield case(net, "Consts end at port 1, as old converters wrote it.")
    net = base("port_gaps")
    for layer in net.layers:
        if layer.outputs:
            layer.first_output = 7 + 3 * layer.id
    yield case(net, "Output ports with numbers far apart.")
    net = base("edges_first")
    net.edges_first = True
    yield case(net, "edges before layers.")
    net = base("layers_backwards")
    net.layers.reverse()
    yield case(net, "Layers from the last to the first; the Assign stands before what feeds it.")
    net = base("large_ids")
    for layer in net.layers:
        layer.id = 4000000000 - 7 * layer.id
    yield case(net, "Layer ids that need 32 bits, in no order.")
    yield rewritten("no_declaration", "No XML declaration.", swap('<?xml version="1.0"?>\n', ""))
    yield rewritten("crlf", "Lines end in CR LF.", swap("\n", "\r\n"))
    yield rewritten("one_line", "No line breaks at all.", lambda t: re.sub(r">\s+<", "><", t))
    yield rewritten("bom", "A byte order mark in front.", lambda t: "\ufeff" + t)
    net = base("utf_16")
    net.encoding = "utf-16"
    net.rewrite = swap('<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-16"?>')
    yield case(net, "UTF-16 with its mark.")
    net = base("latin_1")
    net.encoding = "latin-1"
    net.rewrite = lambda t: t.replace('<?xml version="1.0"?>',
                                      '<?xml version="1.0" encoding="ISO-8859-1"?>').replace(
                                          "the sum", "größte Summe")
    yield case(net, "ISO-8859-1 with letters beyond ASCII.")
    yield rewritten(
        "comments_and_blanks", "Comments everywhere, blanks around numbers.",
        lambda t: re.sub(r"<dim>(\d+)</dim>", r"<dim> \1 </dim><!-- a - comment -->", t).replace(
            "<layers>", "<layers><!-- <layer> -->"))
    yield rewritten("single_quotes", "Attributes in single quotes.", lambda t: t.replace('"', "'"))
    yield rewritten(
        "attribute_order", "Attributes in another order.",
        lambda t: re.sub(r'<layer (id="\d+") (name="[^"]*") (type="[^"]*") (version="[^"]*")',
                         r"<layer \4 \3 \2 \1", t))
    yield rewritten("entities", "Entities and character references in names.",
                    lambda t: t.replace('name="add"', 'name="a&amp;d&#100;&#x2F;&lt;1&gt;"'))


def section_cases():
    noise = """\t<meta_data>
\t\t<MO_version value="2021.4"/>
\t\t<cli_parameters>
\t\t\t<layer value="x"/>
\t\t\t<edges/>
\t\t</cli_parameters>
\t</meta_data>
\t<quantization_parameters><config>{"a": 1}</config></quantization_parameters>
\t<statistics>
\t\t<layer>
\t\t\t<name>add</name>
\t\t\t<min>0,1</min>
\t\t\t<max>2,3</max>
\t\t</layer>
\t</statistics>
"""
    yield rewritten("old_sections",
                    "meta_data, quantization_parameters and statistics with layers of their own.",
                    swap("</net>", noise + "</net>"))
    info = """\t<rt_info>
\t\t<Runtime_version value="x"/>
\t\t<conversion_parameters><framework value="onnx"/><layers value="7"/></conversion_parameters>
\t\t<version><net><layer/></net></version>
\t\t<nncf><weight_compression><mode value="int4_sym"/></weight_compression></nncf>
\t</rt_info>
"""
    yield rewritten("net_rt_info", "rt_info of the net, with tags that mean something elsewhere.",
                    swap("</net>", info + "</net>"))
    inner = ('<rt_info>\n\t\t\t\t<attribute name="fused_names" version="0" value="a,b" />\n'
             '\t\t\t\t<attribute name="layer" version="0" />\n\t\t\t</rt_info>\n')
    yield rewritten(
        "layer_rt_info", "rt_info in a layer and in a port.",
        lambda t: t.replace('<data auto_broadcast="numpy" />\n',
                            '<data auto_broadcast="numpy" />\n\t\t\t' + inner, 1).
        replace(
            '<dim>4</dim>\n\t\t\t\t</port>\n\t\t\t</output>',
            '<dim>4</dim>\n\t\t\t\t\t<rt_info><attribute '
            'name="layout" version="0" layout="[N,C]" /></rt_info>\n'
            '\t\t\t\t</port>\n\t\t\t</output>',
            1))
    yield rewritten(
        "unknown_elements", "Elements and attributes nobody knows.",
        lambda t: t.replace("<layers>", "<layers>\n\t\t<mystery deep=\"1\"><layers/></mystery>", 1).
        replace('<data auto_broadcast="numpy" />',
                '<data auto_broadcast="numpy" axis="1" stray="yes" />').replace(
                    'type="Add" version="opset1"', 'type="Add" version="opset1" precision="FP32"'))
    yield rewritten(
        "stale_ports", "Dims and precision of ports are only hints, and here they are wrong.",
        lambda t: re.sub(
            r'(name="scale".*?<output>\s*<port id="2" precision=")FP32(" names="y">\s*<dim>)1',
            r"\1I8\g<2>77", t, flags=re.S))
    yield rewritten(
        "no_input_precision", "Input ports without precision.",
        lambda t: re.sub(r"<input>.*?</input>", lambda m: m.group(0).replace(
            ' precision="FP32"', ""), t, flags=re.S))


def spelling_cases():
    yield rewritten("opset6_everywhere", "Parameter, Const, Add and Result of opset6.",
                    lambda t: t.replace('version="opset1"', 'version="opset6"'))
    yield rewritten(
        "types_lower_case", "Types in other letters.", lambda t: t.replace(
            'type="Add"', 'type="aDD"').replace('type="Multiply"', 'type="MULTIPLY"'))
    yield rewritten("shape_in_brackets", "Parameter's shape in brackets.",
                    swap('shape="1,4"', 'shape="[1, 4]"'))
    yield rewritten("shape_question_marks", "Parameter's shape unknown: ? and an interval.",
                    swap('data shape="1,4" element', 'data shape="?,2..8" element'))
    yield rewritten("shape_minus_one", "Unknown dimensions as -1.",
                    swap('data shape="1,4" element', 'data shape="-1,-1" element'))
    yield rewritten("const_size_too_large", "A Const whose size says more than it needs.",
                    swap('offset="0" size="16"', 'offset="0" size="32"'))
    net = Net("alias_types")
    x = net.param("x", "f32", [1, 4])
    net.result(net.op("SoftMax", net.op("ReLU", x, name="r"), axis=1, name="s"), "y")
    net.rewrite = lambda t: t.replace('type="ReLU"', 'type="Relu"').replace(
        'type="SoftMax"', 'type="Softmax"')
    e = np.exp(np.float64(np.maximum(X, 0)))
    yield Case(FAMILY, net.name, net, {"x": X}, {"y": np.float32(e / e.sum(axis=2, keepdims=True))},
               "Relu and Softmax, the names of the classes.", "--atol 1e-7 --rtol 1e-6")
    net = base("const_type_from_port")
    net.version = 10
    net.rewrite = lambda t: re.sub(r'<data element_type="f32" shape="1, 4" offset', "<data offset",
                                   t)
    yield case(
        net,
        "The oldest version 10 files: a Const has only offset and size, the port says the rest.",
        departures.CONST_FROM_PORT, stand_in=base("twin"))


def name_cases():
    net = Net("names_with_comma")
    x = net.param("x", "f32", [1, 4])
    y = net.op("Add", x, x, auto_broadcast="numpy").named("sum, of two", "z:0", "other/name")
    net.result(y)
    yield case(net, "Tensor names with a comma in one of them; the first is the output's name.",
               feed={"x": X}, want={"sum, of two": X + X})
    net = Net("unnamed_outputs")
    a, b = net.op("Split", net.param("x", "f32", [1, 4]), net.i64(1), outs=2, name="two parts",
                  num_splits=2)
    net.result(a)
    net.result(b)
    yield case(net, "Outputs without tensor names: the layer's name with the port's number.",
               feed={"x": X}, want={"two parts:0": X[..., :2], "two parts:1": X[..., 2:]})
    net = Net("unnamed_output")
    net.result(
        net.op("Multiply", net.param("x", "f32", [1, 4]), net.const(np.float32(3)),
               auto_broadcast="numpy", name="triple"))
    yield case(net, "An output without a tensor name is called like its layer.",
               want={"triple": X * 3})
    net = Net("result_of_parameter")
    net.result(net.param("x", "f32", [1, 4]), "y")
    yield case(net, "A Parameter that is a Result: its names are x and y.", want={"x": X})
    net = Net("result_of_const")
    net.result(net.const(np.float32([[1, 2]]), name="two"), "y")
    net.result(net.op("Abs", net.param("x", "f32", [1, 4])), "z")
    yield case(net, "A Const that is a Result.",
               want={"y": np.tile(np.float32([[1, 2]]), (3, 1, 1)), "z": np.abs(X)})
    net = Net("result_of_f16_constants")
    net.result(
        net.op("Multiply", net.const(np.float16([[1, 2]])), net.const(np.float16([[0.5]])),
               auto_broadcast="numpy"), "y")
    net.result(net.op("Abs", net.param("x", "f32", [1, 4])), "z")
    yield case(net, "A Result of what is computed from f16 constants alone.",
               want={"y": np.tile(np.float16([[0.5, 1]]), (3, 1, 1)), "z": np.abs(X)})
    net = Net("two_results_of_one_port")
    y = net.op("Abs", net.param("x", "f32", [1, 4]))
    net.result(y, "y")
    net.result(y, None, name="again")
    yield case(net, "Two Results of one port: the second goes by its own name.",
               want={"y": np.abs(X), "again": np.abs(X)})
    net = Net("unused_parameter")
    net.result(net.op("Abs", net.param("x", "f32", [1, 4])), "y")
    net.param("unused", "f32", [2])
    yield case(net, "A Parameter that nothing reads is still an input.",
               feed={"x": X, "unused": np.zeros((3, 2), np.float32)}, want={"y": np.abs(X)})


def dead_cases():
    net = base("dead_unknown_op")
    dead = net.op("NoSuchOp", net.layers[0].outputs[0], v=99, name="dead")
    net.op("NoSuchOpEither", dead, v="private", name="deader")
    yield case(net, "Layers of unknown types that lead to no Result are not looked at.")
    net = base("dead_const_outside")
    net.rewrite = swap(
        "</layers>", '<layer id="90" name="dead" type="Const" version="opset1">'
        '<data element_type="f32" shape="9" offset="1000000" size="36" /><output><port id="0" '
        'precision="FP32"><dim>9</dim></port></output></layer></layers>')
    yield case(net, "A Const outside the .bin that nothing reads.")
    net = Net("no_bin")
    net.result(net.op("Abs", net.param("x", "f32", [1, 4])), "y")
    yield case(net, "No Const, no .bin.", want={"y": np.abs(X)})
    net = Net("shared_and_unaligned")
    x = net.param("x", "f32", [1, 4])
    byte = net.const(np.array([7], np.uint8))
    wide = net.const(np.float32([[1.5, -2, 0.25, 8]]))
    same = net.const(np.float32([[1.5, -2, 0.25, 8]]), name="same bytes")
    total = net.op("Add", net.op("Multiply", x, wide, auto_broadcast="numpy"), same,
                   auto_broadcast="numpy")
    net.result(
        net.op("Add", total, net.op("Convert", byte, destination_type="f32"),
               auto_broadcast="numpy"), "y")
    c = np.float32([[1.5, -2, 0.25, 8]])
    yield case(net, "Two Consts at one odd offset.", want={"y": (X * c + c) + np.float32(7)})
    net = Net("deep_chain")
    p = net.param("x", "f32", [1, 4])
    for _ in range(300):
        p = net.op("Add", p, net.layers[0].outputs[0], auto_broadcast="none")
    net.result(p, "y")
    total = X
    for _ in range(300):
        total = total + X
    yield case(net, "A chain of 300 layers.", want={"y": total})


def cases():
    for make in (document_cases, section_cases, spelling_cases, name_cases, dead_cases):
        yield from make()
