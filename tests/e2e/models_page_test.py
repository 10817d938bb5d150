# SPDX-License-Identifier: Apache-2.0
"""The examples for PyTorch and Keras in docs/models.md, with a real PyTorch and a real Keras: what they export is compiled as the page
says, and predicts as the framework does. Run by the Python of TFAOT_FRAMEWORKS_PYTHON, which has one of them or both."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, os.environ["TFAOT_PYTHON_PATH"])
import tfaot

PAGE = pathlib.Path(os.environ["TFAOT_MODELS_PAGE"]).read_text(encoding="utf-8")


def blocks(section, language):
    """The code of the section, a text for each block."""
    text = re.search(rf"^## {section}$(.*?)(?=^## )", PAGE, re.M | re.S)[1]
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


class PageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tfaot page ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def run_commands(self, section):
        for command in re.findall(r"^\$ (.*)", "\n".join(blocks(section, "console")), re.M):
            subprocess.run(["sh", "-euc", command], check=True, stdout=subprocess.DEVNULL,
                           env=os.environ | {"PATH": os.path.dirname(os.environ["TFAOT_TOOL"]) + ":" + os.environ["PATH"]})

    @unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch")
    def test_pytorch(self):
        import torch
        examples = blocks("PyTorch", "python")
        self.assertEqual(len(examples), 2)
        for example in examples:
            torch.manual_seed(1)
            model = torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.BatchNorm1d(9), torch.nn.Dropout(), torch.nn.Linear(9, 2))
            exec(compile(example, "docs/models.md", "exec"), {"model": model})
            self.run_commands("PyTorch")
            package = tfaot.Model("out")
            for rows in (1, 3, 16, 21):
                x = np.random.default_rng(rows).normal(size=(rows, 6)).astype("float32")
                with torch.no_grad():
                    expected = model(torch.from_numpy(x)).numpy()
                np.testing.assert_allclose(package(x=x)["score"], expected, rtol=1e-5, atol=1e-6)

    @unittest.skipUnless(importlib.util.find_spec("keras") and importlib.util.find_spec("tensorflow"), "there is no Keras")
    def test_keras(self):
        import keras
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "gelu"), keras.layers.Dropout(0.5), keras.layers.Dense(2)])
        exec(compile(blocks("Keras 3", "python")[0], "docs/models.md", "exec"), {"model": model})
        pathlib.Path("aot_config.yaml").write_text(blocks("Keras 3", "yaml")[0], encoding="utf-8")
        subprocess.run([os.environ["TFAOT_TOOL"], "compile", "-c", "aot_config.yaml", "-o", "out", "-q"], check=True)
        x = np.random.default_rng(1).normal(size=(5, 4)).astype("float32")
        np.testing.assert_allclose(tfaot.Model("out")(x)["output_0"], model.predict(x, verbose=0), rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    unittest.main()
