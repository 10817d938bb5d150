# SPDX-License-Identifier: Apache-2.0
"""What is measured: the engines by name, and the command of each one's runner for a net (see modules/runner/src/runner.h)."""
import pathlib
import sys
from dataclasses import dataclass, field, replace

OURS = "tfaot"
TUNED = "tfaot_tuned"
FROM_ONNX = "tfaot_onnx"
ALL_OURS = (OURS, TUNED, FROM_ONNX)
# Engines that compute a net in fewer bits: OpenVINO's products have operands of bfloat16 where the CPU is made for them.
FEWER_BITS = ("openvino_default", "tfaot_bfloat16", "tfaot_int8", "onnxruntime_int8", "litert_int8")
FEWER_BITS_TOLERANCE = 0.25  # the nets' weights are drawn by chance
NO_PEERS = (*ALL_OURS, *FEWER_BITS)
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
    trees: bool = False  # by make_trees.py: other peers, and none of TensorFlow's files


@dataclass
class Engine:
    name: str
    title: str
    command: list  # of the runner, with its settings
    files: list = field(default_factory=list)  # what a plugin ships beside its own program
    environment: dict = field(default_factory=dict)
    tolerance: float = 1e-4  # of the largest expected output
    is_resident: bool = True  # the runner's process holds the engine, so that its memory and load time can be taken


IREE_RUNNER = pathlib.Path(__file__).parent.parent / "runners" / "iree_runner.py"
OPENVINO_LIBRARIES = ("libopenvino_c.so.*", "libopenvino.so.*", "libopenvino_onnx_frontend.so.*", "libopenvino_intel_cpu_plugin.so",
                      "libtbb.so.*")  # what an ONNX file on the CPU needs; the first is opened


def peers_of(wheels, tensorflow):
    """{engine: what its runner opens}: wheels is the folder of the unpacked wheels, tensorflow the root of TensorFlow's."""
    (onnxruntime,) = wheels.glob("onnxruntime/capi/libonnxruntime.so.*")
    xgboost = [wheels / "xgboost" / "lib" / "libxgboost.so", *wheels.glob("xgboost_cpu.libs/libgomp*")]
    openvino = [library for pattern in OPENVINO_LIBRARIES for library in wheels.glob(f"openvino/libs/{pattern}")]
    return {"onnxruntime": onnxruntime, "litert": wheels / "ai_edge_litert" / "libLiteRt.so", "openvino": openvino,
            "iree": wheels / "iree" / "_runtime_libs", "xgboost": xgboost, "tensorflow": tensorflow}


def files_of(net, kind, names=("x", "y")):
    """A runner's settings that name its inputs, of a kind or the usual ones."""
    suffix = f"_{kind}" if kind else ""
    return {"input": f"float32 {','.join(map(str, net.input_shape))} {names[0]}", "input_file": net.folder / f"inputs{suffix}.bin",
            "output": f"float32 {net.output_size} {names[1]}", "expected_file": net.folder / f"expected{suffix}.bin",
            **({"turns": net.rows} if net.trees else {})}


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

    def library_engine(name, title, model, libraries, program=None, **settings):
        return Engine(name, title, command(program or name, model=folder / model, library=libraries[0], **settings),
                      [*libraries, folder / model])

    def trees_engine(name, title, model, libraries):
        return library_engine(name, title, model, libraries, "trees", engine=name)

    tensorflow = [peers["tensorflow"] / f"libtensorflow_{part}.so.2" for part in ("cc", "framework")]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "ABSL_MIN_LOG_LEVEL": "3"}
    # Without the thunks that are 2.18's default a CNN is three times as fast, and a dense net as fast.
    xla = {} if net.jit_thunks else {"XLA_FLAGS": "--xla_cpu_use_thunk_runtime=false"}
    tuned = [Engine(TUNED, "tfaot, tuned", command(f"tfaot_tuned_{net.name}"))]
    ours = [Engine(OURS, "tfaot", command(f"tfaot_{net.name}")), *(tuned if net.rows >= TUNED_ROWS else [])]
    onnxruntime = library_engine("onnxruntime", "ONNX Runtime", "net.onnx", [peers["onnxruntime"]])
    if net.trees:
        return [
            *ours,
            onnxruntime,
            trees_engine("xgboost", "XGBoost", "xgboost.json", peers["xgboost"]),
            trees_engine("tl2cgen", "TL2cgen", "tl2cgen.so", [folder / "tl2cgen.so"]),
            trees_engine("lleaves", "lleaves", "lleaves.so", [folder / "lleaves.so"]),
        ]
    fewer_bits = [library_engine("openvino_default", "OpenVINO, default precision", "net.onnx", peers["openvino"], "openvino")]
    if net.dense:
        fewer_bits += [
            Engine("tfaot_bfloat16", "tfaot, bfloat16", command(f"tfaot_bfloat16_{net.name}")),
            Engine("tfaot_int8", "tfaot, int8", command(f"tfaot_int8_{net.name}")),
            library_engine("onnxruntime_int8", "ONNX Runtime, int8", "int8.onnx", [peers["onnxruntime"]], "onnxruntime"),
            library_engine("litert_int8", "LiteRT, int8", "int8.tflite", [peers["litert"]], "litert"),
        ]
    return [
        *ours,
        Engine(FROM_ONNX, "tfaot, from ONNX", command(f"tfaot_onnx_{net.name}")),
        Engine("usual_aot", "usual AOT route", command(f"usual_aot_{net.name}")),
        Engine("tensorflow", "TensorFlow session",
               command("tensorflow", model=folder / "frozen_graph.pb", names=net.frozen_names),
               [*tensorflow, folder / "frozen_graph.pb"], quiet),
        Engine("tensorflow_xla", "TensorFlow with XLA JIT",
               command("tensorflow", model=folder / "jit_model", names=net.jit_names),
               [*tensorflow, folder / "jit_model"], {**quiet, **xla}),
        onnxruntime,
        library_engine("litert", "LiteRT", "net.tflite", [peers["litert"]]),
        library_engine("openvino", "OpenVINO", "net.onnx", peers["openvino"], precision="f32"),
        Engine("iree", "IREE", [sys.executable, str(IREE_RUNNER), *settings_of(model=folder / "iree", programs=peers["iree"])],
               is_resident=False),
        *(replace(engine, tolerance=FEWER_BITS_TOLERANCE) for engine in fewer_bits),
    ]
