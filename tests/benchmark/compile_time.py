#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compile time of `tfaot compile` beside the usual Python route, in one run, as a ratio.

The usual route is what cms_tfaot_compile does: cmsml's compile_tf_graph() (one saved_model_cli process a batch size).
It runs in this very Python, so start the script from an environment that has it:

    python3 -m venv env && env/bin/pip install tensorflow-cpu==2.18.1 cmsml==0.2.7 six pyyaml
    env/bin/python tests/benchmark/compile_time.py --tfaot build/release/bin/tfaot --config aot_config.yaml

Both make the same batch sizes for the one CPU level the usual route makes (x86-64); a line for ours at all default
levels follows. Ours without its cache of code. Repeats alternate; the medians and their ratios are printed.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import yaml

UPSTREAM = """
import sys
from cmsml.scripts.compile_tf_graph import compile_tf_graph
model, output, name, key, *sizes = sys.argv[1:]
compile_tf_graph(model_path=model, output_path=output, batch_sizes=list(map(int, sizes)), input_serving_key=key,
                 compile_prefix=name + "_bs{}", compile_class="tfaot_model::" + name + "_bs{}")
"""


def timed(command, environment=None):
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stdout}\n{done.stderr}")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tfaot", required=True, type=pathlib.Path)
    parser.add_argument("--config", required=True, type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()

    config = yaml.safe_load(arguments.config.read_text())
    model, compilation = config["model"], config["compilation"]
    source = arguments.config.parent / (model.get("saved_model") or "saved_model")
    sizes = [str(size) for size in compilation["batch_sizes"]]
    # saved_model_cli lies beside this Python.
    environment = dict(os.environ, PATH=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
                       TF_CPP_MIN_LOG_LEVEL="3")
    seconds = {"usual route": [], "tfaot, x86-64": [], "tfaot, default levels": []}
    for _ in range(arguments.repeats):
        scratch = pathlib.Path(tempfile.mkdtemp())
        seconds["usual route"].append(timed(
            [sys.executable, "-c", UPSTREAM, str(source), str(scratch / "usual"), model["name"],
             model.get("serving_key") or "serving_default", *sizes], environment))
        ours = [str(arguments.tfaot), "compile", "-c", str(arguments.config), "--no-cache", "--quiet", "-o"]
        seconds["tfaot, x86-64"].append(timed([*ours, str(scratch / "one"), "--cpu-levels", "x86-64"]))
        seconds["tfaot, default levels"].append(timed([*ours, str(scratch / "all")]))
        objects = len(list((scratch / "usual" / "aot").glob("*_bs*.o")))
        assert objects >= len(sizes), f"the usual route made {objects} objects"
        shutil.rmtree(scratch)
    usual = statistics.median(seconds["usual route"])
    print(f"{arguments.config}: batch sizes {', '.join(sizes)}, {arguments.repeats} repeats, medians")
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"{name:24} {median:7.2f} s   1/{usual / median:.1f} of the usual route")


if __name__ == "__main__":
    main()
