#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the boosted trees of the benchmark, and writes them for every engine that runs trees.

    make_trees.py FOLDER [NET...]

Each net gets a folder FOLDER/NET with
    net.onnx          one node of the standard's operators for trees, which tfaot and ONNX Runtime take
    xgboost.json      the model as XGBoost saves it
    tl2cgen.so        C code that TL2cgen makes of it, compiled for this CPU
    lleaves.so        the code that lleaves makes of the same trees, written as a model of LightGBM, for this CPU
    aot_config.yaml, inputs.bin, expected.bin (XGBoost's predictions), net.json: as in make_nets.py
Needs requirements.txt and the wheels of peers.txt beside this file.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import lleaves
import numpy as np
import onnx
import tl2cgen
import treelite
import xgboost
from onnx import TensorProto, helper

NETS = {  # trees and their depth
    "bdt_100x6": (100, 6),
    "bdt_500x8": (500, 8),
}
FEATURES = 20
ROWS = 1000
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
INLINED_TREES = 200  # by lleaves: of 500, LLVM needs more than three minutes and 3 GB to inline all, or else 15 seconds
JOBS = 16  # TL2cgen's files: the compiler's time grows faster than a file


def train(trees, depth):
    random = np.random.default_rng(1)
    x = random.normal(size=(60000, FEATURES)).astype(np.float32)
    signal = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3] * x[:, 4] * x[:, 5] + 0.3 * random.normal(size=len(x))
    settings = {"objective": "binary:logitraw", "base_score": 0, "max_depth": depth, "eta": 0.1, "tree_method": "hist", "nthread": 1}
    return xgboost.train(settings, xgboost.DMatrix(x, signal > 0.2, nthread=1), trees)


class Tree:
    """A tree as XGBoost saves it: a row goes left where its feature is below the threshold, and by `default_left` where it is NaN."""

    def __init__(self, saved):
        self.left, self.right = np.array(saved["left_children"]), np.array(saved["right_children"])
        self.features = np.array(saved["split_indices"])
        self.values = np.array(saved["split_conditions"], np.float32)  # thresholds, and the leaves' values
        self.default_left = np.array(saved["default_left"], bool)
        self.is_leaf = self.left < 0


def write_onnx(trees, path):
    def of_all(values):
        return np.concatenate([values(tree) for tree in trees])

    tree_ids = np.repeat(np.arange(len(trees)), [len(tree.left) for tree in trees])
    node_ids = of_all(lambda tree: np.arange(len(tree.left)))
    is_leaf = of_all(lambda tree: tree.is_leaf)
    values = of_all(lambda tree: tree.values)
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1,
        nodes_treeids=tree_ids, nodes_nodeids=node_ids, nodes_featureids=of_all(lambda tree: tree.features),
        nodes_values=np.where(is_leaf, 0, values).astype(np.float32), nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LT").tolist(),
        nodes_truenodeids=of_all(lambda tree: np.where(tree.is_leaf, 0, tree.left)),
        nodes_falsenodeids=of_all(lambda tree: np.where(tree.is_leaf, 0, tree.right)),
        nodes_missing_value_tracks_true=of_all(lambda tree: tree.default_left & ~tree.is_leaf).astype(int),
        target_treeids=tree_ids[is_leaf], target_nodeids=node_ids[is_leaf], target_ids=np.zeros(np.sum(is_leaf), int),
        target_weights=values[is_leaf])
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", size]) for name, size in (("x", FEATURES), ("y", 1)))
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(helper.make_graph([node], "net", [x], [y]), opset_imports=opsets, ir_version=8), path)


def write_lightgbm(trees, path):
    """What lleaves reads of LightGBM's format. There a row goes left at the threshold, too: ours are the next smaller float32."""
    text = (f"tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx={FEATURES - 1}\nobjective=regression\n"
            f"feature_infos={' '.join(['[-inf:inf]'] * FEATURES)}\ntree_sizes={' '.join(['0'] * len(trees))}\n")
    for number, tree in enumerate(trees):
        place = np.where(tree.is_leaf, -np.cumsum(tree.is_leaf), np.cumsum(~tree.is_leaf) - 1)  # leaf i is -1 - i
        inner = np.flatnonzero(~tree.is_leaf)
        lists = {
            "split_feature": tree.features[inner], "decision_type": np.where(tree.default_left[inner], 10, 8),  # 8: NaN is missing
            "threshold": map(float, np.nextafter(tree.values[inner], np.float32(-np.inf))),
            "left_child": place[tree.left[inner]], "right_child": place[tree.right[inner]],
            "leaf_value": map(float, tree.values[tree.is_leaf])}
        text += f"\nTree={number}\nnum_leaves={len(inner) + 1}\nnum_cat=0\n"
        text += "".join(f"{key}={' '.join(map(str, values))}\n" for key, values in lists.items())
    path.write_text(text + "\nend of trees\n\npandas_categorical:null\n")


def write_compiled(trees, folder):
    model = treelite.frontend.load_xgboost_model(folder / "xgboost.json", format_choice="json")
    tl2cgen.export_lib(model, toolchain="gcc", libpath=folder / "tl2cgen.so", params={"parallel_comp": JOBS}, options=["-march=native"])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        write_lightgbm(trees, scratch / "lightgbm.txt")
        # The small code model is the faster one.
        lleaves.Model(scratch / "lightgbm.txt").compile(cache=scratch / "lleaves.o", use_fp64=False, fcodemodel="small",
                                                        finline=len(trees) <= INLINED_TREES)
        subprocess.run(["gcc", "-shared", scratch / "lleaves.o", "-o", folder / "lleaves.so"], check=True)


def make_net(name, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    booster = train(*NETS[name])
    booster.save_model(folder / "xgboost.json")
    saved = json.loads((folder / "xgboost.json").read_text())
    trees = [Tree(tree) for tree in saved["learner"]["gradient_booster"]["model"]["trees"]]
    write_onnx(trees, folder / "net.onnx")
    write_compiled(trees, folder)
    inputs = np.random.default_rng(2).normal(size=(ROWS, FEATURES)).astype(np.float32)
    inputs.tofile(folder / "inputs.bin")
    booster.inplace_predict(inputs).tofile(folder / "expected.bin")
    count, depth = NETS[name]
    described = {
        "name": name, "rows": ROWS, "input_shape": [FEATURES], "output_size": 1, "flops_per_row": count * depth, "dense": False,
        "frozen_names": [], "jit_names": [], "jit_thunks": False, "trees": True,
        "weight_bytes": sum(8 * len(tree.left) for tree in trees),
    }
    (folder / "net.json").write_text(json.dumps(described, indent=2) + "\n")
    (folder / "aot_config.yaml").write_text(
        f"model:\n  name: {name}\n  version: \"1.0\"\n  format: onnx\n  onnx: ./net.onnx\n"
        f"compilation:\n  batch_sizes: {list(BATCH_SIZES)}\n")


def main(folder, *names):
    for name in names or NETS:
        make_net(name, pathlib.Path(folder) / name)
        print(f"made {name}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
