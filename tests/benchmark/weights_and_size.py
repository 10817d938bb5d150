#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What weights cost: compile time, peak memory and bytes of code for nets of one architecture and different widths.

    python3 -m venv env && env/bin/pip install tensorflow-cpu==2.18.1
    env/bin/python tests/benchmark/weights_and_size.py --tfaot build/release/bin/tfaot

Dense nets with the same operations: 1, 26, 104 and 416 MB of weights, batch size 16, one CPU level, without the code
cache. Repeats alternate, the smallest values are printed; the peak is that of the largest process, the engine. Then
the same nets at two batch sizes by two engine processes. Then the time of `tfaot update-weights`, and bytes of code of the 10x128 net for nine batch sizes and three levels beside the rule: at
most 1.2 MB.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

RULE = 1_200_000
LAYERS = 6
WIDTHS = (208, 1040, 2080, 4160)


def save_net(folder, name, layers, width, batch_sizes, seed=1):
    """layers x width, relu, and the config beside it; returns the config."""
    random = np.random.default_rng(seed)
    module = tf.Module()
    module.layers = [(tf.Variable((random.standard_normal((width, width)) / width**0.5).astype(np.float32)),
                      tf.Variable(random.standard_normal(width).astype(np.float32))) for _ in range(layers)]

    @tf.function(input_signature=[tf.TensorSpec([None, width], tf.float32, name="x")])
    def serve(x):
        for kernel, bias in module.layers:
            x = tf.nn.relu(x @ kernel + bias)
        return {"y": x}

    tf.saved_model.save(module, str(folder / name), signatures=serve)
    config = folder / f"{name}.yaml"
    config.write_text(f"model:\n  name: net\n  version: \"1\"\n  saved_model: ./{name}\n"
                      f"compilation:\n  batch_sizes: {batch_sizes}\n")
    return config


# A child of this Python counts this Python's memory as its own, up to the moment it becomes another program.
MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
sys.exit(status)
"""


def run(command):
    """Seconds of wall time, seconds of processor time, and megabytes of the largest process."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", MEASURE, *map(str, command)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"failed: {command}\n{done.stderr}")
    processor, peak = map(float, done.stdout.split())
    return time.perf_counter() - start, processor, peak


def code_bytes(tree):
    manifest = json.loads((tree / "manifest.json").read_text())
    code = sum(entry["size"] for entry in manifest["files"]
               if entry["path"].endswith(".o") and not entry["path"].endswith("_weights.o"))
    return code, manifest["weights"]["size"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tfaot", required=True, type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for sizes, jobs in ([16], 1), ([16, 64], 2):
            compile_ = [arguments.tfaot, "compile", "-q", "-j", jobs, "--no-cache", "-c"]
            nets = {width: save_net(folder, f"w{width}", LAYERS, width, sizes) for width in WIDTHS}
            runs = {width: [] for width in nets}
            for _ in range(arguments.repeats):
                for width, config in nets.items():
                    out = folder / f"out{width}"
                    shutil.rmtree(out, ignore_errors=True)
                    runs[width].append(run([*compile_, config, "-o", out, "--cpu-levels", "x86-64-v3"]))
            print(f"{LAYERS} dense layers, batch sizes {sizes}, {jobs} at a time, x86-64-v3, smallest of {arguments.repeats}")
            for width, results in runs.items():
                code, weights = code_bytes(folder / f"out{width}")
                clock, processor, peak = (min(r[i] for r in results) for i in range(3))
                print(f"  weights {weights / 1e6:6.1f} MB: compile {clock:5.2f} s, {processor:5.2f} s of the processor, "
                      f"peak {peak:6.0f} MB, code {code} bytes")

        compile_ = [arguments.tfaot, "compile", "-q", "--no-cache", "-c"]
        config = save_net(folder, "ten", 10, 128, [1, 2, 4, 8, 16, 32, 64, 128, 256])
        save_net(folder, "again", 10, 128, [1], seed=2)
        run([*compile_, config, "-o", folder / "ten_out"])
        code, weights = code_bytes(folder / "ten_out")
        print(f"10x128, 9 batch sizes, 3 levels: code {code} bytes, weights {weights} bytes; "
              f"the rule (code at most {RULE}) {'holds' if code <= RULE else 'is BROKEN'}")
        times = [run([arguments.tfaot, "update-weights", folder / "ten_out", "--model", folder / "again", "-o",
                      folder / "updated", "-q"])[0] for _ in range(arguments.repeats)]
        print(f"its update-weights: {statistics.median(times):.2f} s, smallest {min(times):.2f} s")


if __name__ == "__main__":
    main()
