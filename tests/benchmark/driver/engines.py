# SPDX-License-Identifier: Apache-2.0
"""What is measured: the engines by name, and the command of each one's runner for a net (see modules/runner/src/runner.h)."""
import pathlib
from dataclasses import dataclass, field

OURS = "tfaot"
TUNED = "tfaot_tuned"
FROM_ONNX = "tfaot_onnx"
ALL_OURS = (OURS, TUNED, FROM_ONNX)  # no peers


@dataclass
class Net:
    """A folder made by make_nets.py."""

    folder: pathlib.Path
    name: str
    input_shape: list
    output_size: int
    flops_per_row: int
    dense: bool
    frozen_names: list
    jit_names: list
    weight_bytes: int


@dataclass
class Engine:
    name: str
    title: str
    command: list  # of the runner, with its settings
    files: list = field(default_factory=list)  # what a plugin ships beside its own program
    environment: dict = field(default_factory=dict)


def engines_of(net, programs, peers):
    """All engines for a net. programs: folder of the runners; peers: {"onnxruntime": library, "litert": ..., "tensorflow": root}."""
    folder = net.folder

    def command(program, names=("x", "y"), **settings):
        settings.update(input=f"float32 {','.join(map(str, net.input_shape))} {names[0]}", input_file=folder / "inputs.bin",
                        output=f"float32 {net.output_size} {names[1]}", expected_file=folder / "expected.bin")
        return [str(programs / f"runner_{program}"), *(f"{key}={value}" for key, value in settings.items())]

    def library_engine(name, title, model):
        return Engine(name, title, command(name, model=folder / model, library=peers[name]), [peers[name], folder / model])

    tensorflow = [peers["tensorflow"] / f"libtensorflow_{part}.so.2" for part in ("cc", "framework")]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "ABSL_MIN_LOG_LEVEL": "3"}
    return [
        Engine(OURS, "tfaot", command(f"tfaot_{net.name}")),
        Engine(TUNED, "tfaot, tuned", command(f"tfaot_tuned_{net.name}")),
        Engine(FROM_ONNX, "tfaot, from ONNX", command(f"tfaot_onnx_{net.name}")),
        Engine("usual_aot", "usual AOT route", command(f"usual_aot_{net.name}")),
        Engine("tensorflow", "TensorFlow session",
               command("tensorflow", model=folder / "frozen_graph.pb", names=net.frozen_names),
               [*tensorflow, folder / "frozen_graph.pb"], quiet),
        Engine("tensorflow_xla", "TensorFlow with XLA JIT",
               command("tensorflow", model=folder / "jit_model", names=net.jit_names),
               # On a CNN three times as fast as with the thunks that are 2.18's default, on dense nets as fast.
               [*tensorflow, folder / "jit_model"], {**quiet, "XLA_FLAGS": "--xla_cpu_use_thunk_runtime=false"}),
        library_engine("onnxruntime", "ONNX Runtime", "net.onnx"),
        library_engine("litert", "LiteRT", "net.tflite"),
    ]
