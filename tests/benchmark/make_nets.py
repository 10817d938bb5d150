#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the nets of the benchmark: the same seeded weights for every engine.

    make_nets.py FOLDER [NET...]

Each net gets a folder FOLDER/NET with
    saved_model/        the SavedModel, which tfaot and the usual ahead-of-time route compile
    jit_model/          the same, its function marked jit_compile=True
    frozen_graph.pb     the same with its weights as constants, for TensorFlow's session
    net.onnx            the same weights, written operation by operation as an exporter would at its best
    net.tflite          the same, by TensorFlow's own converter
    aot_config.yaml     for tfaot compile; onnx_config.yaml takes net.onnx instead of the SavedModel
    inputs.bin          1000 rows of float32, and expected.bin, TensorFlow's predictions for them
    net.json            shapes, tensor names, multiplications and additions per row
Needs requirements.txt beside this file.
"""
import json
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import onnx
import tensorflow as tf
from onnx import TensorProto, helper, numpy_helper
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ROWS = 1000


class Weights:
    """Seeded weights by name, handed to TensorFlow and to ONNX alike."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.values = {}

    def add(self, name, shape, scale=None):
        scale = np.sqrt(2 / np.prod(shape[:-1])) if scale is None else scale
        self.values[name] = self.random.normal(0, scale, shape).astype(np.float32)

    def add_norm(self, name, width, moments):
        self.values[f"{name}_gamma"] = self.random.uniform(0.5, 1.5, width).astype(np.float32)
        self.values[f"{name}_beta"] = self.random.normal(0, 0.1, width).astype(np.float32)
        if moments:
            self.values[f"{name}_mean"] = self.random.normal(0, 0.1, width).astype(np.float32)
            self.values[f"{name}_variance"] = self.random.uniform(0.5, 1.5, width).astype(np.float32)


class OnnxGraph:
    """Collects nodes; every operation returns the name of its output."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.constants = {}

    def weight(self, name, change=lambda value: value):
        self.constants[name] = change(self.weights[name])
        return name

    def constant(self, name, value):
        self.constants[name] = np.asarray(value)
        return name

    def op(self, kind, *inputs, **attributes):
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def save(self, path, input_shape, output_shape, result):
        self.nodes.append(helper.make_node("Identity", [result], ["y"]))
        graph = helper.make_graph(
            self.nodes, "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *input_shape])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", *output_shape])],
            [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in self.constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


class Dense:
    """Layers of `width` with relu between a row of 64 and 8 outputs."""

    input_shape, outputs = (64,), 8

    def __init__(self, depth, width):
        self.widths = [64] + [width] * depth + [8]
        self.weights = Weights([depth, width])
        for i, (rows, columns) in enumerate(zip(self.widths, self.widths[1:])):
            self.weights.add(f"w{i}", (rows, columns))
            self.weights.add(f"b{i}", (columns,), 0.1)
        self.flops = sum(2 * rows * columns for rows, columns in zip(self.widths, self.widths[1:]))
        self.dense = True

    def tensorflow(self, v, x):
        last = len(self.widths) - 2
        for i in range(last + 1):
            x = tf.nn.bias_add(tf.matmul(x, v[f"w{i}"]), v[f"b{i}"])
            x = x if i == last else tf.nn.relu(x)
        return x

    def onnx(self, g, x):
        last = len(self.widths) - 2
        for i in range(last + 1):
            x = g.op("Gemm", x, g.weight(f"w{i}"), g.weight(f"b{i}"))
            x = x if i == last else g.op("Relu", x)
        return x


class BatchNormTanh:
    """As cms-tfaot's example: 4 inputs, five times dense 128, batch normalisation and tanh, then 2 outputs and softmax."""

    input_shape, outputs, dense = (4,), 2, False
    epsilon = 1e-3

    def __init__(self):
        self.widths = [4] + [128] * 5 + [2]
        self.weights = Weights(5)
        self.weights.add_norm("n", 4, moments=True)
        for i, (rows, columns) in enumerate(zip(self.widths, self.widths[1:])):
            self.weights.add(f"w{i}", (rows, columns))
            self.weights.add(f"b{i}", (columns,), 0.1)
            if i < 5:
                self.weights.add_norm(f"n{i}", columns, moments=True)
        self.flops = sum(2 * rows * columns for rows, columns in zip(self.widths, self.widths[1:]))

    def _norm(self, v, name, x):
        return tf.nn.batch_normalization(x, v[f"{name}_mean"], v[f"{name}_variance"], v[f"{name}_beta"],
                                         v[f"{name}_gamma"], self.epsilon)

    def tensorflow(self, v, x):
        x = self._norm(v, "n", x)
        for i in range(5):
            x = tf.tanh(self._norm(v, f"n{i}", tf.nn.bias_add(tf.matmul(x, v[f"w{i}"]), v[f"b{i}"])))
        return tf.nn.softmax(tf.nn.bias_add(tf.matmul(x, v["w5"]), v["b5"]))

    def onnx(self, g, x):
        def norm(name, x):
            return g.op("BatchNormalization", x, *(g.weight(f"{name}_{part}") for part in ("gamma", "beta", "mean", "variance")),
                        epsilon=self.epsilon)

        x = norm("n", x)
        for i in range(5):
            x = g.op("Tanh", norm(f"n{i}", g.op("Gemm", x, g.weight(f"w{i}"), g.weight(f"b{i}"))))
        return g.op("Softmax", g.op("Gemm", x, g.weight("w5"), g.weight("b5")), axis=-1)


class Cnn:
    """28x28x3: two 3x3 convolutions (16 and 24 channels) with gelu and 2x2 max pooling, then dense 10."""

    input_shape, outputs, dense = (28, 28, 3), 10, False

    def __init__(self):
        self.weights = Weights(28)
        self.weights.add("c0", (3, 3, 3, 16))
        self.weights.add("d0", (16,), 0.1)
        self.weights.add("c1", (3, 3, 16, 24))
        self.weights.add("d1", (24,), 0.1)
        self.weights.add("w", (1176, 10))
        self.weights.add("b", (10,), 0.1)
        self.flops = 2 * (28 * 28 * 9 * 3 * 16 + 14 * 14 * 9 * 16 * 24 + 1176 * 10)

    def tensorflow(self, v, x):
        for i in range(2):
            x = tf.nn.gelu(tf.nn.bias_add(tf.nn.conv2d(x, v[f"c{i}"], 1, "SAME"), v[f"d{i}"]))
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        return tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, 1176]), v["w"]), v["b"])

    def onnx(self, g, x):
        # ONNX convolves channels first: one transposition in; the dense layer's rows are reordered instead of one out.
        x = g.op("Transpose", x, perm=[0, 3, 1, 2])
        for i in range(2):
            kernel = g.weight(f"c{i}", lambda value: value.transpose(3, 2, 0, 1))
            x = g.op("Gelu", g.op("Conv", x, kernel, g.weight(f"d{i}"), kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
            x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        rows = g.weight("w", lambda value: value.reshape(7, 7, 24, 10).transpose(2, 0, 1, 3).reshape(1176, 10))
        return g.op("Gemm", g.op("Flatten", x), rows, g.weight("b"))


class UNet:
    """32x32x3: two levels down (16, 32, 64 channels; pairs of 3x3 convolutions, 2x2 max pooling) and up again, once by a
    transposed convolution and once by bilinear upsampling, each joined with what the level had; a probability per pixel."""

    input_shape, outputs, dense = (32, 32, 3), 32 * 32, False
    pairs = (("d0", 32, 3, 16), ("d1", 16, 16, 32), ("d2", 8, 32, 64), ("u1", 16, 64, 32), ("u0", 32, 48, 16))

    def __init__(self):
        self.weights = Weights(32)
        self.flops = 0
        for name, size, before, after in self.pairs:
            for part, channels in (("a", before), ("b", after)):
                self._add(name + part, (3, 3, channels, after), size)
        self._add("t", (2, 2, 32, 64), 8)  # as TensorFlow wants it: results before channels
        self.weights.values["tb"] = self.weights.values["tb"][:32]
        self._add("y", (1, 1, 16, 1), 32)

    def _add(self, name, shape, size):
        self.weights.add(name + "w", shape)
        self.weights.add(name + "b", shape[-1:], 0.1)
        self.flops += 2 * size * size * int(np.prod(shape))

    def tensorflow(self, v, x):
        def pair(name, x):
            for part in "ab":
                x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, v[name + part + "w"], 1, "SAME"), v[name + part + "b"]))
            return x

        d0 = pair("d0", x)
        d1 = pair("d1", tf.nn.max_pool2d(d0, 2, 2, "VALID"))
        d2 = pair("d2", tf.nn.max_pool2d(d1, 2, 2, "VALID"))
        up = tf.nn.conv2d_transpose(d2, v["tw"], [tf.shape(x)[0], 16, 16, 32], 2, "SAME")
        u1 = pair("u1", tf.concat([tf.nn.bias_add(up, v["tb"]), d1], 3))
        u0 = pair("u0", tf.concat([tf.image.resize(u1, (32, 32), "bilinear"), d0], 3))
        return tf.reshape(tf.sigmoid(tf.nn.bias_add(tf.nn.conv2d(u0, v["yw"], 1, "SAME"), v["yb"])), [-1, self.outputs])

    def onnx(self, g, x):
        def conv(name, x, size):
            kernel = g.weight(name + "w", lambda value: value.transpose(3, 2, 0, 1))
            return g.op("Conv", x, kernel, g.weight(name + "b"), kernel_shape=[size, size], pads=[size // 2] * 4)

        def pair(name, x):
            return g.op("Relu", conv(name + "b", g.op("Relu", conv(name + "a", x, 3)), 3))

        def pool(x):
            return g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])

        d0 = pair("d0", g.op("Transpose", x, perm=[0, 3, 1, 2]))
        d1 = pair("d1", pool(d0))
        d2 = pair("d2", pool(d1))
        kernel = g.weight("tw", lambda value: value.transpose(3, 2, 0, 1))
        up = g.op("ConvTranspose", d2, kernel, g.weight("tb"), kernel_shape=[2, 2], strides=[2, 2])
        u1 = pair("u1", g.op("Concat", up, d1, axis=1))
        scales = g.constant("scales", np.array([1, 1, 2, 2], np.float32))
        up = g.op("Resize", u1, "", scales, mode="linear", coordinate_transformation_mode="half_pixel")
        u0 = pair("u0", g.op("Concat", up, d0, axis=1))
        return g.op("Flatten", g.op("Sigmoid", conv("y", u0, 1)))


class Transformer:
    """16 particles of 8 features: embedding to 64, two blocks of 4-head attention and a 128-wide perceptron, each with a
    layer normalisation before and a sum around it; the mean over particles; 4 outputs."""

    input_shape, outputs, dense = (16, 8), 4, False
    particles, width, heads, hidden, blocks, epsilon = 16, 64, 4, 128, 2, 1e-5

    def __init__(self):
        self.weights = Weights(16)
        add, width, hidden = self.weights.add, self.width, self.hidden
        for name, shape in (("in", (8, width)), ("out", (width, 4))):
            add(f"{name}_w", shape)
            add(f"{name}_b", shape[1:], 0.1)
        for i in range(self.blocks):
            self.weights.add_norm(f"{i}_n0", width, moments=False)
            self.weights.add_norm(f"{i}_n1", width, moments=False)
            for name, shape in (("q", (width, width)), ("k", (width, width)), ("v", (width, width)), ("o", (width, width)),
                                ("up", (width, hidden)), ("down", (hidden, width))):
                add(f"{i}_{name}_w", shape, 1 / np.sqrt(shape[0]))
                add(f"{i}_{name}_b", shape[1:], 0.1)
        block = 2 * (4 * width * width + 2 * width * hidden + 2 * self.particles * width)
        self.flops = self.particles * (2 * 8 * width + self.blocks * block) + 2 * width * 4

    def tensorflow(self, v, x):
        def dense(name, x):
            return tf.nn.bias_add(tf.matmul(x, v[f"{name}_w"]), v[f"{name}_b"])

        def norm(name, x):
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            return tf.nn.batch_normalization(x, mean, variance, v[f"{name}_beta"], v[f"{name}_gamma"], self.epsilon)

        def heads(x):
            return tf.transpose(tf.reshape(x, [-1, self.particles, self.heads, self.width // self.heads]), [0, 2, 1, 3])

        x = dense("in", x)
        for i in range(self.blocks):
            y = norm(f"{i}_n0", x)
            q, k, value = (heads(dense(f"{i}_{name}", y)) for name in "qkv")
            scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / np.sqrt(self.width / self.heads).astype(np.float32))
            y = tf.reshape(tf.transpose(tf.matmul(scores, value), [0, 2, 1, 3]), [-1, self.particles, self.width])
            x = x + dense(f"{i}_o", y)
            x = x + dense(f"{i}_down", tf.nn.relu(dense(f"{i}_up", norm(f"{i}_n1", x))))
        return dense("out", tf.reduce_mean(x, 1))

    def onnx(self, g, x):
        def dense(name, x):
            return g.op("Add", g.op("MatMul", x, g.weight(f"{name}_w")), g.weight(f"{name}_b"))

        def norm(name, x):
            return g.op("LayerNormalization", x, g.weight(f"{name}_gamma"), g.weight(f"{name}_beta"), epsilon=self.epsilon)

        split = g.constant("split", np.array([0, self.particles, self.heads, self.width // self.heads], np.int64))
        merge = g.constant("merge", np.array([0, self.particles, self.width], np.int64))
        scale = g.constant("scale", np.sqrt(self.width / self.heads).astype(np.float32))

        def heads(x, perm):
            return g.op("Transpose", g.op("Reshape", x, split), perm=perm)

        x = dense("in", x)
        for i in range(self.blocks):
            y = norm(f"{i}_n0", x)
            q = heads(dense(f"{i}_q", y), [0, 2, 1, 3])
            k = heads(dense(f"{i}_k", y), [0, 2, 3, 1])
            value = heads(dense(f"{i}_v", y), [0, 2, 1, 3])
            scores = g.op("Softmax", g.op("Div", g.op("MatMul", q, k), scale), axis=-1)
            y = g.op("Reshape", g.op("Transpose", g.op("MatMul", scores, value), perm=[0, 2, 1, 3]), merge)
            x = g.op("Add", x, dense(f"{i}_o", y))
            x = g.op("Add", x, dense(f"{i}_down", g.op("Relu", dense(f"{i}_up", norm(f"{i}_n1", x)))))
        axes = g.constant("axes", np.array([1], np.int64))
        return dense("out", g.op("ReduceMean", x, axes, keepdims=0))


NETS = {
    "dense_10x128": lambda: Dense(10, 128),
    "dense_20x128": lambda: Dense(20, 128),
    "dense_10x256": lambda: Dense(10, 256),
    "cnn": Cnn,
    "transformer": Transformer,
    "unet": UNet,
    "batch_norm_5x128": BatchNormTanh,
}


def tensor_names(signature):
    """The plain placeholder and result in the graph of a loaded SavedModel."""
    return [signature.inputs["x"].name, signature.outputs["y"].name]


def save_model(net, folder, jit):
    module = tf.Module()
    module.variables_ = {name: tf.Variable(value, name=name) for name, value in net.weights.values.items()}
    specs = [tf.TensorSpec([None, *net.input_shape], tf.float32, name="x")]
    inner = tf.function(lambda x: net.tensorflow(module.variables_, x), jit_compile=jit or None)
    module.serve = tf.function(lambda x: {"y": inner(x) if jit else net.tensorflow(module.variables_, x)}, input_signature=specs)
    tf.saved_model.save(module, str(folder), signatures=module.serve)
    return module


def make_net(name, folder):
    net = NETS[name]()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    module = save_model(net, folder / "saved_model", jit=False)
    save_model(net, folder / "jit_model", jit=True)

    frozen = convert_variables_to_constants_v2(module.serve.get_concrete_function())
    (folder / "frozen_graph.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString(deterministic=True))
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder / "saved_model"))
    (folder / "net.tflite").write_bytes(converter.convert())
    graph = OnnxGraph(net.weights.values)
    graph.save(str(folder / "net.onnx"), net.input_shape, [net.outputs], net.onnx(graph, "x"))

    inputs = np.random.default_rng(1).normal(0, 1, (ROWS, *net.input_shape)).astype(np.float32)
    expected = module.serve(tf.constant(inputs))["y"].numpy()
    assert expected.shape == (ROWS, net.outputs) and np.isfinite(expected).all()
    inputs.tofile(folder / "inputs.bin")
    expected.tofile(folder / "expected.bin")

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], str(folder / "jit_model"))
        jit_names = tensor_names(meta.signature_def["serving_default"])
    described = {
        "name": name, "input_shape": list(net.input_shape), "output_size": net.outputs, "flops_per_row": net.flops,
        "dense": net.dense, "frozen_names": [frozen.inputs[0].name, frozen.outputs[0].name], "jit_names": jit_names,
        "weight_bytes": sum(value.nbytes for value in net.weights.values.values()),
    }
    (folder / "net.json").write_text(json.dumps(described, indent=2) + "\n")
    for config, model in (("aot_config", "saved_model: ./saved_model"), ("onnx_config", "format: onnx\n  onnx: ./net.onnx")):
        (folder / f"{config}.yaml").write_text(
            f"model:\n  name: {name}\n  version: \"1.0\"\n  {model}\n"
            f"compilation:\n  batch_sizes: [{', '.join(map(str, BATCH_SIZES))}]\n")


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
