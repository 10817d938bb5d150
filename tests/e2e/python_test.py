# SPDX-License-Identifier: Apache-2.0
"""`import tfaot` with packages of the real compiler: every model predicts as TensorFlow does, and as
`tfaot run` does. The environment says where things are (CMakeLists.txt)."""

import concurrent.futures
import contextlib
import gc
import glob
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import weakref

import numpy as np

sys.path.insert(0, os.environ["TFAOT_PYTHON_PATH"])
WAY = os.environ["TFAOT_PYTHON_WAY"]
if WAY == "slow":
    sys.modules["tfaot._fast"] = None  # as if it had been built without Python's headers
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


def tolerance_of(name):
    """What a model's reference.json allows, as in reference.h."""
    with open(PACKAGES[name][1], encoding="utf-8") as file:
        return json.load(file).get("tolerance", TOLERANCE)


def floats_of(bits):
    return (bits.astype("uint32") << 16).view("float32")


def events(rows, n_tracks, n_vertices):
    """Inputs of models/onnx/events."""
    random = np.random.default_rng(n_tracks)
    return {
        "tracks": random.uniform(-1, 1, (rows, n_tracks, 3)).astype("float32"),
        "vertices": random.uniform(-1, 1, (rows, n_vertices, 2)).astype("float32"),
    }


def predicted(tracks, vertices):
    """What that model predicts."""
    w = np.array([[0.5, -1, 2, 0.125], [1, 0.25, -0.5, 0.75], [-0.25, 0.5, 1.5, -1]])
    u = np.array([[1, -0.5], [0.25, 2], [-1, 0.5], [0.75, 1]])
    v = np.array([[1, 0.5, -1, 0.25], [-0.5, 2, 0.75, 1]])
    h = np.tanh(tracks @ w)
    outputs = {"each": h @ u, "jet": h.mean(axis=1) + (vertices @ v).max(axis=1)}
    return {name: array.astype("float32") for name, array in outputs.items()}


def run_tool(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def resident_kilobytes():
    with open("/proc/self/status", encoding="utf-8") as status:
        return int(next(line for line in status if line.startswith("VmRSS:")).split()[1])


def only_the_fast_call(model):
    """Arrays that need no conversion are not handled in Python; without the fast call all are."""
    if WAY == "slow" or not model.inputs:
        return contextlib.nullcontext()
    return unittest.mock.patch.multiple(tfaot.Model, _call=None, _run=None)


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

    def assert_close(self, found, wanted, bfloat16=(), allowed=TOLERANCE):
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
            tolerance = LAST_DIGITS.get(dtype, allowed)
            np.testing.assert_allclose(array, expected, rtol=0, atol=tolerance * scale)


class CallTest(PythonTest):
    """Depends on the version of Python and numpy."""

    def test_predicts_as_tensorflow(self):
        self.assertGreater(len(PACKAGES), 40)
        for name, (tree, _) in PACKAGES.items():
            with self.subTest(name):
                model = tfaot.Model(tree)
                bfloat16 = bfloat16_of(name)
                allowed = tolerance_of(name)
                checked = 0
                for inputs, outputs in cases(name):
                    wanted = {tensor.name: outputs[tensor.name] for tensor in model.outputs}
                    self.assert_close(model(**inputs), wanted, bfloat16, allowed)
                    in_order = [inputs[tensor.name] for tensor in model.inputs]
                    with only_the_fast_call(model):
                        found = model(*in_order)
                        listed = model.run(None, inputs)
                    self.assert_close(found, wanted, bfloat16, allowed)
                    for name, one, other in zip(found, listed, model._call(*in_order).values()):
                        np.testing.assert_array_equal(found[name], one, strict=True)
                        np.testing.assert_array_equal(found[name], other, strict=True)
                    checked += 1
                self.assertGreater(checked, 0)

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
        with open(os.path.join(PACKAGES["dtypes"][0], "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        wanted = manifest.get("record", {"model_name": "dtypes", "version": 0, "hash": ""})  # older packages have none
        self.assertEqual(model.record(), {**wanted, "cpu_level": model.cpu_level, "instructions": ""})  # no kernel of fewer bits
        self.assertEqual(tfaot.Model(PACKAGES["dtypes"][0], cpu_level="x86-64").record()["cpu_level"], "x86-64")
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
        refused(TypeError, ": a dict of inputs is for run(): model.run({...})", inputs)
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

    def test_arrays_have_any_size(self):
        model = tfaot.Model(os.environ["TFAOT_FREE_PACKAGE"])
        self.assertEqual(model.dimensions, {"n_tracks": (1, 40), "n_vertices": (1, 6)})
        self.assertEqual([tensor.free_shape for tensor in model.inputs], [("n_tracks", 3), ("n_vertices", 2)])
        self.assertEqual([tensor.row_shape for tensor in model.outputs], [(40, 2), (4,)])
        self.assertEqual([tensor.free_shape for tensor in model.outputs], [("n_tracks", 2), (4,)])
        self.assertEqual([tensor.is_free for tensor in model.outputs], [True, False])
        fixed = tfaot.Model(PACKAGES["dtypes"][0])
        self.assertEqual([tensor.free_shape for tensor in fixed.inputs], [tensor.row_shape for tensor in fixed.inputs])
        self.assertIn("n_tracks", model._repr_html_())
        for rows, n_tracks, n_vertices in ((2, 40, 6), (2, 40, 6), (1, 7, 2), (3, 7, 2), (3, 1, 1), (0, 5, 2), (5, 39, 6)):
            inputs = events(rows, n_tracks, n_vertices)
            with only_the_fast_call(model):
                for _ in range(2):
                    found = model.run(inputs)
            self.assert_close(found, predicted(**inputs))
            out = {"each": np.zeros((rows, n_tracks, 2), "float32")}
            self.assertIs(model.run(inputs, out=out)["each"], out["each"])
            np.testing.assert_array_equal(out["each"], found["each"])
            slow = model._call(*inputs.values())
            np.testing.assert_array_equal(slow["each"], found["each"], strict=True)

    def test_lists_are_rows_of_different_sizes(self):
        model = tfaot.Model(os.environ["TFAOT_FREE_PACKAGE"])
        sizes = [(7, 1), (40, 6), (40, 6), (1, 2), (5, 2), (5, 3)]
        rows = [events(1, *size) for size in sizes]
        lists = {name: [row[name][0] for row in rows] for name in rows[0]}
        found = model.run(lists)
        wanted = [predicted(**row) for row in rows]
        self.assertEqual([one.shape for one in found["each"]], [(n, 2) for n, _ in sizes])
        for row, one in enumerate(wanted):
            self.assert_close({"each": found["each"][row][None], "jet": found["jet"][row : row + 1]}, one)
        named, listed = model(**lists), model.run(["jet"], lists)
        np.testing.assert_array_equal(named["jet"], found["jet"])
        np.testing.assert_array_equal(listed[0], found["jet"])
        none = model.run({"tracks": [], "vertices": []})
        self.assertEqual((none["each"], none["jet"].shape), ([], (0, 4)))

    def test_refuses_other_sizes(self):
        model = tfaot.Model(os.environ["TFAOT_FREE_PACKAGE"])
        inputs = events(2, 7, 2)

        def refused(kind, text, inputs, **keywords):
            for _ in range(2):
                with self.assertRaises(kind) as caught:
                    model.run(inputs, **keywords)
                self.assertEqual(str(caught.exception), "model 'onnx_events': " + text)

        def zeros(*shape):
            return np.zeros(shape, "float32")

        refused(ValueError, "input 'tracks', axis 1: 'n_tracks' is 41, but the code is for 1 to 40",
                {**inputs, "tracks": zeros(2, 41, 3)})
        refused(ValueError, "input 'tracks' takes the shape [rows, n_tracks, 3], got [2, 7, 4]",
                {**inputs, "tracks": zeros(2, 7, 4)})
        refused(ValueError, "input 'tracks' takes the shape [rows, n_tracks, 3], got [2, 7]",
                {**inputs, "tracks": zeros(2, 7)})
        refused(ValueError, "the array for output 'each' must have the shape [2, 7, 2], got [2, 8, 2]",
                inputs, out={"each": zeros(2, 8, 2)})
        lists = {"tracks": [zeros(7, 3), zeros(41, 3)], "vertices": [zeros(2, 2), zeros(1, 2)]}
        refused(ValueError, "input 'tracks', axis 1: 'n_tracks' is 41, but the code is for 1 to 40 (row 1)", lists)
        refused(ValueError, "input 'vertices' has 1 rows, and input 'tracks' has 2",
                {**lists, "vertices": [zeros(2, 2)]})
        refused(ValueError, "input 'tracks' takes the shape [n_tracks, 3], got [3, 7]",
                {**lists, "tracks": [zeros(3, 7), zeros(3, 7)]})
        refused(TypeError, "input 'vertices' must be a list of arrays, as another input is",
                {**lists, "vertices": zeros(2, 2, 2)})
        refused(TypeError, "out= is for arrays of one size, not for lists of arrays", lists, out={"jet": zeros(2, 4)})
        self.assert_close(model.run(inputs), predicted(**inputs))

    def test_threads_have_their_own_sizes(self):
        model = tfaot.Model(os.environ["TFAOT_FREE_PACKAGE"])

        def work(seed):
            for turn in range(200):
                inputs = events(1 + turn % 3, 1 + (seed * 7 + turn) % 40, 1 + turn % 6)
                self.assert_close(model.run(inputs), predicted(**inputs))

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))

    def test_runs_as_onnxruntime_does(self):
        model = tfaot.Model(PACKAGES["dtypes"][0])
        inputs = dict(next(cases("dtypes"))[0])
        wanted = model(**inputs)
        names = list(wanted)
        self.assertEqual(names, [one.name for one in model.outputs])
        with only_the_fast_call(model):
            found = model.run(inputs)
            listed = model.run(None, inputs)
        self.assertEqual(list(found), names)
        self.assertIs(type(listed), list)
        for name, one in zip(names, listed):
            np.testing.assert_array_equal(found[name], wanted[name], strict=True)
            np.testing.assert_array_equal(one, wanted[name], strict=True)
        some = model.run([names[3], names[0]], inputs)
        self.assertEqual(len(some), 2)
        np.testing.assert_array_equal(some[0], wanted[names[3]], strict=True)
        np.testing.assert_array_equal(some[1], wanted[names[0]], strict=True)
        np.testing.assert_array_equal(model.run(names[1], inputs)[0], wanted[names[1]], strict=True)
        narrow = model.run({**inputs, "int32": inputs["int32"].astype("int16")})
        for name in names:
            np.testing.assert_array_equal(narrow[name], wanted[name], strict=True)
        self.assertEqual(model.run([], inputs), [])

    def test_refuses_wrong_runs(self):
        model = tfaot.Model(PACKAGES["dtypes"][0])
        inputs = dict(next(cases("dtypes"))[0])
        rows = len(inputs["flag"])

        def refused(kind, text, *arguments, **keywords):
            with self.assertRaises(kind) as caught:
                model.run(*arguments, **keywords)
            self.assertEqual(str(caught.exception), text)

        takes = "run() takes inputs, or a list of outputs (None: all) and inputs; and out="
        refused(TypeError, takes)
        refused(TypeError, takes, None, inputs, None)
        refused(TypeError, takes, inputs, outputs={})
        refused(TypeError, "run() takes inputs as a dict of arrays by name, got ndarray", inputs["flag"])
        refused(TypeError, "run() takes inputs as a dict of arrays by name, got list", None, [1])
        refused(TypeError, "run() takes out as a dict of arrays by name, got ndarray", inputs,
                out=inputs["flag"])
        listed = "its outputs: 'flag', 'float32', 'float64', 'int32', 'int64', 'mixed'"
        refused(TypeError, f"model 'dtypes' has no output 'y'; {listed}", ["y"], inputs)
        refused(TypeError, f"model 'dtypes' has no output 'y'; {listed}", inputs, out={"y": inputs["flag"]})
        refused(TypeError, "model 'dtypes': input 'int64' is missing",
                {name: array for name, array in inputs.items() if name != "int64"})
        refused(TypeError, "model 'dtypes': input 'flag' takes bool, got float32; convert it: a.astype('bool')",
                {**inputs, "flag": inputs["float32"]})
        array = "model 'dtypes': the array for output 'int32' must "
        wide = np.zeros((rows, 6), "int32")
        fixed = np.zeros((rows, 3), "int32")
        fixed.setflags(write=False)
        for kind, text, wrong in (
            (TypeError, array + "be of int32, got int64", np.zeros((rows, 3), "int64")),
            (TypeError, array + "be of int32, got >i4", np.zeros((rows, 3), ">i4")),
            (TypeError, array + "be of int32, got list", [[1, 2, 3]]),
            (ValueError, array + f"have the shape [{rows}, 3], got [{rows}, 6]", wide),
            (ValueError, array + "be in C order and writable", wide[:, ::2]),
            (ValueError, array + "be in C order and writable", fixed),
            (ValueError, "model 'dtypes': the array for output 'int32' shares memory with another array of the call",
             inputs["int32"]),
        ):
            refused(kind, text, inputs, out={"int32": wrong})
        half = np.zeros((2 * rows, 3), "int64")
        same = half[:rows]
        refused(ValueError, "model 'dtypes': the array for output 'mixed' shares memory with another array of the call",
                inputs, out={"int64": same, "mixed": same.view("float64")})

    def test_writes_into_given_arrays(self):
        model = tfaot.Model(PACKAGES["dtypes"][0])
        inputs = dict(next(cases("dtypes"))[0])
        wanted = model(**inputs)
        out = {name: np.zeros_like(array) for name, array in wanted.items()}
        for some in (out, {"mixed": out["mixed"]}, {}, None):
            for array in (some or {}).values():
                array[...] = 0
            with only_the_fast_call(model):
                found = model.run(inputs, out=some)
                listed = model.run(None, inputs, out=some)
            for (name, array), one in zip(found.items(), listed):
                np.testing.assert_array_equal(array, wanted[name], strict=True)
                np.testing.assert_array_equal(one, wanted[name], strict=True)
            for name, array in (some or {}).items():
                self.assertIs(found[name], array)
        given = np.zeros_like(wanted["int32"])
        self.assertIs(model.run(["int32"], inputs, out={"int32": given})[0], given)
        # With a conversion.
        found = model.run({**inputs, "int32": inputs["int32"].astype("int16")}, out=out)
        self.assertIs(found["int32"], out["int32"])
        np.testing.assert_array_equal(found["int32"], wanted["int32"])

    def test_results_stay_as_they_are(self):
        """A call may write into the arrays of the last call, if nobody has them any more."""
        model = tfaot.Model(PACKAGES["minimal"][0])
        shape, name = model.inputs[0].row_shape, model.outputs[0].name
        batches = [np.full((4, *shape), number, "float32") for number in range(8)]
        wanted = [model(batch)[name].copy() for batch in batches]
        self.assertFalse(all(np.array_equal(one, wanted[0]) for one in wanted))
        arrays = [model(batch)[name] for batch in batches]
        views = [model(batch)[name][1:] for batch in batches]
        memories = [memoryview(model(batch)[name]) for batch in batches]
        flat = []
        for batch in batches:
            array = model(batch)[name]
            array.shape = (array.size,)  # of an array that the model knows
            flat.append(array.copy())
            array.setflags(write=False)
            del array
        for found, expected in zip(zip(arrays, views, memories, flat), wanted):
            np.testing.assert_array_equal(found[0], expected, strict=True)
            np.testing.assert_array_equal(found[1], expected[1:], strict=True)
            np.testing.assert_array_equal(np.asarray(found[2]), expected, strict=True)
            np.testing.assert_array_equal(found[3], expected.ravel(), strict=True)
        # Who looks through a weak reference finds the array of its call, or none.
        array = model(batches[0])[name]
        watched = weakref.ref(array)
        del array
        model(batches[1])
        found = watched()
        if found is not None:
            np.testing.assert_array_equal(found, wanted[0], strict=True)
        # An output that is an input of the next call.
        chained = tfaot.Model(PACKAGES["dtypes"][0])
        inputs = dict(next(cases("dtypes"))[0])
        state = inputs["float64"]
        for _ in range(4):
            expected = chained._call(**{**inputs, "float64": state.copy()})["float64"]
            state = chained.run({**inputs, "float64": state})["float64"]
            np.testing.assert_array_equal(state, expected, strict=True)

    def test_takes_arrays_whose_type_is_another_object(self):
        model = tfaot.Model(PACKAGES["minimal"][0])
        x = np.ones((2, *model.inputs[0].row_shape), "float32")
        other = pickle.loads(pickle.dumps(x))
        self.assertIsNot(other.dtype, x.dtype)
        name = model.outputs[0].name
        with only_the_fast_call(model):
            np.testing.assert_array_equal(model(other)[name], model(x)[name], strict=True)

        class Special(np.ndarray):
            pass

        found = model(x.view(Special))[name]
        self.assertIs(type(found), np.ndarray)
        np.testing.assert_array_equal(found, model(x)[name], strict=True)

    def test_other_threads_run_during_a_call(self):
        model = tfaot.Model(PACKAGES["convolution"][0])
        rows = 64
        while True:  # a call of half a second
            arrays = [np.zeros((rows, *one.row_shape), one.dtype) for one in model.inputs]
            start = time.monotonic()
            model(*arrays)
            if time.monotonic() - start > 0.5:
                break
            rows *= 2
        took = []

        def work():
            begin = time.monotonic()
            model(*arrays)
            took.append(time.monotonic() - begin)

        thread = threading.Thread(target=work)
        thread.start()
        longest, last = 0.0, time.monotonic()
        while thread.is_alive():
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        thread.join()
        self.assertLess(longest, took[0] / 2)

    def test_shows_itself_in_a_notebook(self):
        model = tfaot.Model(PACKAGES["dtypes"][0])
        page = model._repr_html_()
        for text in ("<b>dtypes</b>", model.cpu_level, "<td>input</td><td>float64</td><td>float64</td><td>rows, 3</td>",
                     "<td>output</td><td>mixed</td>", model.record()["hash"]):
            self.assertIn(text, page)

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


class PackageTest(PythonTest):
    """Depends on the tool and on packages."""

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

    def test_says_what_cannot_be_loaded(self):
        with self.assertRaises(tfaot.Error) as caught:
            tfaot.Model(self.path("nowhere"))
        self.assertIn("nowhere: no such file or folder\n  'tfaot.Model' takes", str(caught.exception))
        with self.assertRaises(tfaot.Error) as caught:
            tfaot.Model("/nowhere/\udcff")
        self.assertIn("the path is not UTF-8", str(caught.exception))
        tree = PACKAGES["minimal"][0]
        self.assertEqual(tfaot.Model(os.fsencode(tree)).name, tfaot.Model(tree).name)
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
        [archive] = glob.glob(os.path.join(glob.escape(self.path("dist")), "*.tar.*"))
        run_tool("install", archive, "--release-area", self.path("area"), "-q")
        inputs, outputs = next(cases(name))
        for package in (tree, archive, os.path.join(self.path("area"), name)):
            model = tfaot.Model(package)
            self.assert_close(model(**inputs), {one.name: outputs[one.name] for one in model.outputs})


if __name__ == "__main__":
    unittest.main(defaultTest=os.environ.get("TFAOT_PYTHON_TESTS"))
