# SPDX-License-Identifier: Apache-2.0
# src/fast_call.cc; _model.py declares the calls.
class Caller:
    def _bind(
        self,
        run: int,
        free: int,
        sizes: int,
        model: int,
        dimensions: object,
        inputs: object,
        outputs: object,
        ndarray: object,
        empty: object,
        error: object,
    ) -> None: ...
