# A case of one op with any number of inputs and outputs. Knows no single op.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import EXACT, Case
from .net import Net, type_of


class Const:
    """An input that is a Const rather than a Parameter."""
    def __init__(self, values, dtype=None):
        self.array = np.asarray(values, dtype)


def ints(values, dtype=np.int64):
    return Const(values, dtype)


def one_op(family, name, op, inputs, want, about, v=1, args=EXACT, openvino="", dynamic=False,
           dtype=None, attrs=None, **more):
    """inputs: arrays, which become Parameters x0, x1 …, and Const. want: the outputs y0, y1 … as a
    tuple, or one array y. dynamic: no dimension of a Parameter is known; a tuple: of these inputs.
    dtype: of the outputs, as in Net.op."""
    net = Net(name)
    ports, feed = [], {}
    for item in inputs:
        if isinstance(item, Const):
            ports.append(net.const(item.array))
            continue
        item = np.asarray(item)
        feed[f"x{len(ports)}"] = item
        is_known = len(ports) not in dynamic if isinstance(dynamic, tuple) else not dynamic
        ports.append(
            net.param(f"x{len(ports)}", type_of(item),
                      list(item.shape) if is_known else [-1] * item.ndim))
    single = not isinstance(want, tuple)
    wants = (want, ) if single else want
    dtype = dtype or [type_of(np.asarray(w)) for w in wants]
    outs = net.op(op, *ports, v=v, outs=len(wants), dtype=dtype, data=attrs)
    names = ["y"] if single else [f"y{k}" for k in range(len(wants))]
    for port, tensor_name in zip((outs, ) if len(wants) == 1 else outs, names):
        net.result(port, tensor_name)
    return Case(family, name, net, feed, {n: np.asarray(w)
                                          for n, w in zip(names, wants)}, about, args, openvino,
                **more)


def error(family, name, op, inputs, fragments, about, v=1, outs=1, attrs=None, exit=65,
          dynamic=False):
    """A case that must fail with a message that holds the fragments."""
    case = one_op(family, name, op, inputs, tuple([np.zeros(0, np.float32)] * outs), about, v,
                  attrs=attrs, dynamic=dynamic)
    case.want, case.exit, case.stderr = {}, exit, list(fragments)
    return case
