# Writes OpenVINO IR by hand: a Net is a list of layers that render as XML and a .bin.
# OpenVINO's own writer cannot write every layer there is (LSTMSequence-1, peepholes, odd port
# numbers, broken files), and its files are larger. Knows nothing of what the ops mean.
# SPDX-License-Identifier: Apache-2.0
from xml.sax.saxutils import quoteattr

import numpy as np

# element_type -> (precision of a port, NumPy type or None where NumPy has none)
TYPES = {
    "f16": ("FP16", np.float16), "f32": ("FP32", np.float32), "f64": ("FP64", np.float64),
    "bf16": ("BF16", None), "boolean": ("BOOL", np.bool_), "i4": ("I4", None), "u4": ("U4", None),
    "u1": ("BIN", None), "nf4": ("NF4", None), "u2": ("U2", None), "i8": ("I8", np.int8),
    "i16": ("I16", np.int16), "i32": ("I32", np.int32), "i64": ("I64", np.int64), "u8": ("U8",
                                                                                         np.uint8),
    "u16": ("U16", np.uint16), "u32": ("U32", np.uint32), "u64": ("U64", np.uint64),
}
COMPARISONS = {
    "Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr",
    "LogicalNot", "LogicalXor", "IsNaN", "IsInf"
}


def type_of(array):
    """The element_type of a NumPy array."""
    return next(
        name for name, (_, dtype) in TYPES.items() if dtype is not None and dtype == array.dtype)


def to_bf16(values):
    """The bits of values rounded to bf16, to nearest even; no NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def round_bf16(values):
    """values rounded to bf16, as f32."""
    return (to_bf16(values).astype(np.uint32) << 16).view(np.float32)


def pack_bytes(values, element_type):
    """What the .bin holds for values of element_type."""
    if element_type == "bf16":
        return to_bf16(values).tobytes()
    if element_type in ("i4", "u4", "nf4"):
        nibbles = np.ravel(values).astype(np.int64) & 15
        nibbles = np.append(nibbles, np.zeros(nibbles.size % 2, np.int64))
        return (nibbles[0::2] | nibbles[1::2] << 4).astype(np.uint8).tobytes()
    if element_type == "u1":
        return np.packbits(np.ravel(values).astype(np.uint8)).tobytes()
    return np.ascontiguousarray(values, TYPES[element_type][1]).tobytes()


def text_of(value):
    """An attribute as OpenVINO writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(text_of(v) for v in value)
    return str(value)


def shape_text(shape):
    return shape if isinstance(shape, str) else ",".join("?" if d == -1 else str(d) for d in shape)


class Port:
    """An output port. shape is None where it is not known: then no dims are written."""
    def __init__(self, layer, index, dtype, shape):
        self.layer, self.index, self.dtype, self.shape, self.names = layer, index, dtype, shape, []

    def named(self, *names):
        self.names += [n for n in names if n not in self.names]
        return self


class Layer:
    def __init__(self, net, layer_type, version, name, attrs, inputs):
        self.net, self.type, self.version, self.name = net, layer_type, version, name
        self.attrs, self.inputs, self.outputs = attrs, list(inputs), []
        self.id = len(net.layers) + net.first_id
        self.parts = []  # (tag, list of (tag, attributes)) for maps, (tag, Net) for bodies
        self.layer_attrs = {}  # further attributes of <layer>
        self.first_output = None  # port id of the first output; None: after the inputs
        self.edge_sources = {}  # input index -> (layer id, port id): overrides, for broken files
        net.layers.append(self)

    def output_port(self, index):
        first = len(self.inputs) if self.first_output is None else self.first_output
        return first + index


class Net:
    """layers, edges and weights. body() makes an inner net that shares the .bin."""
    def __init__(self, name, version=11, data=None, first_id=0):
        self.name, self.version, self.first_id = name, version, first_id
        self.layers, self.data = [], bytearray() if data is None else data
        self.extra_xml = ""  # after <edges>
        self.edges_first = False
        self.rewrite = None  # text -> text, for spellings that rendering does not know
        self.encoding = "utf-8"

    def body(self):
        return Net("", data=self.data)

    def op(self, layer_type, *inputs, v=1, outs=1, name=None, dtype=None, shape=None, data=None,
           **attrs):
        """Adds a layer of version opset<v> and returns its output port, or a tuple of outs ports.
        dtype and shape: of the outputs, one or a list; data: attributes whose names are no
        words."""
        attrs.update(data or {})
        version = v if isinstance(v, str) else f"opset{v}"
        layer = Layer(self, layer_type, version, name or f"{layer_type}_{len(self.layers)}", attrs,
                      inputs)
        if dtype is None:
            dtype = attrs.get("destination_type") or attrs.get("output_type") or (
                "boolean" if layer_type in COMPARISONS else inputs[0].dtype if inputs else "f32")
            if layer_type == "Select":
                dtype = inputs[1].dtype
        for k in range(outs):
            layer.outputs.append(
                Port(
                    layer, k, dtype[k] if isinstance(dtype, list) else dtype, shape[k]
                    if isinstance(shape, list) and shape and isinstance(shape[0],
                                                                        (list, tuple)) else shape))
        return layer.outputs[0] if outs == 1 else tuple(layer.outputs)

    def param(self, name, dtype, shape, **more):
        """shape: a list with -1 for unknown dimensions, or the text of the attribute."""
        dims = [int(d) if d.strip().isdigit() else -1 for d in shape.split(",")
                ] if (isinstance(shape, str) and "..." not in shape and shape) else shape
        port = self.op("Parameter", name=name, dtype=dtype,
                       shape=None if isinstance(dims, str) else dims,
                       data={"shape": shape_text(shape), "element_type": dtype}, **more)
        return port.named(name)

    def const(self, values, dtype=None, shape=None, name=None):
        """values: an array keeps its type, lists of floats are f32; or bytes (then dtype and shape
        must be given)."""
        if isinstance(values, bytes):
            raw = values
        else:
            is_array = isinstance(values, (np.ndarray, np.generic))
            values = np.asarray(values)
            if dtype is None:
                dtype = "f32" if values.dtype == np.float64 and not is_array else type_of(values)
            shape = list(values.shape) if shape is None else shape
            raw = pack_bytes(values, dtype)
        if not raw and not self.data:
            self.data += b"\0"  # OpenVINO cannot map a file of 0 bytes
        offset = self.data.find(raw) if len(raw) > 3 else -1
        if offset < 0:
            offset = len(self.data)
            self.data += raw
        return self.op(
            "Const", name=name, dtype=dtype, shape=list(shape), data={
                "element_type": dtype, "shape": ", ".join(map(str, shape)), "offset": offset,
                "size": len(raw)
            })

    def f64(self, values, **more):
        return self.const(np.asarray(values, np.float64), "f64", **more)

    def i64(self, values, **more):
        return self.const(np.asarray(values, np.int64), "i64", **more)

    def result(self, port, tensor_name=None, name=None):
        """Adds a Result; tensor_name becomes a name of the port that feeds it. Returns the
        Layer."""
        if tensor_name:
            port.named(tensor_name)
        layer = Layer(self, "Result", "opset1", name
                      or f"{tensor_name or 'Result'}/out_{len(self.layers)}", {}, [port])
        return layer

    def read(self, variable, init=None, dtype=None, shape=None, v=6, name=None, typed=True):
        """ReadValue. dtype, shape: of the variable, by default those of init."""
        dtype = dtype or init.dtype
        shape = init.shape if shape is None else shape
        attrs = {"variable_id": variable}
        if v >= 6 and typed:
            attrs.update(variable_type=dtype, variable_shape=shape_text(shape))
        dims = None if isinstance(shape, str) else shape
        port_type = init.dtype if init is not None and dtype == "dynamic" else dtype
        return self.op("ReadValue", *([init] if init is not None else []), v=v, dtype=port_type,
                       shape=dims, name=name or f"read_{variable}", data=attrs)

    def assign(self, variable, value, v=6, name=None):
        port = self.op("Assign", value, v=v, name=name or f"assign_{variable}",
                       data={"variable_id": variable})
        return port

    # ---- bodies --------------------------------------------------------------------------------

    def iterate(self, layer_type, inputs, body, maps, results, back=(), v=1, name=None, special=(),
                dtypes=None):
        """TensorIterator or Loop. maps: (outer input or -1, body Parameter port, attributes);
        results: (body Result layer, attributes), one per output; special: further (tag, attributes)
        of the port map; back: (body Result, body Parameter port). Returns the output ports as a
        tuple."""
        outs = len(results)
        ports = self.op(layer_type, *inputs, v=v, outs=outs, name=name, dtype=dtypes
                        or [r.inputs[0].dtype for r, _ in results])
        ports = ports if isinstance(ports, tuple) else (ports,)
        layer = ports[0].layer
        entries = [("input", {"external_port_id": i, "internal_layer_id": p.layer.id, **a})
                   for i, p, a in maps]
        entries += [("output", {
            "external_port_id": len(inputs) + k, "internal_layer_id": r.id, **a
        }) for k, (r, a) in enumerate(results)]
        entries += list(special)
        layer.parts = [("port_map", entries)]
        if back:
            layer.parts.append(
                ("back_edges", [("edge", {"from-layer": r.id, "to-layer": p.layer.id})
                                for r, p in back]))
        layer.parts.append(("body", body))
        return ports

    def choose(self, condition, inputs, then, otherwise, outs, name=None, dtypes=None):
        """If-8. then, otherwise: (body, [(outer input, Parameter port)], [Result layers]).
        Outer inputs count from 1: 0 is the condition. Returns a tuple of outs ports."""
        ports = self.op("If", condition, *inputs, v=8, outs=outs, name=name, dtype=dtypes
                        or [r.inputs[0].dtype for r in then[2]])
        ports = ports if isinstance(ports, tuple) else (ports,)
        layer = ports[0].layer
        for tag, (_, maps, results) in (("then", then), ("else", otherwise)):
            layer.parts.append(
                (f"{tag}_port_map",
                 [("input", {"external_port_id": i, "internal_layer_id": p.layer.id})
                  for i, p in maps] +
                 [("output", {"external_port_id": len(layer.inputs) + k, "internal_layer_id": r.id})
                  for k, r in enumerate(results)]))
        layer.parts += [("then_body", then[0]), ("else_body", otherwise[0])]
        return ports

    # ---- rendering -----------------------------------------------------------------------------

    def xml(self):
        lines = [
            '<?xml version="1.0"?>', f'<net name={quoteattr(self.name)} version="{self.version}">'
        ]
        lines += render_graph(self, "\t")
        if self.extra_xml:
            lines.append(self.extra_xml)
        text = "\n".join(lines + ["</net>", ""])
        return self.rewrite(text) if self.rewrite else text

    def xml_bytes(self):
        return self.xml().encode(self.encoding)


def attributes(pairs):
    return "".join(f" {key}={quoteattr(text_of(value))}" for key, value in pairs.items())


def render_port(tag_id, port, indent, names=True):
    precision = TYPES.get(port.dtype, (port.dtype.upper(),))[0]
    head = f'{indent}<port id="{tag_id}" precision="{precision}"'
    if names and port.names:
        escaped = ",".join(n.replace(",", "\\,") for n in port.names)
        head += f" names={quoteattr(escaped)}"
    if not port.shape:
        return [head + " />"]
    return [head + ">"] + [f"{indent}\t<dim>{d}</dim>" for d in port.shape] + [f"{indent}</port>"]


def render_layer(layer, indent):
    lines = [
        f'{indent}<layer id="{layer.id}" name={quoteattr(layer.name)} type="{layer.type}" '
        f'version="{layer.version}"{attributes(layer.layer_attrs)}>'
    ]
    inner = indent + "\t"
    if layer.attrs:
        lines.append(f"{inner}<data{attributes(layer.attrs)} />")
    for tag, part in layer.parts:
        if not isinstance(part, Net):
            lines += [f"{inner}<{tag}>"] + [f"{inner}\t<{t}{attributes(a)} />"
                                            for t, a in part] + [f"{inner}</{tag}>"]
    if layer.inputs:
        lines.append(f"{inner}<input>")
        for k, port in enumerate(layer.inputs):
            lines += render_port(k, port, inner + "\t", names=False)
        lines.append(f"{inner}</input>")
    if layer.outputs:
        lines.append(f"{inner}<output>")
        for k, port in enumerate(layer.outputs):
            lines += render_port(layer.output_port(k), port, inner + "\t")
        lines.append(f"{inner}</output>")
    for tag, part in layer.parts:
        if isinstance(part, Net):
            lines += [f"{inner}<{tag}>"] + render_graph(part, inner + "\t") + [f"{inner}</{tag}>"]
    return lines + [f"{indent}</layer>"]


def render_graph(net, indent):
    layers = [f"{indent}<layers>"]
    for layer in net.layers:
        layers += render_layer(layer, indent + "\t")
    layers.append(f"{indent}</layers>")
    edges = [f"{indent}<edges>"]
    for layer in net.layers:
        for k, port in enumerate(layer.inputs):
            source = layer.edge_sources.get(k, (port.layer.id, port.layer.output_port(port.index)))
            if source is not None:
                edges.append(f'{indent}\t<edge from-layer="{source[0]}" from-port="{source[1]}" '
                             f'to-layer="{layer.id}" to-port="{k}" />')
    edges.append(f"{indent}</edges>")
    return edges + layers if net.edges_first else layers + edges
