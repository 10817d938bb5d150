#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures all engines over the nets of a folder; packaging/bench.sh sets all of it up and calls this.

Writes into --out: results.json (the list), measurements.json (every round, from which --again makes the rest again; written after
each net, so that --resume goes on there), benchmarks.md and benchmarks.svg, and the runners' words in runners.log.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

import measure
import plot
import report
import sizes
from engines import ALL_OURS, OURS, Engine, Net, engines_of, ours_by_kind, peers_of
from runner import RunnerError

BATCHES = (1, 2, 3, 5, 8, 16, 32, 64, 100, 128, 256, 1000)
QUICK_BATCHES = (1, 16, 100)
KIND_BATCHES = (1, 64)  # of other kinds of inputs
QUICK_NETS = ("dense_10x128", "cnn", "transformer", "lstm", "unet", "particlenet")
FULL = measure.Effort(rounds=21, round_us=10000, seconds=25)
QUICK = measure.Effort(rounds=9, round_us=4000, seconds=6)


def parse_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--again", action="store_true", help="measure nothing: read OUT/measurements.json")
    parser.add_argument("--resume", action="store_true", help="keep the nets of OUT/measurements.json, measure the others")
    parser.add_argument("--programs", type=pathlib.Path, help="folder of the runners and fma_peak")
    parser.add_argument("--nets", type=pathlib.Path, help="folder made by make_nets.py")
    parser.add_argument("--peers", type=pathlib.Path, help="folder of the unpacked wheels")
    parser.add_argument("--tensorflow", type=pathlib.Path, help="root of TensorFlow's wheel")
    parser.add_argument("--tfaot", type=pathlib.Path, help="the tool, whose compile time is taken")
    parser.add_argument("--only", nargs="*", metavar="NET", help="these nets")
    parser.add_argument("--without", nargs="*", default=[], metavar="ENGINE", help="leave these engines out")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="core of the runners (default: the last)")
    parser.add_argument("--cpu-clock", action="store_true", help="times of the processor, for a machine that is busy otherwise")
    parser.add_argument("--quick", action="store_true", help="few nets, batch sizes and rounds")
    return parser.parse_args(words)


def load_nets(folder, only):
    nets = []
    for description in sorted(folder.glob("*/net.json")):
        net = Net(folder=description.parent, **json.loads(description.read_text()))
        if not only or net.name in only:
            nets.append(net)
    return nets


def versions_of(peers):
    """{distribution: version} of the unpacked wheels."""
    return dict(re.match(r"(.*)-([^-]+)\.dist-info", folder.name.replace("_", "-")).groups() for folder in peers.glob("*.dist-info"))


def cpu_of(cpuinfo):
    """Its name, and its family and model, as some names say little; "" if the text of /proc/cpuinfo has none."""
    found = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", cpuinfo, re.MULTILINE))
    if "model name" not in found:
        return ""
    return f"{found['model name']} (family {found.get('cpu family', '?')}, model {found.get('model', '?')})"


def machine_of(arguments, effort):
    cpu = cpu_of(pathlib.Path("/proc/cpuinfo").read_text())
    commit = subprocess.run(["git", "-C", pathlib.Path(__file__).parent, "describe", "--always", "--dirty"], capture_output=True, text=True)
    peak = subprocess.run(["taskset", "-c", str(arguments.core), arguments.programs / "fma_peak"], capture_output=True, text=True, check=True)
    return {
        "cpu": cpu or platform.machine(), "cores": os.cpu_count(), "system": f"Linux {platform.release().split('-')[0]}",
        "peak_gflops": float(peak.stdout), "commit": commit.stdout.strip() or "unknown", "date": f"{datetime.date.today()}",
        "versions": versions_of(arguments.peers), "rounds": effort.rounds, "round_ms": effort.round_us // 1000, "quick": arguments.quick,
        "clock": "cpu_us" if arguments.cpu_clock else "us", "without": sorted(arguments.without),
    }


def read_microseconds(arguments, nets):
    """{net: what reading its weights once takes on the runners' core}."""
    command = ["taskset", "-c", str(arguments.core), arguments.programs / "read_roof", *(str(net.weight_bytes) for net in nets)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {net.name: float(line) for net, line in zip(nets, lines)}


def compile_seconds(engine, net, tool):
    if engine.name == "usual_aot":
        return float((net.folder / "usual_aot" / "seconds").read_text())
    if engine.name != OURS:
        return None
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFAOT_CACHE": folder + "/cache"}  # nothing compiled before counts
        start = time.perf_counter()
        subprocess.run([tool, "compile", "-c", net.folder / "aot_config.yaml", "-o", folder + "/package", "--quiet"], check=True,
                       env=environment)
        return time.perf_counter() - start


def footprints_of(net, engines, empty, starts, arguments, log):
    """Returns (records, failures)."""
    records, failures = [], []
    nothing = Engine("none", "", [str(empty), *engines[0].command[1:]])
    for engine in [nothing, *(engine for engine in engines if engine.is_resident)]:
        print(f"{net.name}: memory and load time of {engine.title or 'an empty runner'}", flush=True)
        try:
            records.append({
                "net": net.name, "engine": engine.name, **measure.footprint_of(engine, starts, 64, arguments.core, log),
                "shipped_bytes": sizes.shipped_bytes(engine, empty), "compile_seconds": compile_seconds(engine, net, arguments.tfaot)})
        except RunnerError as error:
            if engine.name in ("none", *ALL_OURS):
                raise
            failures.append(measure.failure_of(net, engine, None, error))
    return records, failures


def wanted_engines(net, arguments, peers):
    return [engine for engine in engines_of(net, arguments.programs, peers) if engine.name not in arguments.without]


def measure_one(net, effort, measurements, peers, arguments, log):
    """Adds a net to the measurements."""
    batches = [batch for batch in (QUICK_BATCHES if arguments.quick else BATCHES) if batch <= net.rows]
    engines = wanted_engines(net, arguments, peers)
    measurements["engines"].update((engine.name, engine.title) for engine in engines)
    read_us = read_microseconds(arguments, [net])[net.name]
    footprints, failures = footprints_of(net, engines, arguments.programs / "runner_none", 1 if arguments.quick else 3, arguments, log)
    failed = {failure["engine"] for failure in failures}
    engines = [engine for engine in engines if engine.name not in failed]
    samples = []
    for batch, of_batch, failures_of_batch in measure.measure_net(net, engines, batches, effort, arguments.core, log):
        samples += of_batch
        failures += failures_of_batch
        row = report.results_of({**measurements, "nets": {net.name: vars(net)}, "samples": of_batch})
        print(f"{net.name}, batch {batch}: " + ", ".join(f"{r['engine']} {report.short(r['us_per_call'])} us" for r in row), flush=True)
    for failure in failures:
        print(f"{net.name}: {failure['engine']} is left out: {failure['reason']}", flush=True)
    measurements["nets"][net.name] = {"flops_per_row": net.flops_per_row, "dense": net.dense, "weight_bytes": net.weight_bytes,
                                      "read_us": min(read_us, read_microseconds(arguments, [net])[net.name])}
    measurements["samples"] += samples
    if net.kinds:
        measurements["kinds"] += measure.measure_kinds(net, ours_by_kind(net, arguments.programs), KIND_BATCHES, effort, arguments.core, log)
    measurements["footprints"] += footprints
    measurements["failures"] += failures


def resumed(kept, machine):
    """The measurements of the file `kept`, if a run with the same settings wrote them; else an error that says what differs."""
    measurements = json.loads(kept.read_text())
    for key in ("cpu", "commit", "versions", "rounds", "round_ms", "quick", "without", "compiled_sizes"):
        if measurements["machine"][key] != machine[key]:
            sys.exit(f"bench.py: {kept} was measured with another '{key}' ({measurements['machine'][key]}, now {machine[key]}); "
                     "leave --resume out")
    return measurements


def measure_all(arguments, kept, log):
    effort = QUICK if arguments.quick else FULL
    nets = load_nets(arguments.nets, arguments.only or (QUICK_NETS if arguments.quick else ()))
    if not nets:
        sys.exit(f"bench.py: no such nets in {arguments.nets}")
    peers = peers_of(arguments.peers, arguments.tensorflow)
    machine = machine_of(arguments, effort)
    first, *_ = load_nets(arguments.nets, ())  # whatever --only says, so that --resume finds the same
    config = (first.folder / "aot_config.yaml").read_text()
    machine["compiled_sizes"] = json.loads(re.search(r"batch_sizes: (\[.*\])", config).group(1))
    measurements = {"machine": machine, "nets": {}, "engines": {}, "samples": [], "kinds": [], "footprints": [], "failures": []}
    if arguments.resume and kept.exists():
        measurements = resumed(kept, machine)
    for net in nets:
        if net.name not in measurements["nets"]:
            measure_one(net, effort, measurements, peers, arguments, log)
            peak = machine_of(arguments, effort)["peak_gflops"]
            measurements["machine"]["peak_gflops"] = max(peak, measurements["machine"]["peak_gflops"])
            write_aside(kept, json.dumps(measurements, indent=1) + "\n")
    return measurements


def write_aside(path, text):
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text)
    unfinished.rename(path)


def main(words):
    arguments = parse_arguments(words)
    kept = arguments.out / "measurements.json"
    if arguments.again:
        measurements = json.loads(kept.read_text())
        measurements["machine"]["clock"] = "cpu_us" if arguments.cpu_clock else "us"
    else:
        others = os.sched_getaffinity(0) - {arguments.core}
        os.sched_setaffinity(0, others or {arguments.core})  # the runners' core is theirs alone
        arguments.out.mkdir(parents=True, exist_ok=True)
        try:
            with open(arguments.out / "runners.log", "w") as log:
                measurements = measure_all(arguments, kept, log)
        except (RunnerError, measure.WrongOutput) as error:
            sys.exit(f"bench.py: {error}")
    results = report.results_of(measurements)
    lines = ",\n".join(json.dumps(result) for result in results)
    (arguments.out / "results.json").write_text(f"[\n{lines}\n]\n")
    (arguments.out / "benchmarks.md").write_text(report.markdown(measurements))
    (arguments.out / "benchmarks.svg").write_text(plot.svg(results, measurements["engines"]))
    print("\n" + report.summary(results, measurements["engines"]))


if __name__ == "__main__":
    main(sys.argv[1:])
