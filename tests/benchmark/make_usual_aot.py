#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles nets by the usual route: cmsml's compile_tf_graph(), which starts saved_model_cli once per batch size.

    make_usual_aot.py NET_FOLDER...

Writes NET_FOLDER/usual_aot/aot/NAME_bsN.{h,o} for the batch sizes of make_nets.py that the net has rows for, and NET_FOLDER/usual_aot/seconds.
saved_model_cli lies beside this Python, which needs requirements.txt.
"""
import contextlib
import json
import os
import pathlib
import shutil
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
from cmsml.scripts.compile_tf_graph import compile_tf_graph

from make_nets import BATCH_SIZES


def compile_net(folder):
    net = json.loads((folder / "net.json").read_text())
    name = net["name"]
    out = folder / "usual_aot"
    shutil.rmtree(out, ignore_errors=True)
    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        compile_tf_graph(model_path=str(folder / "saved_model"), output_path=str(out), batch_sizes=[size for size in BATCH_SIZES if size <= net["rows"]],
                         compile_prefix=name + "_bs{}", compile_class="tfaot_usual::" + name + "_bs{}")
    (out / "seconds").write_text(f"{time.perf_counter() - start:.2f}\n")


def main(folders):
    if not folders:
        sys.exit(__doc__)
    for folder in folders:
        compile_net(pathlib.Path(folder))
        print(f"compiled {folder} by the usual route", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
