#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the nets of the benchmark: the same seeded weights for every engine.

    make_nets.py FOLDER [NET...]

Each net gets a folder FOLDER/NET with
    saved_model/        the SavedModel, which tfaot and the usual ahead-of-time route compile
    jit_model/          the same, its function marked jit_compile=True
    frozen_graph.pb     the same with its weights as constants, for TensorFlow's session
    net.onnx            the same weights, written operation by operation as an exporter would at its best
    net.tflite          the same, by TensorFlow's own converter; of a recurrent net from unrolled_model/, as it refuses loops
                        (net.onnx and net.tflite of a quantised net are quantised by ONNX Runtime and by that converter)
    int8.onnx, int8.tflite    of a dense net: weights in int8, as ONNX Runtime and the converter make them; inputs of layers are then
                        made int8 in each call
    aot_config.yaml     for tfaot compile; onnx_config.yaml takes net.onnx instead of the SavedModel, as trees do in both;
                        of a dense net, int8_config.yaml: weights_type int8, and bfloat16_config.yaml: compute bfloat16
    inputs.bin          rows of float32, and expected.bin, TensorFlow's predictions for them; with _detector and _denormal before the
                        dot those of other kinds
    net.json            shapes, tensor names, multiplications and additions per row
Needs requirements.txt beside this file, and for dense and quantised nets ONNX Runtime's wheel of peers.txt. The nets themselves are in the folder nets.
"""
import json
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from nets.dense_nets import Autoencoder, BatchNormTanh, Dense, Embedding, Flow, Mixer
from nets.graphs import OnnxGraph
from nets.image_nets import Cnn, FullResNet50, MobileNet, QuantizedResidual, QuantizedResNet50, ResNet50, Residual, UNet
from nets.sequence_nets import DeepJet, Gru, Lstm, Separable
from nets.set_nets import Attention, GraphNet, ParticleNet, Transformer, Transformer12x384
from nets.tree_nets import Trees

MODELS = {"saved_model": "saved_model: ./saved_model", "onnx": "format: onnx\n  onnx: ./net.onnx"}  # by format, in a config
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)

NETS = {
    "dense_10x128": lambda: Dense(10, 128),
    "dense_20x128": lambda: Dense(20, 128),
    "dense_10x256": lambda: Dense(10, 256),
    "dense_3x32": lambda: Dense(3, 32),
    "dense_2x1024": lambda: Dense(2, 1024),
    "batch_norm_5x128": BatchNormTanh,
    "autoencoder": lambda: Autoencoder(57),
    "embedding": lambda: Embedding(24),
    "flow": lambda: Flow(8),
    "mixer": lambda: Mixer(32),
    "cnn": Cnn,
    "residual": lambda: Residual(16),
    "residual_int8": lambda: QuantizedResidual(16),
    "mobilenet": lambda: MobileNet(33),
    "resnet50": lambda: ResNet50(50),
    "resnet50_int8": lambda: QuantizedResNet50(50),
    "resnet50_224": lambda: FullResNet50(51),
    "unet": UNet,
    "separable": lambda: Separable(128),
    "lstm": lambda: Lstm(20),
    "gru": lambda: Gru(30),
    "deepjet": lambda: DeepJet(25),
    "transformer": Transformer,
    "transformer_12x384": Transformer12x384,
    "attention": Attention,
    "particlenet": lambda: ParticleNet(34),
    "graph": lambda: GraphNet(35),
    "trees": lambda: Trees(40),
}


def tensor_names(signature):
    """The plain placeholder and result in the graph of a loaded SavedModel."""
    return [signature.inputs["x"].name, signature.outputs["y"].name]


def save_model(net, folder, jit, **options):
    module = tf.Module()
    module.variables_ = {name: tf.Variable(value, name=name) for name, value in net.weights.values.items()}
    specs = [tf.TensorSpec([None, *net.input_shape], tf.float32, name="x")]

    def predict(x):
        return net.tensorflow(module.variables_, x, **options)

    inner = tf.function(predict, jit_compile=True) if jit else predict
    module.serve = tf.function(lambda x: {"y": inner(x)}, input_signature=specs)
    tf.saved_model.save(module, str(folder), signatures=module.serve)
    return module


def write_tflite(net, folder):
    """The converter refuses loops over any number of rows, so they are unrolled, as its documentation recommends."""
    model = folder / "saved_model"
    if net.recurrent:
        model = folder / "unrolled_model"
        save_model(net, model, jit=False, unroll=True)
    converter = tf.lite.TFLiteConverter.from_saved_model(str(model))
    if net.quantized:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([row[None]] for row in calibration_rows(net))
    (folder / "net.tflite").write_bytes(converter.convert())


def calibration_rows(net):
    return net.inputs(np.random.default_rng(2), 64)


def quantize_onnx(net, path):
    """As ONNX Runtime's documentation says: batch normalisations become part of convolutions first. Returns the bytes of weights."""
    import onnx
    import onnxruntime
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Rows(CalibrationDataReader):
        batches = iter([{"x": calibration_rows(net)}])

        def get_next(self):
            return next(self.batches, None)

    folded = path.with_name("folded.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folded)
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    quantize_static(str(folded), str(path), Rows(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8)
    folded.unlink()
    return sum(onnx.numpy_helper.to_array(weight).nbytes for weight in onnx.load(path).graph.initializer)


def write_int8(folder):
    from onnxruntime.quantization import QuantType, quantize_dynamic  # other nets do without it
    quantize_dynamic(folder / "net.onnx", folder / "int8.onnx", weight_type=QuantType.QInt8)
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder / "saved_model"))
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    (folder / "int8.tflite").write_bytes(converter.convert())


def write_rows(module, folder, suffix, inputs):
    """Whether the predictions are finite: others cannot be compared."""
    expected = module.serve(tf.constant(inputs))["y"].numpy()
    inputs.tofile(folder / f"inputs{suffix}.bin")
    expected.tofile(folder / f"expected{suffix}.bin")
    return np.isfinite(expected).all()


def make_net(name, folder):
    net = NETS[name]()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    module = save_model(net, folder / "saved_model", jit=False)
    save_model(net, folder / "jit_model", jit=True)

    frozen = convert_variables_to_constants_v2(module.serve.get_concrete_function())
    (folder / "frozen_graph.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString(deterministic=True))
    write_tflite(net, folder)
    graph = OnnxGraph(net.weights.values)
    graph.save(str(folder / "net.onnx"), net.input_shape, [net.outputs], net.onnx(graph, "x"))
    weight_bytes = sum(value.nbytes for value in net.weights.values.values())
    if net.quantized:
        weight_bytes = quantize_onnx(net, folder / "net.onnx")
    if net.dense:
        write_int8(folder)

    inputs = net.inputs(np.random.default_rng(1), net.rows)
    assert write_rows(module, folder, "", inputs)
    kinds = [kind for kind, rows in net.other_inputs(inputs).items() if write_rows(module, folder, f"_{kind}", rows)]

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], str(folder / "jit_model"))
        jit_names = tensor_names(meta.signature_def["serving_default"])
    described = {
        "name": name, "rows": net.rows, "input_shape": list(net.input_shape), "output_size": net.outputs, "flops_per_row": net.flops,
        "dense": net.dense, "frozen_names": [frozen.inputs[0].name, frozen.outputs[0].name], "jit_names": jit_names,
        "jit_thunks": net.jit_thunks, "kinds": kinds,
        "weight_bytes": weight_bytes, "tolerance": net.tolerance,
    }
    (folder / "net.json").write_text(json.dumps(described, indent=2) + "\n")
    sizes = ", ".join(str(size) for size in BATCH_SIZES if size <= net.rows)
    configs = {"aot_config": (net.format, ""), "onnx_config": ("onnx", "")}
    if net.dense:
        configs["int8_config"] = (net.format, "  weights_type: int8\n")
        configs["bfloat16_config"] = (net.format, "  compute: bfloat16\n")
    for config, (model_format, option) in configs.items():
        (folder / f"{config}.yaml").write_text(
            f"model:\n  name: {name}\n  version: \"1.0\"\n  {MODELS[model_format]}\n"
            f"compilation:\n  batch_sizes: [{sizes}]\n{option}")


def main(folder, *names):
    unknown = set(names) - set(NETS)
    if unknown:
        sys.exit(f"make_nets.py: no net {', '.join(sorted(unknown))}; there are {', '.join(NETS)}")
    for name in names or NETS:
        make_net(name, pathlib.Path(folder) / name)
        print(f"made {name}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
