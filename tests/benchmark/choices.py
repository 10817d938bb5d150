#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where does a tuned number (modules/engine/compiler/hlo/tuned.def) choose the slower of two ways on this machine?

    choices.py [--tfaot TFAOT] [--only NAME...] [--sizes N...] [--rounds N] [--json FILE]

Each number has a model of one size here, of numpy and onnx. At half the number, at it and at twice it, the model is
compiled as if the number were just so that the one way is chosen, and so that the other is (`tfaot-engine --tuned`), and
both are timed side by side by `tfaot profile`. A line says how much time the other way takes, next to the table's.
"""
import argparse
import json
import os
import re
import stat
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
import onnx.parser

SOURCE = Path(__file__).resolve().parents[2]
TABLE = SOURCE / "modules/engine/compiler/hlo/tuned.def"
ROWS = 16  # of the batch, where nothing else is said


class Net:
    """An ONNX model: lines of the text format, and weights by name."""

    def __init__(self, input_shape, lines, rows=ROWS, **weights):
        self.input_shape, self.lines, self.rows, self.weights = input_shape, lines, rows, weights

    def write(self, path):
        generator = numpy.random.default_rng(1)
        shape = ", ".join(["N", *map(str, self.input_shape)])
        text = (f'<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\n'
                f"net (float[{shape}] x) => (float y) {{ {' '.join(self.lines)} }}")
        model = onnx.parser.parse_model(text)
        for name, value in self.weights.items():
            if isinstance(value, tuple):
                value = (generator.standard_normal(value) / 4).astype(numpy.float32)
            model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.asarray(value), name))
        model = onnx.shape_inference.infer_shapes(model)
        onnx.save(model, path)


def dense(widths, function="Relu", rows=ROWS):
    weights = {f"w{i}": (a, b) for i, (a, b) in enumerate(zip(widths, widths[1:]))}
    lines = ["h0 = Identity (x)"]
    for i in range(len(weights)):
        lines += [f"p{i} = MatMul (h{i}, w{i})", f"h{i + 1} = {function} (p{i})"]
    return Net([widths[0]], [*lines, f"y = Identity (h{len(weights)})"], rows, **weights)


def convolution(size, channels, out_channels, rows=1):
    return Net([channels, size, size], ["y = Conv <pads = [1, 1, 1, 1]> (x, w)"], rows, w=(out_channels, channels, 3, 3))


def attention(rows, depth):
    lines = ["q = MatMul (x, a)", "k = MatMul (x, b)", "v = MatMul (x, c)", "t = Transpose <perm = [0, 2, 1]> (k)",
             "s = MatMul (q, t)", "p = Softmax <axis = -1> (s)", "y = MatMul (p, v)"]
    return Net([rows, depth], lines, 4, a=(depth, depth), b=(depth, depth), c=(depth, depth))


# A model whose size in the number's unit is n.
CASES = {
    "layouts_fewest_swapped_columns": lambda n: Net(
        [64, 24], ["p = MatMul (x, w)", "y = Transpose <perm = [0, 2, 1]> (p)"], w=(24, n)),
    "pool_fewest_channels": lambda n: Net([40, n], ["y = ReduceSum <keepdims = 0> (x, axes)"], axes=[1]),
    "winograd_fewest_tiles_of_four": lambda n: convolution(4 * round(n**0.5), 64, 64),
    "winograd_many_tiles": lambda n: convolution(4 * round(n**0.5), 96, 96),
    "winograd_most_cached_bytes_of_four": lambda n: convolution(12, round((n / 144)**0.5), round((n / 144)**0.5)),
    "winograd_most_bytes_of_four": lambda n: convolution(16, round((n / 144)**0.5), round((n / 144)**0.5)),
    "reductions_most_in_one_loop": lambda n: Net([n, 32], ["y = ReduceSum <keepdims = 0> (x, axes)"], axes=[1]),
    "short_sums_most_terms": lambda n: Net(
        [n, 64], ["a = Mul (x, w)", "y = ReduceSum <keepdims = 0> (a, axes)"], w=(n, 64), axes=[1]),
    "attention_fewest_rows_as_lanes": lambda n: attention(n, 16),
    "attention_most_depth_as_lanes": lambda n: attention(32, n),
    "attention_most_keys_as_lanes": lambda n: attention(n // 32, 16),
    "attention_fewest_rows_by_blocks": lambda n: attention(n, 64),
    "add_rows_fewest_elements": lambda n: Net(
        [n], ["g = Gather <axis = 1> (x, i)", "q = Reshape (x, s)", "y = Add (g, q)"], i=numpy.arange(n)[::-1].copy(),
        s=numpy.array([-1, n])),
    "resize_most_neighbours": lambda n: Net(
        [8, 16, 16], [f'y = Resize <mode = "linear", antialias = 0> (x, , s)'], 1,
        s=numpy.array([1, 1, 2, 2], numpy.float32)),
    "recurrent_fewest_rows_to_multiply": lambda n: Net(
        [20, 16], ["t = Transpose <perm = [1, 0, 2]> (x)", "a, h = GRU <hidden_size = 24> (t, w, r)",
                   "y = Transpose <perm = [1, 0, 2]> (h)"], n,
        w=(1, 72, 16), r=(1, 72, 24)),
    "dense_chain_most_rows_of_large_layers": lambda n: dense([128, 128, 128], rows=n),
    "dense_chain_most_layer_bytes": lambda n: dense([round((n / 4)**0.5)] * 4, rows=4),
    "dense_chain_most_layer_bytes_of_many_rows": lambda n: dense([round((n / 4)**0.5)] * 4, rows=64),
    "dense_chain_most_bytes": lambda n: dense([64] * (n // (64 * 64 * 4) + 1), rows=1),
    "gather_fewest_elements": lambda n: Net([64, n], ["y = Gather <axis = 1> (x, i)"], i=numpy.arange(100) * 7 % 64),
    "concatenation_fewest_per_part": lambda n: Net(
        [64, n], ["a = Gather <axis = 1> (x, i)", "b = Gather <axis = 1> (x, j)", "y = Concat <axis = 2> (a, b)"],
        i=numpy.arange(100) * 7 % 64, j=numpy.arange(100) * 11 % 64),
}


def table():
    rows = re.findall(r'^TFAOT_TUNED\((\w+), ([\d <]+), "([^"]*)"', TABLE.read_text(), re.MULTILINE)
    return {name: (eval(number, {}), unit) for name, number, unit in rows}  # digits and shifts alone


class Bench:
    def __init__(self, tfaot, engine, folder, rounds):
        self.tfaot, self.engine, self.folder, self.rounds = tfaot, engine, folder, rounds

    def run(self, *words, **variables):
        done = subprocess.run([self.tfaot, *map(str, words)], text=True, capture_output=True,
                              env={**os.environ, **variables})
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout

    def package(self, net, label, assignment):
        """The net compiled with a tuned number."""
        script = self.folder / f"engine_{label}"
        script.write_text(f'#!/bin/sh\nexec "{self.engine}" --tuned {assignment} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        model, out = self.folder / "net.onnx", self.folder / label
        net.write(model)
        self.run("compile", "-q", model, "-o", out, "--batch-sizes", net.rows, "--cpu-levels", "native",
                 TFAOT_ENGINE=str(script))
        return out

    def ratio(self, net, packages):
        """The time of the second package, in those of the first: the rounds take turns."""
        words = ["profile", "-q", "--json", "--batch-sizes", net.rows, "--rounds", self.rounds, *packages]
        first, second = (curve["sizes"][0]["rounds"] for curve in json.loads(self.run(*words))["curves"])
        return statistics.median(b / a for a, b in zip(first, second))

    def choice(self, name, number, size):
        """The time of the other way, in those of the table's; None if both are the same code."""
        is_fewest = "_most_" not in name
        other = size + 1 if is_fewest else size - 1
        net = CASES[name](size)
        packages = [self.package(net, "from_it", f"{name}={size}"), self.package(net, "beyond_it", f"{name}={other}")]
        same = all((packages[0] / "lib" / one.name).read_bytes() == one.read_bytes()
                   for one in (packages[1] / "lib").glob("*.o"))
        if same:
            return None
        ratio = self.ratio(net, packages)
        inside = size >= number if is_fewest else size <= number
        return ratio if inside else 1 / ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tfaot", default=SOURCE / "build/release/bin/tfaot")
    parser.add_argument("--only", nargs="+", default=sorted(CASES), metavar="NAME", choices=sorted(CASES))
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="in place of half the number, it and twice it")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    engine = Path(arguments.tfaot).resolve().with_name("tfaot-engine")
    numbers = table()
    results = []
    for name in arguments.only:
        number, unit = numbers[name]
        for size in arguments.sizes or sorted({max(1, number // 2), number, 2 * number}):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    ratio = Bench(arguments.tfaot, engine, Path(folder), arguments.rounds).choice(name, number, size)
                except (RuntimeError, onnx.onnx_cpp2py_export.shape_inference.InferenceError) as error:
                    print(f"{name} at {size}: {error}", file=sys.stderr)
                    continue
            if ratio is None:
                print(f"{name:42} {size:8} {unit}: the number changes nothing")
                continue
            slower = f"   THE SLOWER WAY, by {1 / ratio - 1:.0%}" if ratio < 0.97 else ""
            print(f"{name:42} {size:8} {unit}: the other way takes {ratio:.2f} of the time{slower}", flush=True)
            results.append({"name": name, "number": number, "size": size, "ratio": ratio})
    print("without a model here:", *sorted(set(numbers) - set(CASES)))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
