#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles nets with IREE, for this CPU alone.

    make_iree.py PEERS NET_FOLDER BATCH...

PEERS is the folder of the unpacked wheels. Writes NET_FOLDER/iree/bBATCH.vmfb from NET_FOLDER/net.onnx, for batches of no more rows
than the net's files have; existing ones stay, and with one that IREE does not compile the net ends. Needs requirements.txt beside
this file.
"""
import json
import os
import pathlib
import subprocess
import sys

import onnx

OPTIONS = ["--iree-input-type=onnx", "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
           "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3",
           "--iree-llvmcpu-stack-allocation-limit=1048576"]  # the default refuses some nets at large batch sizes


def write_fixed(model, batch, path):
    """The model for one batch size, with the name by which iree_runner.py calls it."""
    model.graph.name = "net"
    for tensor in (model.graph.input[0], model.graph.output[0]):
        tensor.type.tensor_type.shape.dim[0].dim_value = batch
    del model.graph.value_info[:]
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def compile_batch(peers, net, batch):
    out = net / "iree" / f"b{batch}.vmfb"
    if out.exists():
        return
    fixed, imported, unfinished = (out.with_name(f"b{batch}.{ending}") for ending in ("onnx", "mlir", "part"))
    write_fixed(onnx.load(net / "net.onnx"), batch, fixed)
    path = os.pathsep.join([peers, os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-W", "ignore", "-m", "iree.compiler.tools.import_onnx", fixed, "-o", imported], check=True,
                   env={**os.environ, "PYTHONPATH": path})
    subprocess.run([f"{peers}/iree/compiler/_mlir_libs/iree-compile", *OPTIONS, imported, "-o", unfinished], check=True)
    unfinished.rename(out)
    fixed.unlink()
    imported.unlink()


def main(peers, net, *batches):
    net = pathlib.Path(net)
    rows = json.loads((net / "net.json").read_text())["rows"]
    (net / "iree").mkdir(exist_ok=True)
    try:
        for batch in map(int, batches):
            if batch <= rows:
                compile_batch(peers, net, batch)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{net}: {error}")
    print(f"compiled {net} with IREE", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
