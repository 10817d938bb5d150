# SPDX-License-Identifier: Apache-2.0
"""make_trees.py FOLDER: trains boosted trees of XGBoost on 20 features, 100 of depth 6 and 500 of depth 8, and writes
FOLDER/bdt_TREESxDEPTH.onnx (scores only). Then measures XGBoost's own inplace_predict, from Python, with one thread.
Needs: pip install xgboost==3.2.0 onnxmltools==1.16.0 scikit-learn==1.9.1"""

import pathlib
import statistics
import sys
import time

import numpy as np
import onnx
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType

FEATURES = 20
ROUNDS = 15


def train(trees, depth):
    random = np.random.default_rng(1)
    x = random.normal(size=(60000, FEATURES)).astype("float32")
    signal = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3] * x[:, 4] * x[:, 5] + 0.3 * random.normal(size=len(x))
    model = xgboost.XGBClassifier(n_estimators=trees, max_depth=depth, learning_rate=0.1, tree_method="hist", n_jobs=1)
    return model.fit(x, signal > 0.2)


def microseconds(booster, rows):
    x = np.random.default_rng(0).normal(size=(rows, FEATURES)).astype("float32")
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(100):
            booster.inplace_predict(x)
        times.append((time.process_time() - start) / 100 * 1e6)
    return statistics.median(times)


def main():
    folder = pathlib.Path(sys.argv[1])
    for trees, depth in ((100, 6), (500, 8)):
        model = train(trees, depth)
        made = onnxmltools.convert_xgboost(model, initial_types=[("x", FloatTensorType([None, FEATURES]))], target_opset=15)
        del made.graph.output[0]  # the label
        onnx.save(made, folder / f"bdt_{trees}x{depth}.onnx")
        booster = model.get_booster()
        booster.set_param({"nthread": 1})
        for rows in (1, 16, 256):
            print(f"{trees} trees of depth {depth}, {rows} rows: {microseconds(booster, rows):.1f} us")


if __name__ == "__main__":
    main()
