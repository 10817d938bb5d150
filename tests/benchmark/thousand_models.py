#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""thousand_models.py PREFIX [--counts N ...] [--jobs N] [--engine FILE] [--only release|cmake]

What many small models take: `tfaot release`, and a CMake build of one library for each. All of them
with an empty code cache, then nothing changed, then one changed. PREFIX: an installed tfaot. Each
model is examples/minimal under another name, compiled for one batch size of its own, so that no two
share code.

For each step: seconds on the clock and on the CPUs, each also for one model, and the peak memory of
tfaot (release), cmake and ninja themselves. A figure for one model that grows with the number of
models is a defect. --engine names a stand-in such as build/release/tests/cli/tfaot_fake_engine: what is
left is what tfaot, CMake, ninja and rpmbuild do themselves. Prints a table in Markdown; CPU seconds
depend less on other work of the machine than those of the clock.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/minimal"
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(many LANGUAGES CXX)
find_package(tfaot REQUIRED)
"""


def write_models(folder, count):
    """The configs of the models, and a CMake project of them."""
    project = CMAKE
    for number in range(1, count + 1):
        name = f"model_{number:04}"
        model = folder / "models" / name
        model.mkdir(parents=True)
        shutil.copytree(EXAMPLE / "saved_model", model / "saved_model")
        write_config(model, number, "1.0.0")
        project += f'tfaot_add_model({name} CONFIG "models/{name}/aot_config.yaml")\n'
    (folder / "CMakeLists.txt").write_text(project)
    return sorted((folder / "models").glob("*/aot_config.yaml"))


def write_config(model, number, version):
    (model / "aot_config.yaml").write_text(
        f'model: {{name: {model.name}, version: "{version}", saved_model: ./saved_model}}\n'
        f"compilation: {{batch_sizes: [{number}], cpu_levels: [x86-64-v3]}}\n"
    )


class Peak(threading.Thread):
    """The largest memory of a process itself, in MB, while it runs."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path = f"/proc/{pid}/status"
        self.megabytes = 0.0
        self.start()

    def run(self):
        while True:
            try:
                with open(self.path, encoding="utf-8") as status:
                    peaks = [line for line in status if line.startswith("VmHWM:")]
            except OSError:
                return
            if not peaks:  # it has ended
                return
            self.megabytes = int(peaks[0].split()[1]) / 1000
            time.sleep(0.005)


def measure(command, folder, environment):
    """Runs it; (seconds, CPU seconds with all children, MB)."""
    log = folder / "log"
    with log.open("w", encoding="utf-8") as output:
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
        peak = Peak(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    peak.join()
    if process.returncode != 0:
        raise SystemExit(f"{command} failed:\n{log.read_text(errors='replace')[-3000:]}")
    return seconds, usage.ru_utime + usage.ru_stime, peak.megabytes


def release_steps(tool, configs, jobs):
    command = [tool, "release", *map(str, configs), "-o", "out", "-j", str(jobs)]
    yield "release: all", command
    yield "release: unchanged", command
    change_one(configs)
    yield "release: one changed", command


def cmake_steps(prefix, configs, jobs):
    configure = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    build = ["ninja", "-C", "build", "-j", str(jobs)]
    yield "CMake: configure", configure
    yield "ninja: all", build
    yield "ninja: unchanged", build
    # Of what a model holds, its weights: its config is read when CMake runs, which "again" shows.
    variables = configs[len(configs) // 2].parent / "saved_model/variables/variables.index"
    os.utime(variables)
    yield "ninja: a model touched", build
    yield "CMake: configure again", configure
    change_one(configs)
    yield "ninja: a config changed", build


def change_one(configs):
    model = configs[len(configs) // 2].parent
    write_config(model, int(model.name.split("_")[1]), f"2.{time.monotonic_ns()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("--counts", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--engine", type=pathlib.Path)
    parser.add_argument("--only", choices=["release", "cmake"])
    options = parser.parse_args()
    prefix = options.prefix.resolve()
    print("| models | step | clock s | CPU s | CPU ms for a model | peak MB |\n|---|---|---|---|---|---|", flush=True)
    for count in options.counts:
        with tempfile.TemporaryDirectory(prefix="tfaot-many-") as work:
            folder = pathlib.Path(work)
            configs = write_models(folder, count)
            environment = {**os.environ, "TFAOT_CACHE": f"{work}/cache", "TFAOT_REMOTE_CACHE": ""}
            if options.engine:
                environment["TFAOT_ENGINE"] = str(options.engine.resolve())
            steps = []
            if options.only != "cmake":
                steps.append(release_steps(str(prefix / "bin/tfaot"), configs, options.jobs))
            if options.only != "release":
                steps.append(cmake_steps(prefix, configs, options.jobs))
            for group in steps:
                shutil.rmtree(folder / "cache", ignore_errors=True)
                for step, command in group:
                    seconds, cpu, megabytes = measure(command, folder, environment)
                    print(
                        f"| {count} | {step} | {seconds:.2f} | {cpu:.2f} | {1000 * cpu / count:.1f} | {megabytes:.0f} |",
                        flush=True,
                    )
    with open("/proc/loadavg", encoding="utf-8") as load:
        print(f"\nload at the end: {load.read().split()[0]}")


if __name__ == "__main__":
    main()
