# SPDX-License-Identifier: Apache-2.0
"""make_forests.py FOLDER: trains the decision trees of the tests anew and writes FOLDER/NAME/model.onnx and predictions.txt, what the
library that trained them predicts. Then make the texts:
    protoc --decode=onnx.ModelProto onnx-ml.proto < model.onnx > model.txtpb
Needs: pip install xgboost==3.2.0 lightgbm==4.7.0 scikit-learn==1.9.1 onnxmltools==1.16.0 skl2onnx==1.20.0"""

import pathlib
import sys

import lightgbm
import numpy as np
import onnx
import onnxmltools
import skl2onnx
import sklearn.ensemble
import sklearn.pipeline
import sklearn.preprocessing
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType

ROWS = 600
TESTED = 24
OPSETS = {"": 15, "ai.onnx.ml": 3}


def data(features, missing):
    random = np.random.default_rng(7)
    x = random.normal(size=(ROWS, features)).astype("float32")
    signal = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * (x[:, 3] > 0)
    if missing:
        x[random.random(x.shape) < 0.15] = np.nan
    return x, signal


def higgs_xgboost():
    """Two classes, and missing values that some branches send one way, others the other."""
    x, signal = data(5, missing=True)
    model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, learning_rate=0.5, base_score=0.4)
    model.fit(x, signal > 0.3)
    made = onnxmltools.convert_xgboost(model, initial_types=[("x", FloatTensorType([None, 5]))], target_opset=15)
    return made, x, model.predict(x), model.predict_proba(x)


def flavour_lightgbm():
    """Three classes, and a feature of categories."""
    x, signal = data(5, missing=False)
    x[:, 4] = np.floor(np.abs(x[:, 4]) * 4)
    classes = np.digitize(signal + (x[:, 4] % 3 == 1), [-0.3, 0.9])
    model = lightgbm.LGBMClassifier(n_estimators=2, num_leaves=5, min_child_samples=10, min_data_per_group=10, max_cat_to_onehot=1, verbose=-1)
    model.fit(x, classes, categorical_feature=[4])
    made = onnxmltools.convert_lightgbm(
        model, initial_types=[("x", FloatTensorType([None, 5]))], zipmap=False, target_opset=15)
    return made, x, model.predict(x), model.predict_proba(x)


def energy_sklearn():
    """A pipeline: scaled features, and a random forest for two numbers."""
    x, signal = data(4, missing=False)
    model = sklearn.pipeline.make_pipeline(
        sklearn.preprocessing.StandardScaler(),
        sklearn.ensemble.RandomForestRegressor(n_estimators=5, max_depth=3, random_state=1))
    model.fit(x, np.stack([signal, x[:, 0] - signal], axis=1))
    made = skl2onnx.to_onnx(model, x[:1], target_opset=OPSETS)
    return made, x, model.predict(x)


def numbers(array):
    return "\n".join(" ".join(f"{value:.9g}" for value in row) for row in np.asarray(array, "float64").reshape(len(array), -1))


def main():
    for make in (higgs_xgboost, flavour_lightgbm, energy_sklearn):
        model, x, *outputs = make()
        folder = pathlib.Path(sys.argv[1]) / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(model, folder / "model.onnx")
        parts = [x[:TESTED], *(output[:TESTED] for output in outputs)]
        (folder / "predictions.txt").write_text("\n\n".join(numbers(part) for part in parts) + "\n")


if __name__ == "__main__":
    main()
