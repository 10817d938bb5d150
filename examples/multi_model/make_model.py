# SPDX-License-Identifier: Apache-2.0
"""Makes saved_model/ and reference.json of both models. Run with tensorflow-cpu 2.18.1: python make_model.py"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "e2e"))
import model_folder as mf
from model_folder import np, tf


class JetTagger(tf.Module):
    """A jet's constituents and categories -> flavour probabilities and the best flavour's index."""

    def __init__(self):
        random = np.random.default_rng(2)

        def variable(*shape):
            return tf.Variable(random.normal(0, 0.4, shape).astype(np.float32))

        self.embedding, self.w1, self.b1 = variable(5, 4), variable(6, 16), variable(16)
        self.w2, self.b2 = variable(20, 4), variable(4)

    @tf.function(input_signature=[
        tf.TensorSpec([None, 10, 6], tf.float32, name="constituents"),
        tf.TensorSpec([None, 10], tf.bool, name="mask"),
        tf.TensorSpec([None], tf.int32, name="category")])
    def __call__(self, constituents, mask, category):
        hidden = tf.nn.relu(tf.einsum("bcf,fh->bch", constituents, self.w1) + self.b1)
        weight = tf.cast(mask, tf.float32)[:, :, tf.newaxis]
        jet = tf.reduce_sum(hidden * weight, axis=1) / (1 + tf.reduce_sum(weight, axis=1))
        jet = tf.concat([jet, tf.gather(self.embedding, category)], axis=1)
        flavour = tf.nn.softmax(jet @ self.w2 + self.b2)
        return {"flavour": flavour, "best": tf.argmax(flavour, axis=1, output_type=tf.int32)}


class Calibrator(tf.Module):
    """Energy in double precision and a detector cell's number -> corrected energy, its bin, and a veto."""

    def __init__(self):
        random = np.random.default_rng(3)
        self.scale = tf.Variable(random.uniform(0.8, 1.2, 12))
        self.curve = tf.Variable(random.normal(0, 0.1, 3))

    @tf.function(input_signature=[
        tf.TensorSpec([None], tf.float64, name="energy"),
        tf.TensorSpec([None], tf.int64, name="cell")])
    def __call__(self, energy, cell):
        corrected = energy * tf.gather(self.scale, cell)
        corrected += tf.reduce_sum(self.curve * tf.stack([energy, energy**2, energy**3], axis=1), axis=1)
        return {"corrected": corrected,
                "bin": tf.cast(tf.floor(corrected * 10), tf.int64),
                "veto": tf.logical_or(corrected < 0, tf.equal(cell % 5, 0))}


def make(name, model, specs):
    saved_model = mf.save(HERE / name, model, model.__call__)
    mf.write_reference(HERE / name, mf.saved_model_predictor(saved_model), specs)


make("jet_tagger", JetTagger(), {
    "constituents": ("float32", [10, 6]), "mask": ("bool", [10]), "category": ("int32", [], 5)})
make("calibrator", Calibrator(), {"energy": ("float64", []), "cell": ("int64", [], 12)})
