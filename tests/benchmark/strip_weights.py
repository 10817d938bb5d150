#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the nets of the benchmark without their weights, for the test e2e.CodeList.

    strip_weights.py NETS FOLDER    NETS: the folder that make_nets.py wrote

FOLDER/NET.onnx refers to weights in a file weights.bin beside it, which the test makes: any numbers will do, since the choice of
kernels depends on shapes alone. Of a forest the first eight trees are kept, since its numbers are attributes of a node.
"""
import pathlib
import sys

import onnx
from onnx import TensorProto

FEWEST = 16  # numbers of a weight; shorter ones, such as scalars and shapes, stay
STEP = 4096  # bytes between the starts of two weights, which overlap: so no two are alike
TREES = 8


def strip_initializers(graph):
    stripped = 0
    for tensor in graph.initializer:
        size = len(tensor.raw_data)
        if tensor.data_type != TensorProto.FLOAT or size < 4 * FEWEST:
            continue
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "weights.bin"), ("offset", stripped * STEP), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        stripped += 1


def strip_trees(graph):
    for node in graph.node:
        if not node.op_type.startswith("TreeEnsemble"):
            continue
        lists = {attribute.name: attribute for attribute in node.attribute}
        for prefix, ids in (("nodes_", "nodes_treeids"), ("target_", "target_treeids"), ("class_", "class_treeids")):
            if ids not in lists:
                continue
            kept = [i for i, tree in enumerate(lists[ids].ints) if tree < TREES]
            for name, attribute in lists.items():
                if not name.startswith(prefix):
                    continue
                for field in ("ints", "floats", "strings"):
                    values = getattr(attribute, field)
                    if len(values):
                        values[:] = [values[i] for i in kept]


nets, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
for path in sorted(nets.glob("*/net.onnx")):
    model = onnx.load(path)
    strip_initializers(model.graph)
    strip_trees(model.graph)
    (folder / f"{path.parent.name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
