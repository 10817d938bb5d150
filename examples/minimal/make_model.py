# SPDX-License-Identifier: Apache-2.0
"""Makes saved_model/ and reference.json of this example. Run with tensorflow-cpu 2.18.1: python make_model.py"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "e2e"))
import model_folder as mf
from model_folder import np, tf


class Minimal(tf.Module):
    """4 numbers -> batch norm -> 16 tanh units -> probabilities of 2 classes."""

    def __init__(self):
        random = np.random.default_rng(1)

        def variable(*shape):
            return tf.Variable(random.normal(0, 0.5, shape).astype(np.float32))

        self.mean, self.offset, self.scale = variable(4), variable(4), variable(4)
        self.variance = tf.Variable(random.uniform(0.5, 2, 4).astype(np.float32))
        self.w1, self.b1, self.w2, self.b2 = variable(4, 16), variable(16), variable(16, 2), variable(2)

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def __call__(self, x):
        x = tf.nn.batch_normalization(x, self.mean, self.variance, self.offset, self.scale, 1e-3)
        hidden = tf.tanh(x @ self.w1 + self.b1)
        return {"y": tf.nn.softmax(hidden @ self.w2 + self.b2)}


model = Minimal()
saved_model = mf.save(HERE, model, model.__call__)
mf.write_reference(HERE, mf.saved_model_predictor(saved_model), {"x": ("float32", [4])})
