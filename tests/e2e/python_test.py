# SPDX-License-Identifier: Apache-2.0
"""`import tfaot` with packages of the real compiler: every model predicts as TensorFlow does, and as
`tfaot run` does. The environment says where things are (CMakeLists.txt)."""

import concurrent.futures
import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, os.environ["TFAOT_PYTHON_PATH"])
import tfaot  # noqa: E402  (its folder is known only now)

TOOL = os.environ["TFAOT_TOOL"]
TOLERANCE = 1e-5  # as in reference.h
LAST_DIGITS = {"float16": 2**-10, "bfloat16": 2**-7}
with open(os.environ["TFAOT_PACKAGES"], encoding="utf-8") as packages:
    # name -> (package tree, reference.json)
    PACKAGES = {name: (tree, reference) for name, tree, reference in (line.strip().split("|") for line in packages)}


def cases(name):
    """Pairs of dicts of arrays, inputs and outputs, of a model's reference.json."""
    with open(PACKAGES[name][1], encoding="utf-8") as file:
        reference = json.load(file)

    def array(numbers, dtype):
        if dtype == "bfloat16":  # which Debian's numpy does not have: the bits
            return (np.array(numbers, "float32").view("uint32") >> 16).astype("uint16")
        return np.array(numbers, dtype)

    def arrays(values, tensors, rows):
        return {
            one["name"]: array(values[one["name"]], one["dtype"]).reshape([rows, *one["row_shape"]])
            for one in tensors
        }

    for case in reference["cases"]:
        rows = case["batch_size"]
        yield (
            arrays(case["inputs"], reference["inputs"], rows),
            arrays(case["outputs"], reference["outputs"], rows),
        )


def bfloat16_of(name):
    """The names of a model's inputs and outputs of bfloat16, whose arrays hold bits."""
    with open(PACKAGES[name][1], encoding="utf-8") as file:
        reference = json.load(file)
    return {one["name"] for one in reference["inputs"] + reference["outputs"] if one["dtype"] == "bfloat16"}


def floats_of(bits):
    return (bits.astype("uint32") << 16).view("float32")


def run_tool(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def resident_kilobytes():
    with open("/proc/self/status", encoding="utf-8") as status:
        return int(next(line for line in status if line.startswith("VmRSS:")).split()[1])


class PythonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tfaot python ")
        os.environ["TFAOT_CACHE_DIR"] = os.path.join(cls.folder.name, "cache")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def assert_close(self, found, wanted, bfloat16=()):
        self.assertEqual(list(found), list(wanted))
        for name, array in found.items():
            self.assertEqual((array.dtype, array.shape), (wanted[name].dtype, wanted[name].shape))
            expected, dtype = wanted[name], array.dtype.name
            if name in bfloat16:
                array, expected, dtype = floats_of(array), floats_of(expected), "bfloat16"
            if array.dtype.kind != "f":
                np.testing.assert_array_equal(array, expected)
                continue
            scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
            tolerance = LAST_DIGITS.get(dtype, TOLERANCE)
            np.testing.assert_allclose(array, expected, rtol=0, atol=tolerance * scale)

    def test_predicts_as_tensorflow(self):
        self.assertGreater(len(PACKAGES), 40)
        for name, (tree, _) in PACKAGES.items():
            with self.subTest(name):
                model = tfaot.Model(tree)
                bfloat16 = bfloat16_of(name)
                checked = 0
                for inputs, outputs in cases(name):
                    wanted = {tensor.name: outputs[tensor.name] for tensor in model.outputs}
                    self.assert_close(model(**inputs), wanted, bfloat16)
                    in_order = [inputs[tensor.name] for tensor in model.inputs]
                    self.assert_close(model(*in_order), wanted, bfloat16)
                    checked += 1
                self.assertGreater(checked, 0)

    def test_equals_tfaot_run(self):
        for name in ("dtypes", "more_dtypes", "unsorted_names", "coupled_rows", "convolution"):
            with self.subTest(name):
                tree = PACKAGES[name][0]
                bfloat16 = bfloat16_of(name)
                for inputs, _ in cases(name):
                    for key in bfloat16 & set(inputs):
                        inputs[key] = inputs[key].view("V2")  # as ml_dtypes saves it
                    np.savez(self.path("in.npz"), **inputs)
                    run_tool("run", tree, "-i", self.path("in.npz"), "-o", self.path("out.npz"), "-q")
                    np.savez_compressed(self.path("small.npz"), **inputs)
                    run_tool("run", tree, "-i", self.path("small.npz"), "-o", self.path("out2.npz"), "-q")
                    wanted = tfaot.Model(tree)(**inputs)
                    for file in ("out.npz", "out2.npz"):
                        with np.load(self.path(file)) as found:
                            self.assertEqual(found.files, list(wanted))
                            for key, array in wanted.items():
                                read = found[key].view("uint16") if key in bfloat16 else found[key]
                                np.testing.assert_array_equal(read, array, strict=True)

    def test_files_of_numpy(self):
        tree = PACKAGES["minimal"][0]
        model = tfaot.Model(tree)
        x = np.random.default_rng(1).random((5, *model.inputs[0].row_shape), "float32")
        wanted = model(x)[model.outputs[0].name]
        for file, array in {"c.npy": x, "fortran.npy": np.asfortranarray(x)}.items():
            np.save(self.path(file), array)
            run_tool("run", tree, "-i", self.path(file), "-o", self.path("y.npy"), "-q")
            np.testing.assert_array_equal(np.load(self.path("y.npy")), wanted, strict=True)
        run_tool("run", tree, "-i", self.path("c.npy"), "-o", self.path("y.csv"), "-q")
        table = np.loadtxt(self.path("y.csv"), "float32", delimiter=",", skiprows=1, ndmin=2)
        np.testing.assert_array_equal(table.reshape(wanted.shape), wanted)

    def test_describes_itself(self):
        model = tfaot.Model(PACKAGES["dtypes"][0])
        self.assertEqual(
            [(tensor.name, tensor.dtype.name, tensor.row_shape) for tensor in model.inputs],
            [(name, dtype, (3,)) for name, dtype in
             (("flag", "bool"), ("float32", "float32"), ("float64", "float64"), ("int32", "int32"),
              ("int64", "int64"))],
        )
        self.assertEqual(model.signature, (model.inputs, model.outputs))
        self.assertIn(model.cpu_level, repr(model))
        self.assertEqual(model.name, "dtypes")
        self.assertIn(1, model.batch_sizes)

    def test_takes_arrays_of_any_layout(self):
        model = tfaot.Model(PACKAGES["minimal"][0])
        name, row_shape = model.inputs[0].name, model.inputs[0].row_shape
        x = np.random.default_rng(2).random((6, *row_shape), "float32")
        wanted = model(x)[model.outputs[0].name]
        output = model.outputs[0].name
        wide = np.zeros((12, *row_shape), "float32")
        wide[::2] = x
        for array in (wide[::2], np.asfortranarray(x), x.astype(">f4"), x[::-1][::-1],
                      np.concatenate([x.ravel(), [0]]).astype("float32")[:-1].reshape(x.shape)):
            np.testing.assert_array_equal(model(**{name: array})[output], wanted)
        read_only = x.copy()
        read_only.setflags(write=False)
        np.testing.assert_array_equal(model(read_only)[output], wanted)
        half = x.astype("float16")
        np.testing.assert_array_equal(model(half)[output], model(half.astype("float32"))[output])
        empty = model(x[:0])[output]
        self.assertEqual((empty.shape, empty.dtype), ((0, *model.outputs[0].row_shape), wanted.dtype))

    def test_refuses_what_does_not_fit(self):
        model = tfaot.Model(PACKAGES["dtypes"][0])
        inputs = dict(next(cases("dtypes"))[0])
        rows = len(inputs["flag"])

        def refused(kind, text, *arrays, **named):
            with self.assertRaises(kind) as caught:
                model(*arrays, **named)
            self.assertEqual(str(caught.exception), "model 'dtypes'" + text)

        refused(TypeError, " takes 5 inputs ('flag', 'float32', 'float64', 'int32', 'int64'), got 0")
        refused(TypeError, ": give all inputs in order, or all by name", inputs["flag"], **inputs)
        refused(TypeError, " has no input 'x'; its inputs: 'flag', 'float32', 'float64', 'int32', "
                "'int64'", x=1, **inputs)
        refused(TypeError, ": input 'int64' is missing",
                **{name: array for name, array in inputs.items() if name != "int64"})
        for name, wrong, found in (("float32", "float64", "float64"), ("int32", "int64", "int64"),
                                   ("float64", "int32", "int32"), ("flag", "int32", "int32"),
                                   ("int64", "uint64", "uint64")):
            refused(TypeError, f": input '{name}' takes {inputs[name].dtype}, got {found}; convert it: "
                    f"a.astype('{inputs[name].dtype}')",
                    **{**inputs, name: np.zeros((rows, 3), wrong)})
        refused(ValueError, f": input 'int32' takes the shape [rows, 3], got [{rows}, 4]",
                **{**inputs, "int32": np.zeros((rows, 4), "int32")})
        refused(ValueError, ": input 'int32' takes the shape [rows, 3], got []",
                **{**inputs, "int32": np.int32(3)})
        refused(ValueError, f": input 'int32' has {rows + 1} rows, and input 'flag' has {rows}",
                **{**inputs, "int32": np.zeros((rows + 1, 3), "int32")})

    def test_bfloat16_has_a_package_or_is_bits(self):
        model = tfaot.Model(PACKAGES["more_dtypes"][0])
        inputs = dict(next(cases("more_dtypes"))[0])
        wanted = model(**inputs)["bfloat16"]
        bits = inputs["bfloat16"]
        for array in (bits.view("V2"), bits.astype(">u2")):
            np.testing.assert_array_equal(model(**{**inputs, "bfloat16": array})["bfloat16"], wanted)
        for wrong in (floats_of(bits), bits.astype("uint8"), bits.astype("int16")):
            with self.assertRaises(TypeError) as caught:
                model(**{**inputs, "bfloat16": wrong})
            self.assertEqual(
                str(caught.exception),
                "model 'more_dtypes': input 'bfloat16' takes bfloat16, or its bits as uint16, got "
                f"{wrong.dtype}; convert it with the package ml_dtypes",
            )

    def test_says_what_cannot_be_loaded(self):
        with self.assertRaises(tfaot.Error) as caught:
            tfaot.Model(self.path("nowhere"))
        self.assertIn("nowhere: no such file or folder\n  'tfaot.Model' takes", str(caught.exception))
        tree = PACKAGES["minimal"][0]
        with self.assertRaises(tfaot.Error) as caught:
            tfaot.Model(tree, cpu_level="x86-64-v9")
        self.assertIn("no code for the level 'x86-64-v9'", str(caught.exception))
        with self.assertRaises(tfaot.Error):
            tfaot.Model(tree, batch_rules=["many"])
        coupled = tfaot.Model(PACKAGES["coupled_rows"][0])
        shape = coupled.inputs[0].row_shape
        rows = max(coupled.batch_sizes) + 1
        with self.assertRaises(tfaot.Error) as caught:
            coupled(*[np.zeros((rows, *shape), one.dtype) for one in coupled.inputs])
        self.assertIn(f"{rows}", str(caught.exception))

    def test_runs_levels_and_rules(self):
        tree = PACKAGES["minimal"][0]
        x = np.random.default_rng(3).random((4, *tfaot.Model(tree).inputs[0].row_shape), "float32")
        best = tfaot.Model(tree)
        output = best.outputs[0].name
        lowest = tfaot.Model(tree, cpu_level="x86-64", batch_rules={4: [1, 1, 1, 1]})
        self.assertEqual(lowest.cpu_level, "x86-64")
        np.testing.assert_allclose(lowest(x)[output], best(x)[output], rtol=1e-5, atol=1e-6)

    def test_runs_in_many_threads(self):
        model = tfaot.Model(PACKAGES["convolution"][0])
        generator = np.random.default_rng(4)
        batches = [
            [generator.random((rows, *one.row_shape)).astype(one.dtype) for one in model.inputs]
            for rows in (1, 3, 8, 20) * 8
        ]
        wanted = [model(*batch) for batch in batches]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda batch: model(*batch), batches * 4))
        for one, other in zip(found, wanted * 4):
            for name, array in one.items():
                np.testing.assert_array_equal(array, other[name])

    def test_lives_without_its_files_and_leaks_nothing(self):
        tree = self.path("moved")
        shutil.copytree(PACKAGES["minimal"][0], tree)
        model = tfaot.Model(tree)
        shutil.rmtree(tree)
        x = np.ones((3, *model.inputs[0].row_shape), "float32")
        wanted = model(x)[model.outputs[0].name]
        again = pickle.loads(pickle.dumps(tfaot.Model(PACKAGES["minimal"][0])))
        np.testing.assert_array_equal(again(x)[again.outputs[0].name], wanted)

        def work(times):
            for _ in range(times):
                model(x)
                with self.assertRaises(ValueError):
                    model(x[:, :1])
                tfaot.Model(PACKAGES["minimal"][0])(x)

        work(50)
        before = resident_kilobytes()
        work(500)
        gc.collect()
        self.assertLess(resident_kilobytes() - before, 4000)
        # A model that is gone is unloaded.
        other = tfaot.Model(PACKAGES["dtypes"][0])
        with open("/proc/self/maps", encoding="utf-8") as maps:
            with_other = maps.read().count("/loaded/")
        del other
        gc.collect()
        with open("/proc/self/maps", encoding="utf-8") as maps:
            self.assertLess(maps.read().count("/loaded/"), with_other)

    def test_takes_archives_areas_and_headers_of_cmssw(self):
        name = "convolution"
        config = os.path.join(os.path.dirname(PACKAGES[name][1]), "aot_config.yaml")
        tree = self.path("cmssw_tree")
        run_tool("compile", "-c", config, "-o", tree, "--headers", "cmssw", "-q")
        run_tool("package", tree, "-o", self.path("dist"), "-q")
        archive = os.path.join(self.path("dist"), os.listdir(self.path("dist"))[0])
        run_tool("install", archive, "--release-area", self.path("area"), "-q")
        inputs, outputs = next(cases(name))
        for package in (tree, archive, os.path.join(self.path("area"), name)):
            model = tfaot.Model(package)
            self.assert_close(model(**inputs), {one.name: outputs[one.name] for one in model.outputs})


if __name__ == "__main__":
    unittest.main()
