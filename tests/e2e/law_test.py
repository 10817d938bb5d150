# SPDX-License-Identifier: Apache-2.0
"""examples/law with the real tool: on this machine (LocalTest), and each model as one job of a Slurm of one
node (SlurmTest). The environment says where things are (CMakeLists.txt)."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.environ["TFAOT_TOOL"]
WORKS = pathlib.Path(os.environ["TFAOT_WORKS"])
EXAMPLE = pathlib.Path(os.environ["TFAOT_LAW_EXAMPLE"])
LAW_FOLDER = os.environ["TFAOT_BATCH_TOOLS"]
ONE_NODE = os.environ["TFAOT_ONE_NODE"]
MODELS = ("ranks", "scalars")


class LawTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="tfaot-law-"))
        self.addCleanup(shutil.rmtree, self.root)
        for model in MODELS:
            shutil.copytree(WORKS / model, self.root / "models" / model)
        self.environment = {
            **os.environ,
            "PATH": f"{LAW_FOLDER}/bin:{os.path.dirname(TOOL)}:{os.environ['PATH']}",
            "PYTHONPATH": f"{EXAMPLE}:{LAW_FOLDER}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LAW_HOME": str(self.root / "law"),
            "LAW_CONFIG_FILE": str(EXAMPLE / "law.cfg"),
        }
        subprocess.run(
            [sys.executable, f"{LAW_FOLDER}/bin/law", "index", "-q"], check=True, env=self.environment
        )

    def law(self, task, *options, before=(), works=True):
        """What law prints."""
        command = [*before, sys.executable, f"{LAW_FOLDER}/bin/law", "run", task, *options, "--local-scheduler"]
        done = subprocess.run(
            [*command, "--configs", "models/*/aot_config.yaml"],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=500,
        )
        self.assertEqual(done.returncode == 0, works, done.stdout)
        return done.stdout

    def manifest(self, model):
        return (self.root / "results" / model / "package/manifest.json").read_text()

    def expected(self, model):
        """The manifest that tfaot makes without law."""
        out = self.root / "alone" / model
        config = self.root / "models" / model / "aot_config.yaml"
        subprocess.run([TOOL, "compile", "-q", "-c", config, "-o", out], check=True)
        return (out / "manifest.json").read_text()


class LocalTest(LawTest):
    def test_compiles_what_is_missing(self):
        self.law("CompileModels", "--workers", "2")
        for model in MODELS:
            self.assertEqual(self.manifest(model), self.expected(model))
        times = [(self.root / f"results/{model}/package/manifest.json").stat().st_mtime_ns for model in MODELS]
        shutil.rmtree(self.root / "results/ranks")
        said = self.law("CompileModels")
        self.assertRegex(said, r"Scheduled 3 tasks[^\n]*\n\* 1 complete ones[^*]*\* 2 ran successfully")
        again = self.root / "results/scalars/package/manifest.json"
        self.assertEqual(again.stat().st_mtime_ns, times[1])
        self.assertEqual(self.manifest("ranks"), self.expected("ranks"))

    def test_validates_and_profiles(self):
        for task, file in (("ValidateModels", "validation.json"), ("ProfileModels", "profile.json")):
            self.law(task, "--workers", "2")
            for model in MODELS:
                self.assertIsInstance(json.loads((self.root / "results" / model / file).read_text()), dict)
                self.assertEqual(self.manifest(model), self.expected(model))

    def test_one_model_that_is_wrong_does_not_stop_the_others(self):
        shutil.rmtree(self.root / "models/ranks/saved_model")
        said = self.law("CompileModels", works=False)
        self.assertIn("ranks/aot_config.yaml", said)
        self.assertIn("saved_model", said)
        self.assertEqual(self.manifest("scalars"), self.expected("scalars"))
        self.assertFalse((self.root / "results/ranks").exists())

    def test_no_config_is_an_error(self):
        shutil.rmtree(self.root / "models")
        said = self.law("CompileModels", works=False)
        self.assertIn("there is no " + str(self.root / "models/*/aot_config.yaml"), said)


class SlurmTest(LawTest):
    def test_each_model_is_a_job(self):
        slurm = self.root / "slurm"
        self.law("CompileModels", "--workflow", "slurm", "--poll-interval", "2s", "--retries", "0",
                 before=[ONE_NODE, slurm])  # fmt: skip
        log = (slurm / "log/slurmctld").read_text()
        self.assertEqual(len(re.findall(r"_job_complete: JobId=\d+ done", log)), len(MODELS), log)
        for model in MODELS:
            self.assertEqual(self.manifest(model), self.expected(model))


if __name__ == "__main__":
    unittest.main()
