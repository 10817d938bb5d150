# SPDX-License-Identifier: Apache-2.0
"""A package's model in this process."""

from __future__ import annotations

import ctypes
import html
import itertools
import json
import os
import typing
import weakref
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from tfaot._library import Error, Ragged, address, error_of, library

if typing.TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

try:
    from tfaot._fast import Caller
except ImportError:  # tfaot was built without Python's headers, or this Python cannot load the module

    class Caller:  # type: ignore[no-redef]
        def _bind(self, *_arguments: object) -> None:
            pass

        def __call__(self, *arrays: Any, **named: Any) -> Any:
            return self._call(*arrays, **named)  # type: ignore[attr-defined]

        def run(self, *arguments: Any, **keywords: Any) -> Any:
            """Predicts with arrays by name: see tfaot.Model."""
            return self._run(*arguments, **keywords)  # type: ignore[attr-defined]


_VARIABLES = ("TFAOT_CACHE_DIR", "XDG_CACHE_HOME", "HOME")

Shape = Tuple[int, ...]
BatchRules = Union[None, str, Sequence[str], Mapping[int, Sequence[int]]]


class _Tensor(NamedTuple):
    name: str
    dtype: np.dtype[Any]
    row_shape: Tuple[int, ...]


class Tensor(_Tensor):
    """An input or output. The rows come first and are not part of row_shape.

    row_shape   free dimensions have their largest size
    free_shape  the same with free dimensions by name, (2, "n_tracks"); row_shape if there is none
    is_free     there is one
    """

    free_shape: Tuple[Union[int, str], ...] = ()

    @property
    def is_free(self) -> bool:
        return any(isinstance(size, str) for size in self.free_shape)

    def __repr__(self) -> str:
        text = super().__repr__()
        return f"{text[:-1]}, free_shape={self.free_shape})" if self.is_free else text


class Signature(NamedTuple):
    """The inputs and outputs of a model, in its order."""

    inputs: Tuple[Tensor, ...]
    outputs: Tuple[Tensor, ...]


class Model(Caller):
    """A package's model, loaded into this process.

    package      a package tree, an archive, or AREA/NAME[/VERSION] of an installed model
    cpu_level    run the code of this level, such as "x86-64-v3"; None: the best one for this CPU
    batch_rules  how batches are composed: {5: [2, 4]} or ["5:2,4"]; None: the cheapest way

    Predict with one of these. Each array has the rows first.

    model(x, ids)                      in the model's order; a dict of arrays by the outputs' names
    model(x=x, ids=ids)                by name
    model.run({"serving/x:0": x})      by any name
    model.run(..., out={"y": y})       outputs are written into these arrays, others are new
    model.run(None, {"x": x})          a list of all outputs in order, as onnxruntime gives it
    model.run(["y"], {"x": x})         a list of these outputs

    A model with free dimensions (docs/dimensions.md) takes arrays of any size in their ranges, and
    lists of arrays of different sizes, one for each row, without the dimension of rows. Of a list,
    outputs whose shape is free are lists, too.

    Elements must have the input's type. Only what changes no number is converted: float32 to
    float64, uint8 to int32 and the like, another byte order. bfloat16 is ml_dtypes' if Python
    has that package, else uint16 with the same bits. Raises TypeError or ValueError, and Error
    if the package cannot be loaded, or if rows are coupled and their number is not compiled.

    Many threads may call one model at the same time, and run in parallel.
    """

    if typing.TYPE_CHECKING:

        # Of lists of arrays, one for each row, outputs with a free shape are lists, too.
        @typing.overload
        def __call__(self, *arrays: List[NDArray[Any]], **named: List[NDArray[Any]]) -> Dict[str, Any]: ...

        @typing.overload
        def __call__(self, *arrays: ArrayLike, **named: ArrayLike) -> Dict[str, NDArray[Any]]: ...

        def __call__(self, *arrays: Any, **named: Any) -> Any: ...

        @typing.overload
        def run(self, inputs: Mapping[str, List[NDArray[Any]]], /) -> Dict[str, Any]: ...

        @typing.overload
        def run(
            self, inputs: Mapping[str, ArrayLike], /, *, out: Optional[Mapping[str, NDArray[Any]]] = None
        ) -> Dict[str, NDArray[Any]]: ...

        @typing.overload
        def run(
            self,
            names: Optional[Sequence[str]],
            inputs: Mapping[str, ArrayLike],
            /,
            *,
            out: Optional[Mapping[str, NDArray[Any]]] = None,
        ) -> List[NDArray[Any]]: ...

        def run(self, *arguments: Any, out: Any = None) -> Any: ...

    def __init__(
        self,
        package: Union[str, os.PathLike[str]],
        cpu_level: Optional[str] = None,
        batch_rules: BatchRules = None,
    ) -> None:
        if isinstance(batch_rules, Mapping):
            batch_rules = [f"{rows}:{','.join(map(str, sizes))}" for rows, sizes in batch_rules.items()]
        elif isinstance(batch_rules, str):
            batch_rules = [batch_rules]
        self._arguments = (os.fsdecode(package), cpu_level, list(batch_rules or []))
        request = {
            "package": self._arguments[0],
            "cpu_level": cpu_level or "",
            "batch_rules": self._arguments[2],
            "working_directory": os.getcwd(),
            "machine": os.uname().machine,
            "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        }
        try:
            self._arguments[0].encode()
        except UnicodeEncodeError:
            raise Error(f"{package!r}: the path is not UTF-8, so no package is found there") from None
        error = ctypes.c_void_p()
        self._handle: int = library.tfaot_open(json.dumps(request).encode(), ctypes.byref(error))
        if not self._handle:
            raise error_of(error)
        close = weakref.finalize(self, library.tfaot_close, self._handle)
        close.atexit = False  # a thread may still run it
        described = json.loads(library.tfaot_describe(self._handle))
        self.name: str = described["name"]
        self.version: str = described["version"]
        self.cpu_level: str = described["cpu_level"]
        self.batch_sizes: Tuple[int, ...] = tuple(described["batch_sizes"])
        self.dimensions: Dict[str, Tuple[int, int]] = {
            one["name"]: (one["smallest"], one["largest"]) for one in described["dimensions"]
        }
        self.signature = Signature(_tensors(described["inputs"]), _tensors(described["outputs"]))
        self._record: Dict[str, Any] = described["record"]
        self._bfloat16 = {one["name"] for one in described["inputs"] if one["dtype"] == "bfloat16"}
        self._bind(
            address(library.tfaot_run),
            address(library.tfaot_free),
            address(library.tfaot_sizes),
            self._handle,
            tuple(largest for _, largest in self.dimensions.values()),
            self.inputs,
            self.outputs,
            np.ndarray,
            np.empty,
            Error,
        )

    @property
    def inputs(self) -> Tuple[Tensor, ...]:
        return self.signature.inputs

    @property
    def outputs(self) -> Tuple[Tensor, ...]:
        return self.signature.outputs

    def record(self) -> Dict[str, Any]:
        """Which model and code runs, for databases and logs: model_name, version (a number), hash (of
        the package's code and weights) and cpu_level. Older packages have version 0 and no hash."""
        return dict(self._record)

    def __repr__(self) -> str:
        return f"<tfaot.Model {self.name} {self.version} ({self.cpu_level})>"

    def _repr_html_(self) -> str:
        rows = [
            (kind, one.name, one.dtype, ", ".join(["rows", *map(str, one.free_shape)]))
            for kind, tensors in (("input", self.inputs), ("output", self.outputs))
            for one in tensors
        ]
        cells = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
        )
        about = f"{self.version}, {self.cpu_level}, batch sizes {', '.join(map(str, self.batch_sizes))}"
        about += "".join(f", {name}={low}..{high}" for name, (low, high) in self.dimensions.items())
        record = ", ".join(f"{key} {value}" for key, value in self._record.items())
        return (
            f"<table><caption><b>{html.escape(self.name)}</b> {html.escape(about)}</caption>"
            f"<thead><tr><th></th><th>name</th><th>type</th><th>shape</th></tr></thead><tbody>{cells}</tbody></table>"
            f"<small>{html.escape(record)}</small>"
        )

    def __reduce__(self) -> Any:
        return Model, self._arguments  # another process loads it again

    # What Caller does not do itself: conversions and errors.

    def _call(self, *arrays: Any, **named: Any) -> Any:
        return self._predict(self._in_order(arrays, named), {})

    def _run(self, *arguments: Any, **keywords: Any) -> Any:
        unknown = [name for name in keywords if name != "out"]
        if len(arguments) not in (1, 2) or unknown:
            raise TypeError("run() takes inputs, or a list of outputs (None: all) and inputs; and out=")
        inputs = arguments[-1]
        out = {} if keywords.get("out") is None else keywords["out"]
        for what, arrays in (("inputs", inputs), ("out", out)):
            if not isinstance(arrays, Mapping):
                raise TypeError(f"run() takes {what} as a dict of arrays by name, got {type(arrays).__name__}")
        if len(arguments) == 1:
            return self._predict(self._in_order((), dict(inputs)), out)
        names = [one.name for one in self.outputs] if arguments[0] is None else arguments[0]
        if isinstance(names, str):
            names = [names]
        self._check_outputs(names)
        found = self.run(inputs, out=out)
        return [found[name] for name in names]

    def _predict(self, values: Sequence[Any], out: Mapping[str, Any]) -> Dict[str, Any]:
        if any(_is_ragged(value, tensor) for value, tensor in zip(values, self.inputs)):
            return self._predict_ragged(values, out)
        inputs = [self._checked(value, tensor) for value, tensor in zip(values, self.inputs)]
        rows = len(inputs[0]) if inputs else 1
        for array, tensor in zip(inputs, self.inputs):
            self._check_rows(len(array), rows, tensor)
        sizes, shapes = self._sizes_of([array.shape[1:] for array in inputs])
        outputs = self._output_arrays(rows, shapes, inputs, out)
        pointers = _pointers(inputs), _pointers(outputs)
        error = library.tfaot_run(self._handle, rows, _numbers(sizes), *pointers)
        if error:
            raise error_of(error)
        return {tensor.name: array for tensor, array in zip(self.outputs, outputs)}

    def _predict_ragged(self, values: Sequence[Any], out: Mapping[str, Any]) -> Dict[str, Any]:
        if out:
            raise TypeError(f"model '{self.name}': out= is for arrays of one size, not for lists of arrays")
        inputs = [self._checked_rows(value, tensor) for value, tensor in zip(values, self.inputs)]
        rows = len(inputs[0])
        for arrays, tensor in zip(inputs, self.inputs):
            self._check_rows(len(arrays), rows, tensor)
        known: Dict[Any, Tuple[Shape, Sequence[Shape]]] = {}
        found = []  # of each row: sizes, and shapes of the outputs
        for row, shapes in enumerate(zip(*([array.shape for array in arrays] for arrays in inputs))):
            if shapes not in known:
                try:
                    known[shapes] = self._sizes_of(shapes)
                except ValueError as wrong:
                    raise ValueError(f"{wrong} (row {row})") from None
            found.append(known[shapes])
        offsets = [_offsets([sizes[d] for sizes, _ in found]) for d in range(len(self.dimensions))]
        packed = [_packed(arrays, tensor) for arrays, tensor in zip(inputs, self.inputs)]
        starts = [
            _offsets([int(np.prod(shapes[o], dtype=np.int64)) for _, shapes in found])
            for o in range(len(self.outputs))
        ]
        made = [np.empty(int(start[-1]), tensor.dtype) for start, tensor in zip(starts, self.outputs)]
        error = library.tfaot_run_ragged(self._handle, rows, _pointers(offsets), _ragged(packed), _ragged(made))
        if error:
            raise error_of(error)
        results: Dict[str, Any] = {}
        for o, (tensor, array, start) in enumerate(zip(self.outputs, made, starts)):
            if not tensor.is_free:
                results[tensor.name] = array.reshape((rows, *tensor.row_shape))
                continue
            results[tensor.name] = [
                array[start[row] : start[row + 1]].reshape(shapes[o]) for row, (_, shapes) in enumerate(found)
            ]
        return results

    def _sizes_of(self, row_shapes: Sequence[Shape]) -> Tuple[Shape, Sequence[Shape]]:
        """The sizes of the free dimensions, and the shapes of a row of the outputs. Checks all shapes."""
        if not self.dimensions:
            return (), [tensor.row_shape for tensor in self.outputs]
        given = [size for shape in row_shapes for size in shape]
        tensors = [*self.inputs, *self.outputs]
        sizes = (ctypes.c_int64 * len(self.dimensions))()
        flat = (ctypes.c_int64 * sum(len(tensor.row_shape) for tensor in tensors))()
        error = library.tfaot_sizes(self._handle, _numbers(given), sizes, flat)
        if error:
            raise ValueError(f"model '{self.name}': {error_of(error)}")
        left = iter(flat)
        shapes = [tuple(itertools.islice(left, len(tensor.row_shape))) for tensor in tensors]
        for shape, wanted, tensor in zip(row_shapes, shapes, self.inputs):
            if shape != wanted:
                raise self._wrong_shape(tensor, wanted, shape)
        return tuple(sizes), shapes[len(self.inputs) :]

    def _wrong_shape(
        self, tensor: Tensor, wanted: Sequence[Any], given: Sequence[int], rows: str = ""
    ) -> ValueError:
        sizes = ", ".join([*([rows] if rows else []), *map(str, wanted)])
        return ValueError(
            f"model '{self.name}': input '{tensor.name}' takes the shape [{sizes}], got {list(given)}"
        )

    def _check_rows(self, given: int, rows: int, tensor: Tensor) -> None:
        if given != rows:
            raise ValueError(
                f"model '{self.name}': input '{tensor.name}' has {given} rows, and input "
                f"'{self.inputs[0].name}' has {rows}"
            )

    def _in_order(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        names = [tensor.name for tensor in self.inputs]
        listed = ", ".join(repr(name) for name in names)
        if arrays and named:
            raise TypeError(f"model '{self.name}': give all inputs in order, or all by name")
        if not named:
            if len(arrays) == 1 and isinstance(arrays[0], Mapping):
                raise TypeError(f"model '{self.name}': a dict of inputs is for run(): model.run({{...}})")
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

    def _checked(self, value: Any, tensor: Tensor) -> NDArray[Any]:
        array = self._converted(value, tensor)
        if array.ndim == 0 or not _has_shape(array.shape[1:], tensor):
            raise self._wrong_shape(tensor, tensor.free_shape, array.shape, "rows")
        return np.ascontiguousarray(array)

    def _checked_rows(self, value: Any, tensor: Tensor) -> Sequence[NDArray[Any]]:
        """One array for each row."""
        if not _is_ragged(value, tensor):
            if tensor.is_free:
                raise TypeError(
                    f"model '{self.name}': input '{tensor.name}' must be a list of arrays, as another input is"
                )
            return list(self._checked(value, tensor))
        rows = [self._converted(row, tensor) for row in value]
        for row in rows:
            if not _has_shape(row.shape, tensor):
                raise self._wrong_shape(tensor, tensor.free_shape, row.shape)
        return rows

    def _converted(self, value: Any, tensor: Tensor) -> NDArray[Any]:
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
        return array

    def _check_outputs(self, names: Any) -> None:
        known = [tensor.name for tensor in self.outputs]
        for name in names:
            if name not in known:
                listed = ", ".join(repr(one) for one in known)
                raise TypeError(f"model '{self.name}' has no output '{name}'; its outputs: {listed}")

    def _output_arrays(
        self, rows: int, row_shapes: Sequence[Shape], inputs: Sequence[Any], out: Mapping[str, Any]
    ) -> List[NDArray[Any]]:
        self._check_outputs(out)
        arrays: List[NDArray[Any]] = []
        for tensor, row_shape in zip(self.outputs, row_shapes):
            array = out.get(tensor.name)
            shape = (rows, *row_shape)
            if array is None:
                arrays.append(np.empty(shape, tensor.dtype))
                continue
            start = f"model '{self.name}': the array for output '{tensor.name}'"
            if not isinstance(array, np.ndarray) or array.dtype != tensor.dtype:
                raise TypeError(
                    f"{start} must be of {tensor.dtype}, got {getattr(array, 'dtype', type(array).__name__)}"
                )
            if array.shape != shape:
                raise ValueError(f"{start} must have the shape {list(shape)}, got {list(array.shape)}")
            if not (array.flags.c_contiguous and array.flags.writeable):
                raise ValueError(f"{start} must be in C order and writable")
            if any(np.may_share_memory(array, other) for other in [*inputs, *arrays]):
                raise ValueError(f"{start} shares memory with another array of the call")
            arrays.append(array)
        return arrays


def _tensors(records: Any) -> Tuple[Tensor, ...]:
    return tuple(_tensor(one) for one in records)


def _tensor(record: Mapping[str, Any]) -> Tensor:
    tensor = Tensor(record["name"], _dtype(record["dtype"]), tuple(record["row_shape"]))
    tensor.free_shape = tuple(record["free_shape"]) or tensor.row_shape
    return tensor


def _is_ragged(value: Any, tensor: Tensor) -> bool:
    """A list of arrays, one for each row, of an input whose shape is free."""
    is_list = tensor.is_free and isinstance(value, (list, tuple))
    return is_list and all(isinstance(row, np.ndarray) for row in value)


def _has_shape(given: Shape, tensor: Tensor) -> bool:
    wanted = tensor.free_shape
    return len(given) == len(wanted) and all(isinstance(w, str) or w == g for w, g in zip(wanted, given))


def _offsets(counts: Sequence[int]) -> NDArray[Any]:
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(np.asarray(counts, np.uint64), dtype=np.uint64)])


def _packed(rows: Sequence[NDArray[Any]], tensor: Tensor) -> NDArray[Any]:
    return np.concatenate([row.ravel() for row in rows]) if rows else np.empty(0, tensor.dtype)


# numpy has no bfloat16.
def _dtype(word: str) -> np.dtype[Any]:
    if word != "bfloat16":
        return np.dtype(word)
    try:
        import ml_dtypes  # type: ignore[import] # pylint: disable=import-outside-toplevel
    except ImportError:
        return np.dtype(np.uint16)  # its bits
    return np.dtype(ml_dtypes.bfloat16)


# numpy also calls int64 to float64 safe, which it is not. The kind of bfloat16 is that of bytes.
def _changes_no_number(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    kinds = given.kind == wanted.kind or (given.kind == "u" and wanted.kind == "i")
    if given.name == "bfloat16":
        kinds = wanted.kind == "f"
    return kinds and np.can_cast(given, wanted, "safe")


def _numbers(numbers: Sequence[int]) -> Any:
    return (ctypes.c_int64 * len(numbers))(*numbers) if numbers else None


def _ragged(arrays: Sequence[NDArray[Any]]) -> Any:
    return (Ragged * len(arrays))(*(Ragged(array.ctypes.data, array.size) for array in arrays))


def _pointers(arrays: Sequence[NDArray[Any]]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
