# SPDX-License-Identifier: Apache-2.0
"""Read by `mypy --strict`, not run. A line with `type: ignore` is wrong, and mypy complains if it finds no mistake there."""

import pathlib
from typing import Any, Dict, List

import numpy as np
import tfaot
from numpy.typing import NDArray

package: pathlib.Path = tfaot.compile("net.onnx", batch_sizes=[1, 16], dimensions={"n": (1, 50), "m": 3}, weights_type="int8")
model = tfaot.Model(package, cpu_level="x86-64-v3", batch_rules={5: [2, 4]})
x = np.zeros((3, 4), "float32")
named: Dict[str, NDArray[Any]] = model.run({"x": x})
listed: List[NDArray[Any]] = model.run(None, {"x": x})
some: List[NDArray[Any]] = model.run(["y"], {"x": [[1.0, 2.0, 3.0, 4.0]]}, out={"y": x})
scores: NDArray[Any] = model(x)["scores"]
rows: List[NDArray[Any]] = model.run({"x": [x, x[:2]]})["y"]
each: List[NDArray[Any]] = model([x, x[:2]])["y"]
range_of_n: tuple[int, int] = model.dimensions["n"]
names: tuple[int | str, ...] = model.inputs[0].free_shape
shape: tuple[int, ...] = model.signature.inputs[0].row_shape
version: str = tfaot.__version__
page: str = tfaot.check("net.onnx").html
good: bool = tfaot.validate(package, model="net.onnx").good

wrong: List[NDArray[Any]] = model.run({"x": x})  # type: ignore[assignment]
model.run(x)  # type: ignore[call-overload]
tfaot.compile(5)  # type: ignore[arg-type]
tfaot.Model(package, level="x86-64")  # type: ignore[call-arg]
