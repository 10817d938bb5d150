# SPDX-License-Identifier: Apache-2.0
"""What is measured: the engines by name, and the command of each one's runner for a net (see modules/runner/src/runner.h)."""
import pathlib
import sys
from dataclasses import dataclass, field

OURS = "tfaot"
TUNED = "tfaot_tuned"
FROM_ONNX = "tfaot_onnx"
ALL_OURS = (OURS, TUNED, FROM_ONNX)  # no peers
TUNED_ROWS = 100  # the fewest of a net that is tuned (tests/benchmark/CMakeLists.txt): bigger nets would take an hour


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
    jit_thunks: bool  # XLA's newer runtime
    weight_bytes: int
    rows: int  # in its files
    tolerance: float = 1e-4  # of the largest expected output
    kinds: list = field(default_factory=list)  # of inputs, other than the usual ones


@dataclass
class Engine:
    name: str
    title: str
    command: list  # of the runner, with its settings
    files: list = field(default_factory=list)  # what a plugin ships beside its own program
    environment: dict = field(default_factory=dict)
    is_resident: bool = True  # the runner's process holds the engine, so that its memory and load time can be taken


IREE_RUNNER = pathlib.Path(__file__).parent.parent / "runners" / "iree_runner.py"
OPENVINO_LIBRARIES = ("libopenvino_c.so.*", "libopenvino.so.*", "libopenvino_onnx_frontend.so.*", "libopenvino_intel_cpu_plugin.so",
                      "libtbb.so.*")  # what an ONNX file on the CPU needs; the first is opened


def peers_of(wheels, tensorflow):
    """{engine: what its runner opens}: wheels is the folder of the unpacked wheels, tensorflow the root of TensorFlow's."""
    (onnxruntime,) = wheels.glob("onnxruntime/capi/libonnxruntime.so.*")
    openvino = [library for pattern in OPENVINO_LIBRARIES for library in wheels.glob(f"openvino/libs/{pattern}")]
    return {"onnxruntime": onnxruntime, "litert": wheels / "ai_edge_litert" / "libLiteRt.so", "openvino": openvino,
            "iree": wheels / "iree" / "_runtime_libs", "tensorflow": tensorflow}


def files_of(net, kind, names=("x", "y")):
    """A runner's settings that name its inputs, of a kind or the usual ones."""
    suffix = f"_{kind}" if kind else ""
    return {"input": f"float32 {','.join(map(str, net.input_shape))} {names[0]}", "input_file": net.folder / f"inputs{suffix}.bin",
            "output": f"float32 {net.output_size} {names[1]}", "expected_file": net.folder / f"expected{suffix}.bin"}


def ours_by_kind(net, programs):
    """Ours for each kind of inputs, the usual ones first: the engines' names are the kinds."""
    return [Engine(kind, OURS, [str(programs / f"runner_tfaot_{net.name}"), *(f"{key}={value}" for key, value in files_of(net, kind).items())])
            for kind in ("", *net.kinds)]


def engines_of(net, programs, peers):
    """All engines for a net. programs: folder of the runners; peers: peers_of()."""
    folder = net.folder

    def settings_of(names=("x", "y"), **settings):
        return [f"{key}={value}" for key, value in {**settings, **files_of(net, "", names)}.items()]

    def command(program, **settings):
        return [str(programs / f"runner_{program}"), *settings_of(**settings)]

    def library_engine(name, title, model, libraries):
        return Engine(name, title, command(name, model=folder / model, library=libraries[0]), [*libraries, folder / model])

    tensorflow = [peers["tensorflow"] / f"libtensorflow_{part}.so.2" for part in ("cc", "framework")]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "ABSL_MIN_LOG_LEVEL": "3"}
    # Without the thunks that are 2.18's default a CNN is three times as fast, and a dense net as fast.
    xla = {} if net.jit_thunks else {"XLA_FLAGS": "--xla_cpu_use_thunk_runtime=false"}
    tuned = [Engine(TUNED, "tfaot, tuned", command(f"tfaot_tuned_{net.name}"))]
    return [
        Engine(OURS, "tfaot", command(f"tfaot_{net.name}")),
        *(tuned if net.rows >= TUNED_ROWS else []),
        Engine(FROM_ONNX, "tfaot, from ONNX", command(f"tfaot_onnx_{net.name}")),
        Engine("usual_aot", "usual AOT route", command(f"usual_aot_{net.name}")),
        Engine("tensorflow", "TensorFlow session",
               command("tensorflow", model=folder / "frozen_graph.pb", names=net.frozen_names),
               [*tensorflow, folder / "frozen_graph.pb"], quiet),
        Engine("tensorflow_xla", "TensorFlow with XLA JIT",
               command("tensorflow", model=folder / "jit_model", names=net.jit_names),
               [*tensorflow, folder / "jit_model"], {**quiet, **xla}),
        library_engine("onnxruntime", "ONNX Runtime", "net.onnx", [peers["onnxruntime"]]),
        library_engine("litert", "LiteRT", "net.tflite", [peers["litert"]]),
        library_engine("openvino", "OpenVINO", "net.onnx", peers["openvino"]),
        Engine("iree", "IREE", [sys.executable, str(IREE_RUNNER), *settings_of(model=folder / "iree", programs=peers["iree"])],
               is_resident=False),
    ]
