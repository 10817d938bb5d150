# SPDX-License-Identifier: Apache-2.0
"""The verbs of `tfaot` as functions of Python, with the real compiler."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import numpy as np

sys.path.insert(0, os.environ["TFAOT_PYTHON_PATH"])
import tfaot  # noqa: E402  (its folder is known only now)
from tfaot import _tool  # noqa: E402

TOOL = os.environ["TFAOT_TOOL"]
MODELS = pathlib.Path(os.environ["TFAOT_MODELS"])


def unused(*_arguments, **_keywords):
    raise AssertionError("the tool was started")


def with_module():
    """The environment of a process that can `import tfaot`."""
    return {**os.environ, "PYTHONPATH": os.environ["TFAOT_PYTHON_PATH"]}


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tfaot # tool $ ")  # as depfiles escape them
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Compiled code is shared by the tests; packages are not.
        environment = {"TFAOT_CACHE_DIR": str(self.folder / "cache"), "TFAOT_CACHE": os.environ["TFAOT_TEST_CACHE"]}
        patch = unittest.mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        self.net = self.folder / "net.onnx"
        shutil.copy(MODELS / "onnx/dense/model.onnx", self.net)

    def kept(self):
        return sorted(os.listdir(self.folder / "cache/compiled"))

    def found_again(self, *arguments, **options):
        with unittest.mock.patch.object(_tool, "_run", unused):
            return tfaot.compile(*arguments, **options)

    def test_dimensions_have_sizes_or_ranges(self):
        net = self.folder / "events.onnx"
        shutil.copy(MODELS / "onnx/events/model.onnx", net)
        package = tfaot.compile(net, dimensions={"n_tracks": (1, 64), "n_vertices": 2})
        model = tfaot.Model(package)
        self.assertEqual(model.dimensions, {"n_tracks": (1, 64)})
        self.assertEqual([one.free_shape for one in model.inputs], [("n_tracks", 3), (2, 2)])
        same = {"n_tracks": "1..64", "n_vertices": "2"}
        self.assertEqual(self.found_again(net, dimensions=same), package)
        self.assertEqual(self.found_again(net, dimension=["n_tracks=1..64", "n_vertices=2"]), package)

    def test_compiles_once(self):
        package = tfaot.compile(self.net, batch_sizes=[1, 4])
        self.assertEqual(package.name, "net")
        model = tfaot.Model(package)
        self.assertEqual((model.name, model.batch_sizes), ("net", (1, 4)))
        x = np.ones((3, *model.inputs[0].row_shape), "float32")
        self.assertEqual(len(model.run(None, {model.inputs[0].name: x})), len(model.outputs))
        self.assertEqual(self.found_again(self.net, batch_sizes=[1, 4]), package)
        # Neither another folder nor another time nor how it is compiled makes another package.
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(self.net, other)
        self.assertEqual(self.found_again(other / "net.onnx", batch_sizes=(1, 4), jobs=1, timeout=50), package)
        os.utime(self.net, (1, 1))
        self.assertEqual(self.found_again(str(self.net), batch_sizes=[1, 4]), package)
        # Other contents, names, options, tools do.
        for arguments, options in (((self.net,), {"batch_sizes": [1, 2]}), ((self.net,), {})):
            with self.assertRaises(AssertionError):
                self.found_again(*arguments, **options)
        self.net.write_bytes(self.net.read_bytes() + b"\x0a\x00")  # the field 1 again, empty
        with self.assertRaises(AssertionError):
            self.found_again(self.net, batch_sizes=[1, 4])
        shutil.copy(other / "net.onnx", self.folder / "tagger.onnx")
        with self.assertRaises(AssertionError):
            self.found_again(self.folder / "tagger.onnx", batch_sizes=[1, 4])
        with unittest.mock.patch.object(_tool._build, "VERSION", "0"), self.assertRaises(AssertionError):
            self.found_again(other / "net.onnx", batch_sizes=[1, 4])
        # A package that somebody damaged is made again.
        (package / "manifest.json").unlink()
        self.assertEqual(tfaot.compile(other / "net.onnx", batch_sizes=[1, 4]), package)
        self.assertTrue((package / "manifest.json").exists())
        self.assertEqual(len(self.kept()), 1)

    def test_knows_every_file_that_was_read(self):
        folder = self.folder / "config"
        shutil.copytree(MODELS / "onnx/dense", folder)
        package = tfaot.compile(folder / "aot_config.yaml")
        self.assertEqual(self.found_again(folder / "aot_config.yaml"), package)
        listed = json.loads((package.parent / "files.json").read_text())
        self.assertIn("model.onnx", listed)
        with open(folder / "model.onnx", "ab") as model:
            model.write(b"\x0a\x00")
        with self.assertRaises(AssertionError):
            self.found_again(folder / "aot_config.yaml")
        self.assertNotEqual(tfaot.compile(folder / "aot_config.yaml"), package)
        self.assertEqual(len(self.kept()), 2)

    def test_compiles_folders(self):
        model = self.folder / "saved"
        shutil.copytree(MODELS / "works/scalars/saved_model", model)
        package = tfaot.compile(model)
        self.assertEqual(self.found_again(model), package)
        (model / "fingerprint.pb").write_bytes(b"another one")
        with self.assertRaises(AssertionError):
            self.found_again(model)

    def test_writes_into_a_folder(self):
        output = self.folder / "out"
        self.assertEqual(tfaot.compile(self.net, output, batch_sizes=[2]), output)
        self.assertEqual(tfaot.Model(output).batch_sizes, (2,))
        self.assertFalse((self.folder / "cache/compiled").exists())

    def test_errors_are_those_of_the_tool(self):
        self.net.write_bytes(b"no model")
        for arguments, options in (((self.net,), {}), ((self.folder / "nowhere.onnx",), {}), ((self.net,), {"colour": "red"}),
                                   ((self.net,), {"batch_sizes": [0]})):
            words = [f"--{name.replace('_', '-')}={value[0] if isinstance(value, list) else value}"
                     for name, value in options.items()]
            done = subprocess.run([TOOL, "compile", *arguments, "-o", self.folder / "out", "-q", *words],
                                  capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertTrue(done.stderr.startswith("tfaot: error: "), done.stderr)
            with self.assertRaises(tfaot.Error) as caught:
                tfaot.compile(*arguments, **options)
            self.assertEqual("tfaot: error: " + str(caught.exception), done.stderr.strip())
            self.assertEqual(self.kept(), [])

    def test_takes_paths_of_models(self):
        with self.assertRaises(TypeError) as caught:
            tfaot.compile(self.net.read_bytes())
        self.assertEqual(str(caught.exception), "compile() takes the path of a model, got bytes")

    def test_looks_for_packages_of_this_python(self):
        environment = self.folder / "environment"  # which is not active
        (environment / "bin").mkdir(parents=True)
        script = environment / "bin/python3"
        script.write_text('#!/bin/sh\necho started >>"${0%/*}/log"\nexit 1\n')
        script.chmod(0o755)
        with unittest.mock.patch.object(sys, "executable", str(environment / "bin/python")):
            with self.assertRaises(tfaot.Error) as caught:
                tfaot.validate(tfaot.compile(self.net), model=self.net)
        self.assertIn("onnxruntime is not installed", str(caught.exception))
        self.assertTrue((environment / "bin/log").exists())

    def test_gives_options_several_times(self):
        package = tfaot.compile(self.net, batch_sizes=[1, 2, 4])
        rules = {"5": "2,2,1", "3": "2,1"}
        found = tfaot.profile(package, batch_sizes=[3, 5], rounds=3,
                              batch_rule=[f"{rows}:{sizes}" for rows, sizes in rules.items()])
        self.assertIn("rule 3:2,1", found.text)
        self.assertIn("rule 5:2,2,1", found.text)

    def test_ctrl_c_leaves_nothing(self):
        # It stands for an engine that works for long. The words of a launcher hold no blanks.
        script = tempfile.NamedTemporaryFile("w", prefix="tfaot_wait_", suffix=".sh", delete=False)
        self.addCleanup(os.unlink, script.name)
        with script:
            script.write(f"#!/bin/sh\necho $$ >'{self.folder}/started'\nexec sleep 1000\n")
        os.chmod(script.name, 0o700)
        code = f"import tfaot; tfaot.compile({str(self.net)!r}, launcher={script.name!r})"
        process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=with_module())
        started = self.folder / "started"
        while not started.exists() or not started.read_text():
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        self.assertEqual([name[:9] for name in self.kept()], [".staging-"])
        os.kill(process.pid, signal.SIGINT)  # to this process alone, as in a notebook
        _, text = process.communicate(timeout=100)
        self.assertTrue(text.endswith("\nKeyboardInterrupt\n"), text)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(self.kept(), [])
        self.assertFalse(os.path.exists(f"/proc/{started.read_text().strip()}"))

    def test_two_processes_compile_the_same(self):
        command = [sys.executable, "-c", f"import tfaot; print(tfaot.compile({str(self.net)!r}))"]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=with_module()) for _ in range(2)]
        found = [process.communicate(timeout=300)[0].strip() for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0])
        self.assertEqual(found[0], found[1])
        self.assertEqual(len(self.kept()), 1)
        self.assertEqual(tfaot.Model(found[0]).name, "net")
        self.assertEqual(str(self.found_again(self.net)), found[0])

    def test_keeps_what_was_used_last(self):
        compiled = self.folder / "cache/compiled"
        for name, days, size in ((".staging-a", 2, 10), (".staging-b", 0, 10), ("a-a", 3, 900), ("b-b", 2, 10), ("c-c", 0, 900)):
            (compiled / name / "tree").mkdir(parents=True)
            (compiled / name / "tree/file").write_bytes(bytes(size))
            os.utime(compiled / name, (time.time() - days * 86400 - 9,) * 2)
        with unittest.mock.patch.object(_tool, "_CACHE_LIMIT", 1000):
            _tool._Cache(self.net, {}).remove_old(compiled / "c-c")
        self.assertEqual(self.kept(), [".staging-b", "b-b", "c-c"])

    def test_shows_pages(self):
        good = tfaot.check(self.net)
        self.assertTrue(good.good)
        self.assertEqual(good.data["path"], str(self.net))
        self.assertTrue(good.html.startswith("<!DOCTYPE html>"))
        self.assertIn("net.onnx", repr(good))
        frame = good._repr_html_()
        self.assertTrue(frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;'), frame[:60])
        self.assertNotIn("<", frame.split('srcdoc="')[1].split('" style=')[0])

        shutil.copy(self.net, self.folder / "-net.onnx")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.assertTrue(tfaot.check("-net.onnx").good)  # a file, no option
        bad = tfaot.check(MODELS / "refused/no_kernel/aot_config.yaml")
        self.assertFalse(bad.good)
        self.assertIn("does not compile", repr(bad))
        with self.assertRaises(tfaot.Error) as caught:
            tfaot.check(self.folder / "nowhere.onnx")
        self.assertIn("nowhere.onnx: no such file", str(caught.exception))

        saved_model = MODELS / "works/scalars/saved_model"
        package = tfaot.compile(saved_model)
        valid = tfaot.validate(package, model=saved_model, only_these=True)
        self.assertTrue(valid.good, valid)
        self.assertEqual(valid.data["kind"], "validation")

    def test_reports(self):
        found = tfaot.report(self.net, batch_sizes=[1, 2], budget=0.1, rounds=3)
        self.assertTrue(found.good, found)
        self.assertEqual(found.data["kind"], "report")
        self.assertIn("answers", found.data)
        self.assertFalse(tfaot.report(MODELS / "refused/no_kernel/aot_config.yaml").good)

    def test_is_the_tool(self):
        python = [sys.executable, "-m", "tfaot"]
        for arguments in (["--version"], ["compile"]):
            wanted = subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)
            found = subprocess.run([*python, *arguments], capture_output=True, text=True, check=False, env=with_module())
            self.assertEqual((found.returncode, found.stdout, found.stderr), (wanted.returncode, wanted.stdout, wanted.stderr))
        self.assertEqual(subprocess.run([TOOL, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1],
                         tfaot.__version__)


if __name__ == "__main__":
    unittest.main()
