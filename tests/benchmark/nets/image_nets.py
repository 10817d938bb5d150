# SPDX-License-Identifier: Apache-2.0
"""Nets on images."""
import numpy as np
import tensorflow as tf

from nets.graphs import AnyNet, Net, Weights


class Cnn(AnyNet):
    """28x28x3: two 3x3 convolutions (16 and 24 channels) with gelu and 2x2 max pooling, then dense 10."""

    input_shape, outputs = (28, 28, 3), 10

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


class UNet(AnyNet):
    """32x32x3: two levels down (16, 32, 64 channels; pairs of 3x3 convolutions, 2x2 max pooling) and up again, once by a
    transposed convolution and once by bilinear upsampling, each joined with what the level had; a probability per pixel."""

    input_shape, outputs, jit_thunks = (32, 32, 3), 32 * 32, True
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


class MobileNet(Net):
    """32x32x3: a convolution to 16 channels with stride 2, seven blocks of 1x1, depthwise 3x3 and 1x1 convolutions with batch
    normalisation and relu6, the mean over the image, dense 10."""

    input_shape = (32, 32, 3)
    blocks = ((16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (64, 1), (64, 1))  # channels, stride

    def build(self, g, x):
        x = g.relu6(g.batch_norm("n", g.conv("in", g.image(x), 3, 16, stride=2)))
        before = 16
        for i, (after, stride) in enumerate(self.blocks):
            y = g.relu6(g.batch_norm(f"{i}_n0", g.conv(f"{i}_up", x, 1, 6 * before)))
            y = g.relu6(g.batch_norm(f"{i}_n1", g.depthwise(f"{i}_across", y, 3, stride)))
            y = g.batch_norm(f"{i}_n2", g.conv(f"{i}_down", y, 1, after))
            x = g.add(x, y) if stride == 1 and before == after else y
            before = after
        return g.dense("out", g.mean_of_image(x), 10)


class Residual(Net):
    """16x16x4: a 3x3 convolution to 32 channels and three blocks of two with a sum around them; batch normalisation, relu; the mean
    over the image, dense 5."""

    input_shape = (16, 16, 4)

    def build(self, g, x):
        x = g.relu(g.batch_norm("n", g.conv("in", g.image(x), 3, 32)))
        for i in range(3):
            y = g.relu(g.batch_norm(f"{i}_n0", g.conv(f"{i}_a", x, 3, 32)))
            x = g.relu(g.add(x, g.batch_norm(f"{i}_n1", g.conv(f"{i}_b", y, 3, 32))))
        return g.dense("out", g.mean_of_image(x), 5)


class QuantizedResidual(Residual):
    """The same in 8-bit whole numbers, as exporters write it for ONNX Runtime and LiteRT."""

    format, quantized, tolerance = "onnx", True, 0.1

    def other_inputs(self, x):
        return {}  # beyond the range that was calibrated


class ResNet50(Net):
    """The layers of ResNet-50, half as wide, on 64x64x3: 7x7 with stride 2, max pooling, 16 blocks of 1x1, 3x3 and 1x1 with batch
    normalisation, the mean over the image, dense 100."""

    input_shape, rows, width, classes = (64, 64, 3), 256, 32, 100

    def build(self, g, x):
        x = g.relu(g.batch_norm("n", g.conv("in", g.image(x), 7, self.width, stride=2)))
        x = g.max_pool(x, 3, 2)
        for stage, blocks in enumerate((3, 4, 6, 3)):
            width = self.width * 2 ** stage
            for block in range(blocks):
                name, stride = f"{stage}_{block}", 2 if block == 0 and stage > 0 else 1
                y = g.relu(g.batch_norm(f"{name}_n0", g.conv(f"{name}_a", x, 1, width)))
                y = g.relu(g.batch_norm(f"{name}_n1", g.conv(f"{name}_b", y, 3, width, stride)))
                y = g.batch_norm(f"{name}_n2", g.conv(f"{name}_c", y, 1, 4 * width))
                x = x if block else g.batch_norm(f"{name}_n", g.conv(f"{name}_d", x, 1, 4 * width, stride))
                x = g.relu(self.joined(g, x, y))
        return g.dense("out", g.mean_of_image(x), self.classes)

    def joined(self, g, x, y):
        return g.scale(g.add(x, y), 0.7)  # as the weights are random: so that values stay near 1


class QuantizedResNet50(ResNet50):
    """The same in 8-bit whole numbers."""

    format, quantized, tolerance = "onnx", True, 0.2  # its weights are random, so steps add up

    def other_inputs(self, x):
        return {}


class FullResNet50(ResNet50):
    """ResNet-50 as it is, on 224x224x3, with 1000 classes."""

    input_shape, rows, width, classes = (224, 224, 3), 64, 64, 1000

    def joined(self, g, x, y):
        return g.add(x, y)
