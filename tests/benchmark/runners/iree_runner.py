#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""IREE as a runner (the words are in modules/runner/src/runner.h). Its wheel has programs but no library to link, so each request
starts one: iree-run-module to predict, iree-benchmark-module to time. It works in the calling thread (local-sync).

    iree_runner.py KEY=VALUE...     model: folder of bN.vmfb, by make_iree.py; programs: folder of IREE's programs;
                                    input, input_file, output, expected_file: of one input and one output
"""
import array
import json
import math
import pathlib
import subprocess
import sys
import tempfile

WARM_UP_SECONDS = 0.002  # in each new process, not counted


def floats_of(path, count):
    values = array.array("f")
    with open(path, "rb") as file:
        values.fromfile(file, count)
    return values


class Iree:
    def __init__(self, settings, folder):
        self.settings, self.folder = settings, pathlib.Path(folder)
        self.input_shape = settings["input"].split()[1].split(",")
        self.row_outputs = math.prod(map(int, settings["output"].split()[1].split(",")))
        self.rows = 0

    def _run(self, program, *options):
        model = pathlib.Path(self.settings["model"]) / f"b{self.rows}.vmfb"
        shape = "x".join([str(self.rows), *self.input_shape])
        ended = subprocess.run([f"{self.settings['programs']}/{program}", f"--module={model}", "--device=local-sync", "--function=net",
                                f"--input={shape}xf32=@{self.folder / 'input'}", *options], stdout=subprocess.PIPE, check=True)
        return ended.stdout

    def prepare(self, rows):
        self.rows = rows
        count = rows * math.prod(map(int, self.input_shape))
        (self.folder / "input").write_bytes(floats_of(self.settings["input_file"], count).tobytes())
        self._run("iree-run-module", f"--output=@{self.folder / 'output'}")
        found = floats_of(self.folder / "output", rows * self.row_outputs)
        expected = floats_of(self.settings["expected_file"], rows * self.row_outputs)
        worst = max(abs(a - b) for a, b in zip(found, expected))
        return f"ok {worst if all(map(math.isfinite, found)) else math.inf} {max(map(abs, expected))}"

    def time(self, calls):
        (found,) = json.loads(self._run("iree-benchmark-module", f"--benchmark_min_time={calls}x", "--benchmark_format=json",
                                        f"--benchmark_min_warmup_time={WARM_UP_SECONDS}"))["benchmarks"]
        nanoseconds = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[found["time_unit"]] * calls
        return f"{found['real_time'] * nanoseconds:.0f} {found['cpu_time'] * nanoseconds:.0f}"


def main(words):
    settings = dict(word.split("=", 1) for word in words)
    with tempfile.TemporaryDirectory() as folder:
        iree = Iree(settings, folder)
        iree.prepare(1)
        print("ready 0", flush=True)
        for line in sys.stdin:
            verb, number = line.split()
            print({"prepare": iree.prepare, "time": iree.time}[verb](int(number)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
