"""Runs OpenVINO IR models that keep state with libirrun, on NumPy arrays.

    import irrun, numpy as np
    session = irrun.Session("model.xml")          # or irrun.Model(...).session() for several
    out = session.run({"samples": np.zeros((1, 512), np.float32)})
    out["probability"], session.state["hidden"]   # outputs and variables by name
    session.state = {"hidden": some_array}        # sets these variables, leaves the others
    session.reset()

Needs NumPy and libirrun.so.0, which make puts into build/ and make install into lib/. The environment
variable IRRUN_LIBRARY is its path if it is in another place.
A Model may be shared by threads, a Session belongs to one at a time.
SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint32
from ctypes import c_uint64, c_void_p

import numpy as np

__all__ = ["Error", "Model", "Session", "version"]

# enum irrun_dtype, and the NumPy type of those that have one. Types below 8 bits take a byte for each element.
_DTYPES = ("dynamic boolean bf16 f16 f32 f64 i4 i8 i16 i32 i64 u1 u2 u3 u4 u6 u8 u16 u32 u64 nf4 f8e4m3 f8e5m2 "
           "f4e2m1 f8e8m0 string").split()
_NUMPY = {"boolean": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64, "i4": np.int8, "i8": np.int8,
          "i16": np.int16, "i32": np.int32, "i64": np.int64, "u1": np.uint8, "u2": np.uint8, "u3": np.uint8,
          "u4": np.uint8, "u6": np.uint8, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
_GEMM = ("auto", "plain", "cblas", "packed")
_PRECISION = ("f32", "f16", "bf16")
_MAX_RANK = 16


class _Error(Structure):
    _fields_ = [("code", c_int), ("file", c_char * 512), ("line", c_uint32), ("column", c_uint32), ("offset", c_uint64),
                ("message", c_char * 2048), ("hint", c_char * 1024)]


class _Shape(Structure):
    _fields_ = [("rank", c_uint32), ("dims", c_int64 * _MAX_RANK)]


class _Tensor(Structure):
    _fields_ = [("dtype", c_int), ("shape", _Shape), ("data", c_void_p)]


class _PartialShape(Structure):
    _fields_ = [("is_rank_dynamic", c_bool), ("rank", c_uint32), ("min", c_int64 * _MAX_RANK),
                ("max", c_int64 * _MAX_RANK)]


class _Options(Structure):
    _fields_ = [("weights_path", c_char_p), ("gemm", c_int), ("simd", c_char_p), ("n_threads", c_uint),
                ("keep_ops", c_bool), ("is_dry", c_bool), ("taps", POINTER(c_char_p)), ("n_taps", c_size_t),
                ("traces_all", c_bool), ("stops_at_nan", c_bool), ("allows_inf", c_bool), ("times_ops", c_bool),
                ("low_latency", c_char_p), ("computes_f64", c_bool), ("precision", c_int),
                ("unread", POINTER(c_char_p)), ("read_last", POINTER(c_char_p)), ("read", POINTER(c_char_p)),
                ("n_unread", c_size_t), ("n_read_last", c_size_t), ("n_read", c_size_t),
                ("dynamic_quantization", c_bool),
                ("later", c_uint64 * 32)]  # members of later versions; zero is their default


class _Port(Structure):
    _fields_ = [("name", c_char_p), ("names", POINTER(c_char_p)), ("n_names", c_size_t), ("dtype", c_int),
                ("shape", _PartialShape)]


class _Variable(Structure):
    _fields_ = [("id", c_char_p), ("dtype", c_int), ("shape", _PartialShape)]


class Error(RuntimeError):
    """An error of irrun; code is the exit status that the program would have."""
    def __init__(self, err):
        # A path need not be UTF-8.
        file, message, hint = (text.decode(errors="replace") for text in (err.file, err.message, err.hint))
        place = file + (f":{err.line}:{err.column}" if err.line else "")
        text = (f"{place}: " if place else "") + message
        super().__init__(text + (f"\n  hint: {hint}" if hint else ""))
        self.code = err.code


def _load_library():
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, *folder, "libirrun.so.0")  # of make install, and of make
              for folder in (("..", "..", "..", "lib"), ("..", "build"))]
    found = [place for place in places if os.path.exists(place)]
    library = ctypes.CDLL(os.environ.get("IRRUN_LIBRARY") or (found + ["libirrun.so.0"])[0])
    for name, result, *arguments in (
            ("version", c_char_p),
            ("model_load", c_bool, c_char_p, POINTER(_Options), POINTER(c_void_p), POINTER(_Error)),
            ("model_free", None, c_void_p),
            ("model_n_inputs", c_size_t, c_void_p),
            ("model_n_outputs", c_size_t, c_void_p),
            ("model_n_variables", c_size_t, c_void_p),
            ("model_input", POINTER(_Port), c_void_p, c_size_t),
            ("model_output", POINTER(_Port), c_void_p, c_size_t),
            ("model_variable", POINTER(_Variable), c_void_p, c_size_t),
            ("model_find_input", c_bool, c_void_p, c_char_p, POINTER(c_size_t), POINTER(_Error)),
            ("session_new", c_bool, c_void_p, POINTER(c_void_p), POINTER(_Error)),
            ("session_free", None, c_void_p),
            ("session_set_input", c_bool, c_void_p, c_size_t, POINTER(_Tensor), POINTER(_Error)),
            ("session_run", c_bool, c_void_p, POINTER(_Error)),
            ("session_output", POINTER(_Tensor), c_void_p, c_size_t),
            ("session_variable", POINTER(_Tensor), c_void_p, c_size_t),
            ("session_set_variable", c_bool, c_void_p, c_size_t, POINTER(_Tensor), POINTER(_Error)),
            ("session_reset", None, c_void_p)):
        function = getattr(library, "irrun_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load_library()


def _call(name, *arguments):
    err = _Error()
    if not getattr(_library, "irrun_" + name)(*arguments, byref(err)):
        raise Error(err)


def version():
    return _library.irrun_version().decode()


def _describe(item):
    """Returns type and shape of a port or variable; None for an open dimension, or a shape of open rank."""
    shape = item.shape
    dims = None if shape.is_rank_dynamic else tuple(
        shape.min[k] if shape.min[k] == shape.max[k] else None for k in range(shape.rank))
    return _DTYPES[item.dtype], dims


def _to_tensor(array, dtype):
    """Returns a tensor, and the array that has its data and must outlive it; the type is the model's, if it has one."""
    array = np.asarray(array)
    if dtype in _NUMPY:
        given, array = array, array.astype(_NUMPY[dtype], casting="same_kind", copy=False)
        is_whole = array.dtype.kind in "biu"
        if is_whole and not np.array_equal(array, given) or (np.isinf(array) & np.isfinite(given)).any():
            raise ValueError(f"{dtype} cannot hold every value of {given.dtype}")
    else:
        dtype = next((name for name, kind in _NUMPY.items() if kind == array.dtype), None)
        if dtype is None:
            raise TypeError(f"irrun has no type for {array.dtype}")
    if array.ndim > _MAX_RANK:
        raise ValueError(f"rank {array.ndim} is above {_MAX_RANK}")
    array = np.ascontiguousarray(array).reshape(array.shape)  # the call makes a 0-D array 1-D
    shape = _Shape(array.ndim, (c_int64 * _MAX_RANK)(*array.shape))
    return _Tensor(_DTYPES.index(dtype), shape, array.ctypes.data), array


def _to_array(tensor):
    """Returns a copy of a tensor."""
    name = _DTYPES[tensor.dtype]
    if name not in _NUMPY:
        raise TypeError(f"NumPy has no type for {name}")
    dims = tuple(tensor.shape.dims[:tensor.shape.rank])
    kind = np.dtype(_NUMPY[name])
    size = int(np.prod(dims, dtype=np.int64)) * kind.itemsize
    return np.frombuffer(ctypes.string_at(tensor.data, size) if size else b"", kind).reshape(dims).copy()


def _index(what, word, words):
    if word not in words:
        raise ValueError(f"{what} must be one of {', '.join(words)}, not {word!r}")
    return words.index(word)


def _by_name(items, name):
    """Returns {name: (type, shape)}; repeated names get "~2", "~3" …, as in a file of --tap-all."""
    names = [getattr(item, name).decode() for item in items]
    named = {}
    for item, first in zip(items, names):
        unique, n = first, 1
        while unique in named or n > 1 and unique in names:
            n += 1
            unique = f"{first}~{n}"
        named[unique] = _describe(item)
    return named


class Model:
    """A loaded model. inputs, outputs and variables: {name: (type, shape)}; None is an open dimension."""
    def __init__(self, path, weights=None, *, threads=1, simd=None, gemm="auto", taps=(), low_latency=None,
                 precision="f32", f64=False, dynamic_quantization=False):
        self._handle = c_void_p()
        names = (c_char_p * max(len(taps), 1))(*(tap.encode() for tap in taps))
        options = _Options(weights_path=os.fsencode(weights) if weights else None, gemm=_index("gemm", gemm, _GEMM),
                           simd=simd.encode() if simd else None, n_threads=threads, taps=names, n_taps=len(taps),
                           low_latency=None if low_latency is None else low_latency.encode(),
                           precision=_index("precision", precision, _PRECISION), computes_f64=f64,
                           dynamic_quantization=dynamic_quantization)
        _call("model_load", os.fsencode(path), byref(options), byref(self._handle))
        self.inputs, self.outputs, self.variables = (
            _by_name(self._items(kind), name)
            for kind, name in (("input", "name"), ("output", "name"), ("variable", "id")))

    def _items(self, kind):
        n = getattr(_library, f"irrun_model_n_{kind}s")(self._handle)
        return [getattr(_library, f"irrun_model_{kind}")(self._handle, k).contents for k in range(n)]

    def session(self):
        return Session(self)

    def __del__(self):
        if getattr(self, "_handle", None):
            _library.irrun_model_free(self._handle)


class Session:
    """A model with variables of its own. Takes a Model, or the arguments of one."""
    def __init__(self, model, *arguments, **options):
        self.model = model if isinstance(model, Model) else Model(model, *arguments, **options)
        self._handle = c_void_p()
        self._inputs = {}  # the session borrows their data
        _call("session_new", self.model._handle, byref(self._handle))

    def run(self, inputs=None):
        """Runs an iteration with inputs {name: array}, by any of their names ("@0" is the first), and returns
        copies of all outputs. An input that is not given keeps its array."""
        for name, array in (inputs or {}).items():
            index = c_size_t()
            _call("model_find_input", self.model._handle, name.encode(), byref(index))
            tensor, array = _to_tensor(array, list(self.model.inputs.values())[index.value][0])
            _call("session_set_input", self._handle, index, byref(tensor))
            self._inputs[index.value] = array
        _call("session_run", self._handle)
        return {name: _to_array(_library.irrun_session_output(self._handle, k).contents)
                for k, name in enumerate(self.model.outputs)}

    @property
    def state(self):
        """The variables as {name: array}, except those that are unset: the next run uses their initial values."""
        found = {}
        for k, name in enumerate(self.model.variables):
            tensor = _library.irrun_session_variable(self._handle, k)
            if tensor:
                found[name] = _to_array(tensor.contents)
        return found

    @state.setter
    def state(self, values):
        names = list(self.model.variables)
        for name, array in values.items():
            if name not in names:
                raise KeyError(f"no variable {name!r}; there are: {', '.join(names)}")
            tensor, array = _to_tensor(array, self.model.variables[name][0])
            _call("session_set_variable", self._handle, names.index(name), byref(tensor))

    def reset(self):
        """Resets all variables to their initial values."""
        _library.irrun_session_reset(self._handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            _library.irrun_session_free(self._handle)
