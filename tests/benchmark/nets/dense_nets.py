# SPDX-License-Identifier: Apache-2.0
"""Nets of dense layers."""
import numpy as np
import tensorflow as tf

from nets.graphs import AnyNet, Net, Weights


class Dense(AnyNet):
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


class BatchNormTanh(AnyNet):
    """As cms-tfaot's example: 4 inputs, five times dense 128, batch normalisation and tanh, then 2 outputs and softmax."""

    input_shape, outputs = (4,), 2
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


class Autoencoder(Net):
    """57 inputs through 32, 16 and 3 and back; the mean squared error of what comes out."""

    input_shape = (57,)

    def build(self, g, x):
        y = x
        for i, width in enumerate((32, 16, 3, 16, 32)):
            y = g.relu(g.dense(f"layer{i}", y, width))
        error = g.subtract(x, g.dense("result", y, 57))  # the other way round OpenVINO 2026.4.1 crashes
        return g.reshape(g.mean(g.multiply(error, error), 1), 1)


class Mixer(Net):
    """32 particles of 16 features, 64 wide; four blocks, each a perceptron over particles and one over features."""

    input_shape = (32, 16)

    def build(self, g, x):
        x = g.dense("in", x, 64)
        for i in range(4):
            y = g.swap(g.layer_norm(f"{i}_n0", x))
            y = g.dense(f"{i}_across_down", g.gelu(g.dense(f"{i}_across_up", y, 64)), 32)
            x = g.add(x, g.swap(y))
            y = g.dense(f"{i}_up", g.layer_norm(f"{i}_n1", x), 128)
            x = g.add(x, g.dense(f"{i}_down", g.gelu(y), 64))
        return g.dense("out", g.mean(x, 1), 5)


class Embedding(Net):
    """Eight categories of 100 entries, looked up in tables of width 8, and 16 numbers; then dense 128, 128, 4."""

    input_shape = (24,)
    categories, entries, width = 8, 100, 8

    def inputs(self, random, rows):
        x = super().inputs(random, rows)
        x[:, :self.categories] = random.integers(0, self.entries, (rows, self.categories))
        return x

    def build(self, g, x):
        tables = [g.lookup(f"table{i}", g.reshape(g.slice(x, i, i + 1)), self.entries, self.width) for i in range(self.categories)]
        x = g.concat(*tables, g.slice(x, self.categories, 24))
        for i in range(2):
            x = g.relu(g.dense(f"layer{i}", x, 128))
        return g.softmax(g.dense("out", x, 4))


class Flow(Net):
    """The logarithm of a density by a normalising flow: six affine couplings of 8 numbers, each with dense 64, 64."""

    input_shape = (8,)

    def build(self, g, x):
        kept, moved = g.slice(x, 0, 4), g.slice(x, 4, 8)
        volume = None
        for i in range(6):
            y = g.relu(g.dense(f"{i}_b", g.relu(g.dense(f"{i}_a", kept, 64)), 64))
            both = g.dense(f"{i}_c", y, 8, scale=0.05)
            log_scale = g.tanh(g.slice(both, 0, 4))
            moved = g.add(g.multiply(moved, g.exp(log_scale)), g.slice(both, 4, 8))
            part = g.sum(log_scale, 1)
            volume = part if volume is None else g.add(volume, part)
            kept, moved = moved, kept
        z = g.concat(kept, moved)
        return g.reshape(g.subtract(volume, g.scale(g.sum(g.multiply(z, z), 1), 0.5)), 1)
