# SPDX-License-Identifier: Apache-2.0
"""Read by `mypy --strict`, not run. A line with `type: ignore` is wrong, and mypy complains if it finds no mistake there."""

import pathlib
from typing import Any, Dict, List

import numpy as np
import tfaot
from numpy.typing import NDArray

package: pathlib.Path = tfaot.compile("net.onnx", batch_sizes=[1, 16], dimension={"n": 50}, weights_type="int8")
model = tfaot.Model(package, cpu_level="x86-64-v3", batch_rules={5: [2, 4]})
x = np.zeros((3, 4), "float32")
named: Dict[str, NDArray[Any]] = model.run({"x": x})
listed: List[NDArray[Any]] = model.run(None, {"x": x})
some: List[NDArray[Any]] = model.run(["y"], {"x": [[1.0, 2.0, 3.0, 4.0]]}, out={"y": x})
scores: NDArray[Any] = model(x)["scores"]
shape: tuple[int, ...] = model.signature.inputs[0].row_shape
version: str = tfaot.__version__
page: str = tfaot.check("net.onnx").html
good: bool = tfaot.validate(package, model="net.onnx").good

wrong: List[NDArray[Any]] = model.run({"x": x})  # type: ignore[assignment]
model.run(x)  # type: ignore[call-overload]
tfaot.compile(5)  # type: ignore[arg-type]
tfaot.Model(package, level="x86-64")  # type: ignore[call-arg]
