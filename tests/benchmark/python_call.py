#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_call.py MODEL [--rows N] [--rounds N]: what a call from Python takes above the time of the code.

Compiles the model (tfaot.compile) and times one call in the same run: a loop in C over the code, each way of
calling it from Python, and ONNX Runtime, if this Python has it and the model is an ONNX file. Rounds alternate
between them, so that a disturbance affects all alike. Needs numpy, a C compiler (cc), and the folder of
`tfaot setup --python-path` in PYTHONPATH. Runs on one core; another load on it spoils the figures.
"""

import argparse
import collections
import ctypes
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import tfaot
from tfaot import _model
from tfaot._library import address, library

LOOP = """
#include <stdint.h>
#include <time.h>
typedef char* (*run_function)(void*, uint64_t, const int64_t*, const void* const*, void* const*);
double loop(run_function run, void* model, uint64_t rows, const void* const* from, void* const* to, long calls) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long i = 0; i < calls; ++i) run(model, rows, 0, from, to);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (1e9 * (end.tv_sec - start.tv_sec) + end.tv_nsec - start.tv_nsec) / calls;
}
"""
CALLS = 5000  # of a round


def loop_in_c(model, inputs):
    """Nanoseconds of a call of the code, as a function."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "loop.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", file], input=LOOP, text=True, check=True)
        loop = ctypes.CDLL(file).loop
    loop.restype = ctypes.c_double
    arrays = list(model(*inputs).values())
    pointers = [(ctypes.c_void_p * len(some))(*(one.ctypes.data for one in some)) for some in (inputs, arrays)]

    def measure():
        assert arrays  # they live as long as the pointers
        return loop(ctypes.c_void_p(address(library.tfaot_run)), ctypes.c_void_p(model._handle),
                    ctypes.c_uint64(len(inputs[0])), *pointers, ctypes.c_long(CALLS))

    return measure


def loop_in_python(call):
    def measure():
        start = time.perf_counter_ns()
        for _ in itertools.repeat(None, CALLS):
            call()
        return (time.perf_counter_ns() - start) / CALLS

    return measure


def session_of(file):
    try:
        import onnxruntime  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--rows", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    model = tfaot.Model(tfaot.compile(options.model, batch_sizes=[options.rows]))
    random = np.random.default_rng(1)
    inputs = [random.random((options.rows, *one.row_shape)).astype(one.dtype) for one in model.inputs]
    by_name = {one.name: array for one, array in zip(model.inputs, inputs)}
    out = model.run(by_name)
    kept = collections.deque(maxlen=64)
    code = "the code, in C"
    ways = {
        code: loop_in_c(model, inputs),
        "model(x)": loop_in_python(lambda: model(*inputs)),
        "model.run({...})": loop_in_python(lambda: model.run(by_name)),
        "model.run({...}), results kept": loop_in_python(lambda: kept.append(model.run(by_name))),
        "model.run({...}, out={...})": loop_in_python(lambda: model.run(by_name, out=out)),
        "without the fast call": loop_in_python(lambda: model._call(*inputs)),
    }
    session = session_of(options.model) if options.model.endswith(".onnx") else None
    if session:
        ways["onnxruntime: session.run(None, {...})"] = loop_in_python(lambda: session.run(None, by_name))
    times = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, measure in ways.items():
            times[name].append(measure())
    is_fast = _model.Caller.__module__ == "tfaot._fast"
    print(f"{model!r}, {options.rows} rows, {len(inputs)} inputs, {len(out)} outputs; Python "
          f"{sys.version.split()[0]}, numpy {np.__version__}, {'with' if is_fast else 'without'} the fast call")
    print(f"{'ns a call, of ' + str(options.rounds) + ' rounds':<40} {'least':>8} {'median':>8}   least above the code's")
    own = min(times[code])
    for name, found in times.items():
        above = "" if name == code else f"{min(found) - own:8.0f} ({(min(found) - own) / own:.1f} times the code)"
        print(f"{name:<40} {min(found):>8.0f} {statistics.median(found):>8.0f}   {above}".rstrip())


if __name__ == "__main__":
    main()
