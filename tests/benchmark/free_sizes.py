#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""free_sizes.py MODEL --dimension NAME=SMALLEST..LARGEST --sizes SIZE...: a package for all sizes beside those of one size.

    python3 -m venv env && env/bin/pip install numpy onnx
    env/bin/python tests/benchmark/free_sizes.py --tfaot build/release/bin/tfaot transformer interaction track_finder
    env/bin/python tests/benchmark/free_sizes.py --tfaot build/release/bin/tfaot particle_net.onnx \\
        --dimension n_pf=16..128 n_sv=1..10 --sizes 16,1 23,2 32,3 64,5 128,10

MODEL is an ONNX file, or the name of one of the nets below, which come with dimensions and sizes. Each point has a size for
each range, in their order; NAME=OTHER gives a dimension the sizes of another one. The model is compiled once for the ranges and
once for each point, for a batch of one row. Both packages get the same random inputs; their outputs are compared to the bit.
They take turns in many short rounds; the time is the mean of the best fifth of them, in processor time, as a machine may be
busy. --keep FOLDER keeps the packages, and takes those that are there.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

CALLS = """
#include HEADER
#include <ctime>
#include <tfaot/runtime/detail/batch_runner.h>
static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * time.tv_sec + time.tv_nsec;
}
// Nanoseconds a call.
extern "C" double run(const std::int64_t* sizes, const void** inputs, void** outputs, int calls) {
  static tfaot::BatchRunner model(MODEL::description());
  const double start = now();
  for (int i = 0; i < calls; ++i) {
    if (sizes != nullptr) model.set_sizes(sizes);
    model.run(1, inputs, outputs);
  }
  return (now() - start) / calls;
}
extern "C" long long scratch() { return tfaot::Instance(MODEL::description()).scratch_bytes(); }
"""

GRID = (8, 11, 16, 23, 32, 48, 54, 64, 96, 128)
EDGES = "s = Shape(x) a0 = Constant<value_ints=[0]>() a1 = Constant<value_ints=[1]>() a2 = Constant<value_ints=[2]>() " \
    "a3 = Constant<value_ints=[3]>() n = Slice(s, a1, a2) "
# Dimensions, sizes, shapes of weights, inputs and outputs, and the operations.
NETS = {
    "transformer": ("n=1..128", GRID, {"we": (8, 32), "pos": (128, 32), "wq": (32, 32), "wk": (32, 32), "wv": (32, 32),
                                       "wo": (32, 32), "g": (32,), "b": (32,), "w1": (32, 64), "w2": (64, 32), "w3": (32, 5)}, """
        (float[batch,n,8] x) => (float[batch,5] y) { """ + EDGES + """
        e0 = MatMul(x, we) p = Slice(pos, a0, n, a0) e = Add(e0, p)
        q = MatMul(e, wq) k = MatMul(e, wk) v = MatMul(e, wv) heads = Constant<value_ints=[0,0,4,8]>()
        q1 = Reshape(q, heads) k1 = Reshape(k, heads) v1 = Reshape(v, heads)
        q2 = Transpose<perm=[0,2,1,3]>(q1) k2 = Transpose<perm=[0,2,3,1]>(k1) v2 = Transpose<perm=[0,2,1,3]>(v1)
        c = Constant<value_float=0.35355338>() qk = MatMul(q2, k2) qkc = Mul(qk, c) at = Softmax(qkc) o = MatMul(at, v2)
        o1 = Transpose<perm=[0,2,1,3]>(o) merge = Constant<value_ints=[0,0,32]>() o2 = Reshape(o1, merge) o3 = MatMul(o2, wo)
        r = Add(e, o3) l = LayerNormalization<axis=-1>(r, g, b) h = MatMul(l, w1) h1 = Relu(h) h2 = MatMul(h1, w2) r2 = Add(l, h2)
        m = ReduceMax<axes=[1], keepdims=0>(r2) y = MatMul(m, w3) }"""),
    "interaction": ("n=5..60", (8, 11, 16, 23, 32, 48, 54, 60), {"w1": (10, 32), "b1": (32,), "w2": (32, 16), "w3": (21, 24),
                                                                 "w4": (24, 2)}, """
        (float[batch,n,5] x) => (float[batch,2] y) { """ + EDGES + """
        xi = Unsqueeze(x, a2) xj = Unsqueeze(x, a1) batch = Slice(s, a0, a1) five = Constant<value_ints=[5]>()
        all = Concat<axis=0>(batch, n, n, five) ei = Expand(xi, all) ej = Expand(xj, all) e = Concat<axis=3>(ei, ej)
        h = MatMul(e, w1) h1 = Add(h, b1) h2 = Relu(h1) m = MatMul(h2, w2) m1 = Relu(m) sum = ReduceSum<keepdims=0>(m1, a2)
        c = Concat<axis=2>(x, sum) u = MatMul(c, w3) u1 = Relu(u) g = ReduceSum<keepdims=0>(u1, a1) y = MatMul(g, w4) }"""),
    "track_finder": ("n=1..128", GRID, {"w0": (6, 32), "w1": (32, 32), "w2": (64, 16), "w3": (16, 3)}, """
        (float[batch,n,6] x) => (float[batch,n,16] y, float[batch,3] z) { """ + EDGES + """
        h0 = MatMul(x, w0) h = Relu(h0) ht = Transpose<perm=[0,2,1]>(h) d = MatMul(h, ht)
        most = Constant<value_ints=[54]>() K = Min(n, most) v, i = TopK<axis=2>(d, K) sm = Softmax(v) hh = MatMul(h, w1)
        i1 = Unsqueeze(i, a3) near = GatherND<batch_dims=1>(hh, i1) w = Unsqueeze(sm, a2) m = MatMul(w, near) m1 = Squeeze(m, a2)
        c = Concat<axis=2>(h, m1) y = MatMul(c, w2) p = ReduceMax<axes=[1], keepdims=0>(y) z = MatMul(p, w3) }"""),
    "nearest": ("n=1..128", GRID, {}, """
        (float[batch,n,3] x) => (float[batch,K,1] y, int64[batch,n,K] i) { """ + EDGES + """
        xt = Transpose<perm=[0,2,1]>(x) d = MatMul(x, xt) most = Constant<value_ints=[54]>() K = Min(n, most)
        v, i = TopK<axis=2>(d, K) m = ReduceMean<axes=[1], keepdims=0>(v) m1 = Unsqueeze(m, a2) y = Tanh(m1) }"""),
}
DTYPES = {"float32": np.float32, "float64": np.float64, "int64": np.int64, "int32": np.int32, "bool": np.bool_}


def made_net(name, folder):
    import onnx  # pylint: disable=import-outside-toplevel

    random = np.random.default_rng(0)
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> ' + name + " " + NETS[name][3])
    for weight, shape in NETS[name][2].items():
        values = random.normal(size=shape) / math.sqrt(shape[0])
        model.graph.initializer.append(onnx.numpy_helper.from_array(values.astype(np.float32), weight))
    file = folder / f"{name}.onnx"
    onnx.save(model, file)
    return file


def processor_seconds():
    """Of all commands so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Package:
    """A compiled model that can be called, for a grid point or for all of them."""

    def __init__(self, arguments, model, folder, dimensions):
        self.seconds = None
        if not folder.exists():
            command = [arguments.tfaot, "compile", model, "--batch-sizes", "1", "--cpu-levels",
                       ",".join(arguments.cpu_levels), "--no-cache", "-q", "-o", folder]
            for dimension in dimensions:
                command += ["--dimension", dimension]
            start = processor_seconds()
            subprocess.run(command, check=True)
            self.seconds = processor_seconds() - start
        self.manifest = json.loads((folder / "manifest.json").read_text())
        source, library = folder / "calls.cc", folder / "calls.so"
        source.write_text(CALLS)
        self.objects = list((folder / "lib").glob("*.o"))
        subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-fno-gnu-unique", f"-I{folder}/include",
                        f"-I{folder}/runtime/include", f"-DHEADER=\"{self.manifest['tool_name']}/model.h\"",
                        f"-DMODEL={self.manifest['cpp_class']}", source, *self.objects,
                        folder / "runtime/lib/libtfaot_runtime.a", "-Wl,-Bsymbolic", "-o", library], check=True)
        self.calls = ctypes.CDLL(str(library))
        self.calls.run.restype = ctypes.c_double
        self.calls.scratch.restype = ctypes.c_longlong

    def text_bytes(self):
        """Code and constants, without weights."""
        objects = [file for file in self.objects if not file.stem.endswith("_weights")]
        lines = subprocess.run(["size", *objects], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
        return sum(int(line.split()[0]) for line in lines)

    def caller(self, sizes, inputs, outputs):
        def pointers(arrays):
            return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])

        given = (ctypes.c_int64 * len(sizes))(*sizes) if sizes else None
        held = given, pointers(inputs), pointers(outputs)
        return lambda calls: self.calls.run(*held, calls)


def best_fifth(times):
    count = max(1, len(times) // 5)
    return sum(sorted(times)[:count]) / count


def compare(free, fixed, point, own_sizes, rounds):
    """Times of both, and whether their bits are the same."""
    random = np.random.default_rng(7)
    inputs = []
    for tensor in fixed.manifest["signature"]["inputs"]:
        shape = tensor["row_shape"]
        values = np.ones(shape) if "mask" in tensor["name"] else random.normal(size=shape)
        inputs.append(np.ascontiguousarray(values, DTYPES[tensor["dtype"]]))
    made, calls = [], []
    for package, sizes in ((fixed, None), (free, own_sizes)):
        made.append([np.zeros(tensor["row_shape"], DTYPES[tensor["dtype"]])
                     for tensor in fixed.manifest["signature"]["outputs"]])
        calls.append(package.caller(sizes, inputs, made[-1]))
    same = all(one.tobytes() == other.tobytes() for one, other in zip(*made) if [call(1) for call in calls])
    count = max(2, int(3e6 / calls[0](3)))
    times = [[], []]
    for turn in range(rounds):
        for which in ((0, 1), (1, 0))[turn % 2]:
            times[which].append(calls[which](count))
    fixed_ns, free_ns = map(best_fifth, times)
    print(f"{point:>14} {fixed_ns / 1e3:10.2f} us {free_ns / 1e3:10.2f} us  {free_ns / fixed_ns:6.3f}"
          f"  {'the same bits' if same else 'other bits'}", flush=True)
    return free_ns / fixed_ns


def measure(arguments, name, folder):
    model, dimensions, points = pathlib.Path(name), arguments.dimension, arguments.sizes
    if name in NETS:
        model, dimensions = made_net(name, folder), [NETS[name][0]]
        points = points or [str(size) for size in NETS[name][1]]
    sizes_of = dict(dimension.split("=") for dimension in dimensions)
    own = [dimension for dimension, size in sizes_of.items() if ".." in size]
    free = Package(arguments, model, folder / f"{model.stem}_free", dimensions)
    order = [dimension["name"] for dimension in free.manifest["dimensions"] if not dimension["same_as"]]
    ratios, seconds = [], []
    print(f"{model.stem}, {', '.join(dimensions)}: one size, all sizes, ratio")
    for point in points:
        sizes = dict(zip(own, map(int, point.split(","))))
        fixed = Package(arguments, model, folder / f"{model.stem}_{point}",
                        [f"{dimension}={sizes.get(dimension, sizes.get(size))}" for dimension, size in sizes_of.items()])
        seconds.append(fixed.seconds)
        ratios.append(compare(free, fixed, point, [sizes[dimension] for dimension in order], arguments.rounds))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"  geometric mean {mean:.3f}, worst {max(ratios):.3f}; objects {free.text_bytes() / 1e3:.0f} kB for"
          f" {', '.join(arguments.cpu_levels)} (one size: {fixed.text_bytes() / 1e3:.0f} kB);"
          f" scratch memory {free.calls.scratch() / 1e3:.0f} kB (last size: {fixed.calls.scratch() / 1e3:.0f} kB)")
    if free.seconds and seconds[-1]:
        print(f"  compiled in {free.seconds:.1f} s (last size: {seconds[-1]:.1f} s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--tfaot", required=True)
    parser.add_argument("--dimension", nargs="+", action="extend", default=[])
    parser.add_argument("--sizes", nargs="+", default=[])
    parser.add_argument("--cpu-levels", nargs="+", default=["x86-64-v3"])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {arguments.core})
    folder = arguments.keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.models:
        measure(arguments, name, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
