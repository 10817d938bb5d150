# SPDX-License-Identifier: Apache-2.0
"""Makes the model folders of the tests and examples: saved_model/, aot_config.yaml and reference.json.

reference.json holds TensorFlow's own predictions for fixed inputs, a case per batch size:
  {"signature": "serving_default",
   "inputs":  [{"name": "x", "dtype": "float32", "row_shape": [4]}, ...],
   "outputs": [...],
   "cases": [{"batch_size": 1, "inputs": {"x": [flat, row major]}, "outputs": {"y": [...]}}, ...]}
Numbers are the shortest texts that read back as the same value of their dtype. Needs tensorflow-cpu 2.18.1.
"""
import json
import os
import pathlib
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")

BATCH_SIZES = (1, 2, 3, 4, 5, 7, 8)


def inputs_of(specs, batch_size, seed=0):
    """Random rows for {name: (dtype, row_shape[, exclusive upper bound of integers])}."""
    random = np.random.default_rng([seed, batch_size])
    values = {}
    for name, (dtype, row_shape, *bound) in specs.items():
        shape = (batch_size, *row_shape)
        if dtype == "bool":
            values[name] = random.integers(0, 2, shape).astype(bool)
        elif "int" in dtype:
            low, high = (0, bound[0]) if bound else (0 if dtype.startswith("u") else -9, 10)
            values[name] = random.integers(low, high, shape).astype(dtype)
        else:
            # Multiples of 1/64: exact in every float type and short as text.
            values[name] = (random.integers(-128, 129, shape) / 64).astype(dtype)
    return values


def _flat(array):
    if array.dtype == np.float32:
        numbers = [float(str(number)) for number in array.ravel()]
        assert np.array_equal(np.array(numbers, np.float32), array.ravel())
        return numbers
    if array.dtype == tf.bfloat16.as_numpy_dtype:
        array = array.astype(np.float32)
    return array.ravel().tolist()


def _describe(arrays):
    return [{"name": name, "dtype": str(array.dtype), "row_shape": list(array.shape[1:])}
            for name, array in sorted(arrays.items())]


def write_reference(folder, predict, specs, signature="serving_default", batch_sizes=BATCH_SIZES, tolerance=None):
    """Runs predict(**numpy inputs) -> {name: numpy output} for every batch size. tolerance: of a model that makes errors larger."""
    cases = []
    for batch_size in batch_sizes:
        inputs = inputs_of(specs, batch_size)
        outputs = {name: np.asarray(value) for name, value in predict(**inputs).items()}
        assert all(value.shape[0] == batch_size for value in outputs.values())
        assert all(np.isfinite(value).all() for value in outputs.values())
        cases.append({"batch_size": batch_size,
                      "inputs": {name: _flat(value) for name, value in sorted(inputs.items())},
                      "outputs": {name: _flat(value) for name, value in sorted(outputs.items())}})
    head = {"signature": signature, **({"tolerance": tolerance} if tolerance else {}), "inputs": _describe(inputs), "outputs": _describe(outputs)}
    lines = ",\n".join("  " + json.dumps(case, separators=(",", ":")) for case in cases)
    text = json.dumps(head)[:-1] + ', "cases": [\n' + lines + "\n]}\n"
    (pathlib.Path(folder) / "reference.json").write_text(text)


def saved_model_predictor(saved_model, signature="serving_default"):
    """The SavedModel's own predictions, by whatever exporter it was made (TF1's too)."""
    loaded = tf.saved_model.load(str(saved_model))
    function = loaded.signatures[signature]

    def predict(**inputs):
        outputs = function(**{name: tf.constant(value) for name, value in inputs.items()})
        return {name: value.numpy() for name, value in outputs.items()}

    predict.keep_alive = loaded
    return predict


def trim(saved_model):
    """Drops what no reader of the model needs: Keras' metadata, the fingerprint and empty folders."""
    saved_model = pathlib.Path(saved_model)
    for name in ("fingerprint.pb", "keras_metadata.pb"):
        (saved_model / name).unlink(missing_ok=True)
    if (saved_model / "assets").is_dir() and not any((saved_model / "assets").iterdir()):
        (saved_model / "assets").rmdir()


def fresh(folder):
    """An empty saved_model folder's path inside `folder`."""
    saved_model = pathlib.Path(folder) / "saved_model"
    shutil.rmtree(saved_model, ignore_errors=True)
    saved_model.parent.mkdir(parents=True, exist_ok=True)
    return saved_model


def save(folder, module, signatures):
    """tf.saved_model.save() of a tf.Module, trimmed. Returns the path of the SavedModel."""
    saved_model = fresh(folder)
    tf.saved_model.save(module, str(saved_model), signatures=signatures)
    trim(saved_model)
    return saved_model
