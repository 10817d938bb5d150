# SPDX-License-Identifier: Apache-2.0
"""Trained models as compiled code: compile, predict, report. No plugin and no framework is needed.

    import numpy as np
    import tfaot

    model = tfaot.Model(tfaot.compile("net.onnx", batch_sizes=[1, 16]))
    scores = model.run({"x": np.zeros((3, 4), "float32")})["scores"]

Needs numpy, and the linker 'ld' the first time that a package is loaded. See docs/run.md.
"""

from tfaot._build import VERSION as __version__
from tfaot._library import Error
from tfaot._model import Model, Signature, Tensor
from tfaot._tool import Report, check, compile, profile, report, validate

__all__ = [
    "Error",
    "Model",
    "Report",
    "Signature",
    "Tensor",
    "__version__",
    "check",
    "compile",
    "profile",
    "report",
    "validate",
]
