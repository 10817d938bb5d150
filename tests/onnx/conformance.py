#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the ONNX standard's own test models with tfaot, and compares the results with those of the standard. See
packaging/onnx_conformance.sh, which starts it."""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnx.numpy_helper

# As onnx.backend.test.loader has them.
RELATIVE = 1e-3
ABSOLUTE = 1e-7
PARTS = {"node": "node tests", "pytorch-operator": "PyTorch operators", "pytorch-converted": "PyTorch modules",
         "simple": "simple models", "light": "light models"}
# What a compiler with fixed sizes cannot do: reasons of a refusal that are counted as out of reach.
OUT_OF_REACH = [
    ("sequences, optional values and maps", r"is not a tensor: a sequence"),
    ("strings and types of less than 8 bits", r"STRING|string|FLOAT8|FLOAT4|FLOAT6|INT4|INT2|UINT4|E8M0|float8|int4|uint4|int2|uint2"),
    ("other domains", r"domain '|ai\.onnx\.preview|ai\.onnx\.ml"),
    ("sizes that depend on the data, random numbers", r"depends on the model's inputs|depends on the data|random numbers"),
]


# Failures that are looked into.
REMARKS = {name: "where exact sums give 0, the expected value is 1.9e-07, noise of single precision; tfaot adds up in double"
           for name in ("test_dft_inverse", "test_dft_inverse_opset19")}


class Refused(Exception):
    """tfaot says why it cannot compile the model."""


class Failed(Exception):
    """A wrong value, a crash, or an error that is no refusal."""


def read_value(file, value_type):
    """The tensor in a file of test data; None for other values."""
    if value_type.WhichOneof("value") != "tensor_type":
        return None
    tensor = onnx.TensorProto()
    tensor.ParseFromString(file.read_bytes())
    return onnx.numpy_helper.to_array(tensor)


def model_of(folder):
    """The model's file. The light ones lie beside their outputs."""
    light = folder.parent / (folder.name.replace("test_", "light_") + ".onnx")
    return light if folder.parent.name == "light" else folder / "model.onnx"


def light_data(source, model):
    """What the standard's own runner gives a light model: numbers from 0 to 1."""
    initializers = {tensor.name for tensor in model.graph.initializer}
    (value,) = (value for value in model.graph.input if value.name not in initializers)
    shape = [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
    count = np.prod(shape)
    output = model.graph.output[0]
    yield ({value.name: (np.arange(count).reshape(shape) / count).astype(np.float32)},
           {output.name: read_value(source.with_name(source.stem + "_output_0.pb"), output.type)})


def data_sets(folder, model):
    """The inputs and outputs of each data set, by name."""
    if folder.parent.name == "light":
        yield from light_data(model_of(folder), model)
        return
    initializers = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in initializers]
    for data in sorted(folder.glob("test_data_set_*")):
        yield ({value.name: read_value(data / f"input_{i}.pb", value.type) for i, value in enumerate(inputs)},
               {value.name: read_value(data / f"output_{i}.pb", value.type) for i, value in enumerate(model.graph.output)})


def dimensions_of(model, inputs):
    """The sizes of the named dimensions, as the data have them."""
    sizes = {}
    for value in model.graph.input:
        array = inputs.get(value.name)
        if array is None:
            continue
        for dimension, size in zip(value.type.tensor_type.shape.dim, array.shape):
            if dimension.dim_param:
                sizes[dimension.dim_param] = size
    return sizes


def graph_inputs_of(graph, name):
    """The graph's inputs that a value is computed from."""
    makers = {output: node for node in graph.node for output in node.output}
    inputs = {value.name for value in graph.input}
    found, seen, waiting = set(), set(), [name]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in inputs:
            found.add(name)
        elif name in makers:
            waiting.extend(makers[name].input)
    return found


def needed_inputs(graph, refusal):
    """The graph's inputs whose value a refusal asks for, such as a shape."""
    value = re.search(r"needs the value of '([^']*)' while compiling", refusal)
    if value:
        return graph_inputs_of(graph, value[1])
    loop = re.search(r"node '([^']*)' \(operator Loop, .*whose number depends on the model's inputs", refusal)
    nodes = [node for node in graph.node if loop and loop[1] in (node.name, *node.output)]
    return set().union(*(graph_inputs_of(graph, name) for node in nodes for name in node.input[:2]))


def compile_with_constants(tool, source, model, inputs, folder):
    """The package, and the names of inputs that are constants in it: those whose value must be known while compiling."""
    constants = set()
    while True:
        place = folder / str(len(constants))
        place.mkdir()
        values = {name: inputs[name] for name in constants}
        others = {name: array for name, array in values.items() if not is_config_value(array)}
        try:
            given = with_initializers(source, others, place) if others else source
            written = {name: array for name, array in values.items() if name not in others}
            return compile_model(tool, given, dimensions_of(model, inputs), written, place), constants
        except Refused as refused:
            more = needed_inputs(model.graph, str(refused)) - constants
            if not more or any(inputs.get(name) is None for name in more):
                raise
            constants |= more


def is_config_value(array):
    """Whether model.constants can hold it: numbers and truth values; only the innermost lists may be empty."""
    return array.dtype.kind in "biuf" and 0 not in array.shape[:-1]


def config_value(value):
    """In YAML."""
    if isinstance(value, list):
        return "[" + ", ".join(map(config_value, value)) + "]"
    if isinstance(value, float) and not np.isfinite(value):
        return ".nan" if np.isnan(value) else ".inf" if value > 0 else "-.inf"
    return json.dumps(value)


def with_initializers(source, constants, folder):
    """The model with these inputs as initializers."""
    model = onnx.load(str(source))
    for name, array in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    changed = folder / "model.onnx"
    onnx.save(model, str(changed))
    return changed


def compile_model(tool, source, dimensions, constants, folder):
    lines = ["model:", "  name: onnx_test", "  version: 1", "  format: onnx", f"  onnx: {json.dumps(str(source))}"]
    if dimensions:
        lines.append(f"  dimensions: {json.dumps(dimensions)}")
    if constants:
        lines.append("  constants:")
        lines += [f"    {json.dumps(name)}: {config_value(array.tolist())}" for name, array in constants.items()]
    lines += ["compilation:", "  batch: none", "  cpu_levels: [native]"]
    config = folder / "aot_config.yaml"
    config.write_text("\n".join(lines) + "\n")
    package = folder / "package"
    done = subprocess.run([tool, "compile", str(config), "-o", str(package), "--no-cache", "-q"], capture_output=True, text=True, timeout=600)
    if done.returncode == 0:
        return package
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line] or lines or ["nothing was printed"]
    text = re.sub(r"^.*?error: ", "", errors[-1]).replace(f"{source}: ", "")
    if done.returncode != 1 or "engine" in text and "ended" in text:
        raise Failed(f"exit code {done.returncode}: {text}")
    raise Refused(text)


def error_of(name, made, wanted):
    """The largest error relative to what is tolerated: at most 1 passes. And the largest absolute one."""
    if made.shape != wanted.shape:
        raise Failed(f"output '{name}' has the shape {list(made.shape)} instead of {list(wanted.shape)}")
    if made.dtype != wanted.dtype:
        raise Failed(f"output '{name}' has the type {made.dtype} instead of {wanted.dtype}")
    if not np.issubdtype(wanted.dtype, np.inexact) and wanted.dtype.kind != "V" and "float" not in str(wanted.dtype):
        return float(np.any(made != wanted) * 2), float(np.max(made != wanted, initial=0))
    made, wanted = (np.asarray(array, "complex128" if array.dtype.kind == "c" else "float64") for array in (made, wanted))
    same = (made == wanted) | (np.isnan(made) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        distance = np.where(same, 0, np.abs(made - wanted))
        tolerated = ABSOLUTE + RELATIVE * np.abs(wanted)
        ratio = np.where(same, 0, distance / tolerated)
    ratio = np.where(np.isnan(ratio), np.inf, ratio)
    return float(np.max(ratio, initial=0)), float(np.nanmax(np.where(same, 0, distance), initial=0))


def run_test(tool, folder, scratch):
    """The largest absolute error, and which inputs are constants. Raises Refused or Failed."""
    source = model_of(folder)
    model = onnx.load(str(source), load_external_data=False)
    largest = 0.0
    constants = set()
    for number, (inputs, outputs) in enumerate(data_sets(folder, model)):
        place = scratch / str(number)
        place.mkdir()
        package, fixed = compile_with_constants(tool, source, model, inputs, place)
        constants |= fixed
        import tfaot

        loaded = tfaot.Model(package)
        given = {tensor.name: inputs[tensor.name][np.newaxis] for tensor in loaded.inputs}
        made = loaded(**given)
        for name, wanted in outputs.items():
            if wanted is None:
                raise Failed(f"output '{name}' is not a tensor, but the model was compiled")
            ratio, distance = error_of(name, made[name][0], wanted)
            largest = max(largest, distance)
            if ratio > 1:
                raise Failed(f"output '{name}' differs by {distance:.3g}, {ratio:.3g} times what is tolerated")
    return f"{largest:.2g}" + (f" with {', '.join(sorted(constants))} as constants" if constants else "")


def outcome_of(tool, folder):
    with tempfile.TemporaryDirectory(prefix="tfaot-onnx-") as scratch:
        os.environ["TFAOT_CACHE_DIR"] = scratch + "/cache"
        try:
            return ["passed", run_test(tool, folder, pathlib.Path(scratch))]
        except Refused as refused:
            return ["refused", str(refused).replace(f"{scratch}/", "")]
        except Failed as failed:
            return ["failed", str(failed)]
        except subprocess.TimeoutExpired:
            return ["failed", "compiling took more than ten minutes"]
        except Exception as error:  # a test that the script cannot read is no pass
            return ["failed", f"{type(error).__name__}: {error}".splitlines()[0]]


def run_all(tool, tests, jobs):
    """Each test in a process of its own: compiled code may crash. Yields (test, outcome) as they end."""
    running = {}
    waiting = collections.deque(tests)
    while waiting or running:
        while waiting and len(running) < jobs:
            test = waiting.popleft()
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                with os.fdopen(writer, "w") as pipe:
                    pipe.write(json.dumps(outcome_of(tool, test)))
                os._exit(0)
            os.close(writer)
            running[child] = (test, reader)
        child, status = os.wait()
        test, reader = running.pop(child)
        with os.fdopen(reader) as pipe:
            text = pipe.read()
        if status != 0:
            yield test, ["failed", f"the test's process ended with signal {os.waitstatus_to_exitcode(status)}"]
        else:
            yield test, json.loads(text)


def reason_class(reason):
    for name, pattern in OUT_OF_REACH:
        if re.search(pattern, reason):
            return name
    return "other"


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def page(results):
    """docs/onnx_conformance.md."""
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "# ONNX conformance", "",
             f"What tfaot makes of the test data of onnx {onnx.__version__}. `packaging/onnx_conformance.sh --update-docs`",
             "writes this page. Each model is compiled by the real engine, loaded, run, and compared with the",
             f"results of the standard: relative tolerance {RELATIVE:g}, absolute {ABSOLUTE:g}, as the standard's own",
             "runner has it.",
             "An input whose value must be known while compiling, such as a shape, gets it by `model.constants`;",
             "the line says so.", "",
             "| | tests | passed | refused | failed |", "|---|---|---|---|---|"]
    for part, name in PARTS.items():
        rows = [outcome for (of, _), outcome in results.items() if of == part]
        if rows:
            counts = collections.Counter(outcome[0] for outcome in rows)
            lines.append(f"| {name} | {len(rows)} | {counts['passed']} | {counts['refused']} | {counts['failed']} |")
    refusals = collections.Counter(reason_class(outcome[1]) for outcome in results.values() if outcome[0] == "refused")
    lines += ["", "A refused model is not compiled, and tfaot says why. The reasons:", "", "| reason | tests |", "|---|---|"]
    lines += [f"| {reason} | {count} |" for reason, count in refusals.most_common()]
    for part, name in PARTS.items():
        rows = [(test, outcome) for (of, test), outcome in results.items() if of == part]
        if rows:
            lines += ["", f"## {name[0].upper()}{name[1:]}", "", "| test | | largest error, or why not |", "|---|---|---|"]
            lines += [f"| {test} | {outcome[0]} | {cell('; '.join(filter(None, (outcome[1], REMARKS.get(test)))))} |" for test, outcome in rows]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, usage="packaging/onnx_conformance.sh [options]")
    parser.add_argument("--tool", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--data", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", metavar="REGEX", help="tests whose PART/NAME matches, such as 'node/test_conv'")
    parser.add_argument("--part", choices=sorted(PARTS), action="append", help="only this part of the tests")
    parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count(), help="tests at the same time (default: one for each CPU)")
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="write the results as a page")
    parser.add_argument("--must-pass", type=pathlib.Path, metavar="FILE", help="run the tests that the file lists; fail unless all of them pass")
    options = parser.parse_args()
    # The light models have a folder each in "real", with the addresses of the heavy ones.
    folders = [(part, path) for part in options.part or PARTS for path in (options.data / ("real" if part == "light" else part)).glob("test_*")]
    tests = sorted((part, options.data / part / path.name) for part, path in folders)
    tests = [(part, folder) for part, folder in tests if re.search(options.only, f"{part}/{folder.name}")]
    if options.must_pass:
        listed = set(options.must_pass.read_text().split())
        tests = [(part, folder) for part, folder in tests if f"{part}/{folder.name}" in listed]
        missing = listed - {f"{part}/{folder.name}" for part, folder in tests}
        if missing:
            sys.exit(f"onnx_conformance: no such tests: {', '.join(sorted(missing))}")
    if not tests:
        sys.exit("onnx_conformance: no test matches")
    part_of = {folder: part for part, folder in tests}
    results = {}
    start = time.monotonic()
    for folder, outcome in run_all(options.tool, [folder for _, folder in tests], options.jobs):
        results[part_of[folder], folder.name] = outcome
        if outcome[0] != "passed":
            print(f"{outcome[0]:8s} {part_of[folder]}/{folder.name}: {outcome[1]}", flush=True)
    results = dict(sorted(results.items()))
    counts = collections.Counter(outcome[0] for outcome in results.values())
    print(f"{len(results)} tests in {time.monotonic() - start:.0f} s: {counts['passed']} passed, {counts['refused']} refused, "
          f"{counts['failed']} failed")
    if options.report:
        options.report.write_text(json.dumps([[*key, *outcome] for key, outcome in results.items()], indent=0))
    if options.page:
        options.page.write_text(page(results))
    if counts["failed"] or options.must_pass and counts["refused"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
