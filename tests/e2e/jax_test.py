# SPDX-License-Identifier: Apache-2.0
"""tfaot_jax.py with a real JAX: what it writes is compiled and predicts as JAX does. Run by the Python of TFAOT_JAX_PYTHON."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, os.environ["TFAOT_PYTHON_PATH"])
import tfaot
import tfaot_jax

W = np.random.default_rng(1).normal(0, 0.5, (6, 4)).astype("float32")
Shape = jax.ShapeDtypeStruct


def net(events, scale):
    return {"score": jax.nn.softmax(events["pt"] @ W) * scale[:, None], "sums": (events["eta"].sum(-1),)}


class JaxTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tfaot jax ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (b,) = jax.export.symbolic_shape("b")
        self.specs = ({"eta": Shape((b, 3), "float32"), "pt": Shape((b, 6), "float32")}, Shape((b,), "float32"))

    def compiled(self, *options):
        options = options if "--batch" in options else ("--batch-sizes", "1,4", *options)
        subprocess.run([os.environ["TFAOT_TOOL"], "compile", "net.stablehlo", "-o", "out", "-q", *options], cwd=self.folder,
                       check=True)
        return tfaot.Model(str(self.folder / "out"))

    def check_predictions(self, model, names):
        for rows in (1, 3, 4, 9):
            random = np.random.default_rng(rows)
            arrays = [random.normal(size=shape).astype("float32") for shape in ((rows, 3), (rows, 6), (rows,))]
            expected = net({"eta": arrays[0], "pt": arrays[1]}, arrays[2])
            found = model(**dict(zip(names, arrays)))
            for name, values in zip(("score", "sums_0"), (expected["score"], expected["sums"][0])):
                np.testing.assert_allclose(found[name], values, rtol=1e-5, atol=1e-6)

    def test_a_function_is_exported(self):
        tfaot_jax.export(net, *self.specs, file=self.folder / "net.stablehlo")
        self.check_predictions(self.compiled(), ("eta", "pt", "scale"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["net.stablehlo", "out"])

    def test_what_jax_exported_is_converted(self):
        exported = jax.export.export(jax.jit(net), platforms=["cpu"])(*self.specs)
        tfaot_jax.write(exported, file=self.folder / "net.stablehlo", inputs=["eta", "pt", "scale"])
        self.check_predictions(self.compiled(), ("eta", "pt", "scale"))

    def test_names_and_sizes_are_kept(self):
        x = Shape(jax.export.symbolic_shape("b, n"), "float32")
        tfaot_jax.export(lambda x: jnp.tanh(x).sum(1), x, file=self.folder / "net.stablehlo", inputs=["a"], outputs=["sum"])
        model = self.compiled("--dimension", "n=5")
        self.assertEqual([(one.name, one.row_shape) for one in model.inputs], [("a", (5,))])
        self.assertEqual([one.name for one in model.outputs], ["sum"])

    def test_a_scan_goes_over_a_dimension_that_each_call_chooses(self):
        def scan(x):
            def step(state, part):
                return jnp.tanh(part @ W + 0.5 * state), state

            last, states = jax.lax.scan(step, jnp.zeros((x.shape[0], 4)), jnp.swapaxes(x, 0, 1))
            return {"last": last, "states": jnp.swapaxes(states, 0, 1)}

        tfaot_jax.export(scan, Shape(jax.export.symbolic_shape("b, n, 6"), "float32"), file=self.folder / "net.stablehlo")
        model = self.compiled("--dimension", "n=1..20")
        for n in (1, 2, 7, 20):
            x = np.random.default_rng(n).normal(size=(3, n, 6)).astype("float32")
            for name, values in scan(x).items():
                np.testing.assert_allclose(model(x)[name], values, rtol=1e-5, atol=1e-6)

    def test_unused_arguments_are_left_out_if_sizes_are_fixed(self):
        x = Shape((1, 3), "float32")
        tfaot_jax.export(lambda unused, x: jnp.tanh(x), x, x, file=self.folder / "net.stablehlo")
        model = self.compiled("--batch", "none")
        self.assertEqual([one.name for one in model.inputs], ["x"])

    def test_compositions_of_an_open_batch_become_calls(self):
        x = Shape(jax.export.symbolic_shape("b, 8"), "float32")
        tfaot_jax.export(lambda x: jax.lax.top_k(x, 3), x, file=self.folder / "net.stablehlo", outputs=["values", "places"])
        values = np.random.default_rng(2).normal(size=(5, 8)).astype("float32")
        found = self.compiled()(values)
        expected = jax.lax.top_k(values, 3)
        np.testing.assert_array_equal(found["values"], expected[0])
        np.testing.assert_array_equal(found["places"], expected[1])

    def test_exports_for_other_platforms_are_refused(self):
        exported = jax.export.export(jax.jit(jnp.tanh), platforms=["cpu", "cuda"])(Shape((2,), "float32"))
        with self.assertRaisesRegex(ValueError, "use platforms"):
            tfaot_jax.write(exported, file=self.folder / "net.stablehlo")


if __name__ == "__main__":
    unittest.main()
