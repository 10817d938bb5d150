# SPDX-License-Identifier: Apache-2.0
"""Predictions of tfaot's model packages, without a plugin and without TensorFlow.

    import numpy as np
    import tfaot

    model = tfaot.Model("area/tagger")          # or a package tree, or an archive
    scores = model(x=np.zeros((3, 4), "float32"))["scores"]

Needs numpy, and the linker 'ld' the first time that a package is loaded. See docs/run.md.
"""

import ctypes
import json
import os
import typing
import weakref

import numpy as np

__all__ = ["Error", "Model", "Signature", "Tensor"]

_INTERFACE = 1
_VARIABLES = ("TFAOT_CACHE_DIR", "XDG_CACHE_HOME", "HOME")


class Error(RuntimeError):
    """A package that cannot be loaded, or a batch that cannot be run."""


class Tensor(typing.NamedTuple):
    """An input or output. The rows come first and are not part of row_shape."""

    name: str
    dtype: np.dtype
    row_shape: tuple


class Signature(typing.NamedTuple):
    """The inputs and outputs of a model, in its order."""

    inputs: tuple
    outputs: tuple


class _Library:
    """The C functions of modules/python/src/c_interface.cc."""

    def __init__(self):
        folder = os.path.dirname(os.path.abspath(__file__))
        file = os.path.join(folder, "libtfaot_python.so")
        try:
            library = ctypes.CDLL(file)
        except OSError as error:
            raise ImportError(f"tfaot: {error}; {file} belongs to tfaot.py: reinstall tfaot") from None
        if library.tfaot_interface() != _INTERFACE:
            raise ImportError(f"tfaot: {file} is of another version than tfaot.py: reinstall tfaot")
        self.open = library.tfaot_open
        self.open.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
        self.open.restype = ctypes.c_void_p
        self.describe = library.tfaot_describe
        self.describe.argtypes = [ctypes.c_void_p]
        self.describe.restype = ctypes.c_char_p
        pointers = ctypes.POINTER(ctypes.c_void_p)
        self.run = library.tfaot_run
        self.run.argtypes = [ctypes.c_void_p, ctypes.c_uint64, pointers, pointers]
        self.run.restype = ctypes.c_void_p
        self.close = library.tfaot_close
        self.close.argtypes = [ctypes.c_void_p]
        self.close.restype = None
        self._free = library.tfaot_free
        self._free.argtypes = [ctypes.c_void_p]
        self._free.restype = None

    def error(self, text):
        """The Error with a text of the library, which is freed."""
        try:
            return Error(ctypes.string_at(text).decode("utf-8", "replace"))
        finally:
            self._free(text)


_library = _Library()


class Model:
    """A package's model, loaded into this process.

    package      a package tree, an archive, or AREA/NAME[/VERSION] of an installed model
    cpu_level    run the code of this level, such as "x86-64-v3"; None: the best one for this CPU
    batch_rules  how batches are composed: {5: [2, 4]} or ["5:2,4"]; None: the cheapest way

    Many threads may call one model at the same time, and run in parallel. Raises Error.
    """

    def __init__(self, package, cpu_level=None, batch_rules=None):
        if isinstance(batch_rules, dict):
            batch_rules = [f"{rows}:{','.join(map(str, sizes))}" for rows, sizes in batch_rules.items()]
        elif isinstance(batch_rules, str):
            batch_rules = [batch_rules]
        self._arguments = (os.fspath(package), cpu_level, list(batch_rules or []))
        request = {
            "package": self._arguments[0],
            "cpu_level": cpu_level or "",
            "batch_rules": self._arguments[2],
            "working_directory": os.getcwd(),
            "machine": os.uname().machine,
            "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        }
        error = ctypes.c_void_p()
        self._handle = _library.open(json.dumps(request).encode(), ctypes.byref(error))
        if not self._handle:
            raise _library.error(error)
        self._close = weakref.finalize(self, _library.close, self._handle)
        self._close.atexit = False  # a thread may still run it
        record = json.loads(_library.describe(self._handle))
        self.name = record["name"]
        self.version = record["version"]
        self.cpu_level = record["cpu_level"]
        self.batch_sizes = tuple(record["batch_sizes"])
        self.signature = Signature(_tensors(record["inputs"]), _tensors(record["outputs"]))
        self._bfloat16 = {one["name"] for one in record["inputs"] if one["dtype"] == "bfloat16"}

    @property
    def inputs(self):
        return self.signature.inputs

    @property
    def outputs(self):
        return self.signature.outputs

    def __repr__(self):
        return f"<tfaot.Model {self.name} {self.version} ({self.cpu_level})>"

    def __reduce__(self):
        return Model, self._arguments  # another process loads it again

    def __call__(self, *arrays, **named):
        """Predicts: model(x, ids) in the model's order, or model(x=x, ids=ids) by name, which may be
        model(**{"serving/x:0": x}). Each array has the rows first. Returns a dict of new arrays by
        the outputs' names.

        Elements must have the input's type. Only what changes no number is converted: float32 to
        float64, uint8 to int32 and the like, another byte order. bfloat16 is ml_dtypes' if Python
        has that package, else uint16 with the same bits. Raises TypeError or ValueError, and Error
        if rows are coupled and their number is not compiled.
        """
        values = self._in_order(arrays, named)
        inputs = [self._checked(value, tensor) for value, tensor in zip(values, self.inputs)]
        rows = len(inputs[0]) if inputs else 1
        for array, tensor in zip(inputs, self.inputs):
            if len(array) != rows:
                raise ValueError(
                    f"model '{self.name}': input '{tensor.name}' has {len(array)} rows, and input "
                    f"'{self.inputs[0].name}' has {rows}"
                )
        outputs = [np.empty((rows,) + tensor.row_shape, tensor.dtype) for tensor in self.outputs]
        error = _library.run(self._handle, rows, _pointers(inputs), _pointers(outputs))
        if error:
            raise _library.error(error)
        return {tensor.name: array for tensor, array in zip(self.outputs, outputs)}

    def _in_order(self, arrays, named):
        names = [tensor.name for tensor in self.inputs]
        listed = ", ".join(repr(name) for name in names)
        if arrays and named:
            raise TypeError(f"model '{self.name}': give all inputs in order, or all by name")
        if not named:
            if len(arrays) != len(names):
                raise TypeError(
                    f"model '{self.name}' takes {len(names)} inputs ({listed}), got {len(arrays)}"
                )
            return arrays
        for name in named:
            if name not in names:
                raise TypeError(f"model '{self.name}' has no input '{name}'; its inputs: {listed}")
        for name in names:
            if name not in named:
                raise TypeError(f"model '{self.name}': input '{name}' is missing")
        return [named[name] for name in names]

    def _checked(self, value, tensor):
        array = np.asarray(value)
        if tensor.name in self._bfloat16 and array.dtype == np.dtype("V2"):
            array = array.view(tensor.dtype)  # what numpy.load() makes of it
        if array.dtype != tensor.dtype:
            is_bits = tensor.name in self._bfloat16 and tensor.dtype == np.uint16
            if is_bits and array.dtype.newbyteorder("=") != tensor.dtype:
                raise TypeError(
                    f"model '{self.name}': input '{tensor.name}' takes bfloat16, or its bits as "
                    f"uint16, got {array.dtype}; convert it with the package ml_dtypes"
                )
            if not _changes_no_number(array.dtype, tensor.dtype):
                raise TypeError(
                    f"model '{self.name}': input '{tensor.name}' takes {tensor.dtype}, got "
                    f"{array.dtype}; convert it: a.astype('{tensor.dtype}')"
                )
            array = array.astype(tensor.dtype)
        if array.ndim == 0 or array.shape[1:] != tensor.row_shape:
            wanted = ", ".join(["rows", *map(str, tensor.row_shape)])
            raise ValueError(
                f"model '{self.name}': input '{tensor.name}' takes the shape [{wanted}], got "
                f"{list(array.shape)}"
            )
        return np.ascontiguousarray(array)


def _tensors(records):
    return tuple(
        Tensor(one["name"], _dtype(one["dtype"]), tuple(one["row_shape"])) for one in records
    )


# numpy has no bfloat16.
def _dtype(word):
    if word != "bfloat16":
        return np.dtype(word)
    try:
        import ml_dtypes  # pylint: disable=import-outside-toplevel
    except ImportError:
        return np.dtype(np.uint16)  # its bits
    return np.dtype(ml_dtypes.bfloat16)


# numpy also calls int64 to float64 safe, which it is not. The kind of bfloat16 is that of bytes.
def _changes_no_number(given, wanted):
    kinds = given.kind == wanted.kind or (given.kind == "u" and wanted.kind == "i")
    if given.name == "bfloat16":
        kinds = wanted.kind == "f"
    return kinds and np.can_cast(given, wanted, "safe")


def _pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
