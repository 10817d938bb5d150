#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""falling_spectrum.py MODEL.onnx --dimension NAME=SMALLEST..LARGEST:MEAN...: rows of different sizes beside other runtimes.

    python3 -m venv env && env/bin/pip install numpy onnxruntime==1.31.1 openvino==2026.4.1
    PYTHONPATH=$(tfaot setup --python-path) env/bin/python tests/benchmark/falling_spectrum.py particle_net.onnx \\
        --dimension n_pf=16..128:45 n_sv=1..10:3

Each of the rows (1,000 jets) has sizes of its own, which fall exponentially from the smallest one with this mean and end
at the largest; NAME=OTHER gives a dimension the sizes of another one. The model is compiled once for the ranges
(tfaot.compile). ONNX Runtime and OpenVINO read the file as it is, with dynamic shapes, and get a row a call: rows of
different sizes have no common array. Ours runs row by row too, and as one ragged call. All is called from Python, on one
core with one thread, and all results are compared with ONNX Runtime's. The rows come in blocks; the engines take turns
at each block, in an order that turns by one, so that a disturbance affects all alike. A first pass is not timed:
OpenVINO makes its kernels for new shapes then, and may keep all of them.
"""
import argparse
import os
import statistics
import sys
import time

import numpy as np
import tfaot

BLOCK = 50  # rows


def dimension(text):
    name, _, size = text.rpartition("=")
    if ".." not in size:
        return name, size
    sizes, _, mean = size.partition(":")
    smallest, largest = map(int, sizes.split(".."))
    return name, (smallest, largest, float(mean or (3 * smallest + largest) / 4))


def spectrum(random, rows, smallest, largest, mean):
    """Whole sizes whose mean, with what lies beyond the largest drawn again, is the wanted one."""
    scale, sizes = mean - smallest, None
    for _ in range(20):
        fractions = random.uniform(size=rows) if sizes is None else fractions  # the same ones for each scale
        beyond = np.exp(-(largest + 1 - smallest) / scale)
        sizes = smallest + np.floor(-scale * np.log(1 - fractions * (1 - beyond))).astype(int)
        scale *= (mean - smallest) / max(sizes.mean() - smallest, 0.1)
    return np.clip(sizes, smallest, largest)


def rows_of(model, sizes, random):
    """For each row, its inputs by name, with a first dimension of 1."""
    made = []
    for row in range(len(next(iter(sizes.values())))):
        inputs = {}
        for tensor in model.inputs:
            shape = [1] + [int(sizes[d][row]) if d in sizes else d for d in tensor.free_shape]
            values = np.ones(shape) if "mask" in tensor.name else random.normal(size=shape)
            inputs[tensor.name] = values.astype(tensor.dtype)
        made.append(inputs)
    return made


def one_by_one(call):
    return lambda rows: [call(row) for row in rows]


def of_tfaot(model):
    name = model.outputs[0].name

    def ragged(rows):
        lists = {tensor.name: [row[tensor.name][0] for row in rows] for tensor in model.inputs}
        return list(model.run(lists)[name])

    return {"tfaot, ragged": ragged, "tfaot": one_by_one(lambda row: model.run(row)[name][0])}


def of_onnxruntime(file, output):
    import onnxruntime  # pylint: disable=import-outside-toplevel

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return {"ONNX Runtime": one_by_one(lambda row: session.run([output], row)[0][0])}


def of_openvino(file, output):
    import openvino  # pylint: disable=import-outside-toplevel

    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
                "CPU_RUNTIME_CACHE_CAPACITY": 1_000_000}
    request = openvino.Core().compile_model(file, "CPU", settings).create_infer_request()

    def call(row):
        return request.infer(row, share_inputs=True)[output][0].copy()

    return {"OpenVINO": one_by_one(call)}


def differences(results, expected):
    """Of each row, as a share of its largest number."""
    return [np.abs(one - other).max() / np.abs(other).max() for one, other in zip(results, expected)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--dimension", type=dimension, nargs="+", action="extend", required=True)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu-clock", action="store_true", help="processor time, for a machine that is busy")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    given = dict(arguments.dimension)
    ranges = {name: size for name, size in given.items() if not isinstance(size, str)}

    model = tfaot.Model(tfaot.compile(arguments.model, dimensions={
        name: size if isinstance(size, str) else size[:2] for name, size in given.items()}))
    random = np.random.default_rng(1)
    sizes = {name: spectrum(random, arguments.rows, *size) for name, size in ranges.items()}
    rows = rows_of(model, sizes, random)
    for name, drawn in sizes.items():
        print(f"{name}: {drawn.min()} to {drawn.max()}, mean {drawn.mean():.1f}, median {np.median(drawn):.0f}")

    os.sched_setaffinity(0, {arguments.core})  # before the peers start their threads
    output = model.outputs[0].name
    engines = {**of_tfaot(model), **of_onnxruntime(arguments.model, output), **of_openvino(arguments.model, output)}
    expected = engines["ONNX Runtime"](rows)
    for name, run in engines.items():
        apart = differences(run(rows), expected)
        print(f"{name}: differs from ONNX Runtime by {max(apart):.1e} of a row's largest number, {np.median(apart):.1e} in the median")

    clock = time.process_time if arguments.cpu_clock else time.perf_counter
    blocks = [rows[first:first + BLOCK] for first in range(0, len(rows), BLOCK)]
    names, rounds = list(engines), []
    for turn in range(arguments.rounds):
        times = dict.fromkeys(names, 0.0)
        for number, block in enumerate(blocks):
            shift = (turn + number) % len(names)
            for name in names[shift:] + names[:shift]:
                start = clock()
                engines[name](block)
                times[name] += clock() - start
        rounds.append(times)
    for name in names:
        each = [1e6 * times[name] / len(rows) for times in rounds]
        ratios = [times[name] / times["tfaot, ragged"] for times in rounds]
        print(f"{name:14}{statistics.median(each):9.1f} us a row, {statistics.median(ratios):.2f} of the ragged call"
              f" ({min(ratios):.2f} to {max(ratios):.2f} in {len(rounds)} rounds)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
