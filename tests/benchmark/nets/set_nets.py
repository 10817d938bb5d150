# SPDX-License-Identifier: Apache-2.0
"""Nets on sets of particles and on graphs."""
import numpy as np
import tensorflow as tf

from nets.graphs import AnyNet, Net, Weights


class Transformer(AnyNet):
    """16 particles of 8 features: embedding to 64, two blocks of 4-head attention and a 128-wide perceptron, each with a
    layer normalisation before and a sum around it; the mean over particles; 4 outputs."""

    input_shape, outputs = (16, 8), 4
    particles, width, heads, hidden, blocks, epsilon = 16, 64, 4, 128, 2, 1e-5
    activation = "Relu"  # ONNX's name

    def __init__(self):
        self.weights = Weights(self.particles)
        add, width, hidden, features = self.weights.add, self.width, self.hidden, self.input_shape[1]
        for name, shape in (("in", (features, width)), ("out", (width, 4))):
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
        self.flops = self.particles * (2 * features * width + self.blocks * block) + 2 * width * 4

    def tensorflow(self, v, x):
        def dense(name, x):
            return tf.nn.bias_add(tf.matmul(x, v[f"{name}_w"]), v[f"{name}_b"])

        def norm(name, x):
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            return tf.nn.batch_normalization(x, mean, variance, v[f"{name}_beta"], v[f"{name}_gamma"], self.epsilon)

        def heads(x):
            return tf.transpose(tf.reshape(x, [-1, self.particles, self.heads, self.width // self.heads]), [0, 2, 1, 3])

        activate = {"Relu": tf.nn.relu, "Gelu": tf.nn.gelu}[self.activation]
        x = dense("in", x)
        for i in range(self.blocks):
            y = norm(f"{i}_n0", x)
            q, k, value = (heads(dense(f"{i}_{name}", y)) for name in "qkv")
            scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / np.sqrt(self.width / self.heads).astype(np.float32))
            y = tf.reshape(tf.transpose(tf.matmul(scores, value), [0, 2, 1, 3]), [-1, self.particles, self.width])
            x = x + dense(f"{i}_o", y)
            x = x + dense(f"{i}_down", activate(dense(f"{i}_up", norm(f"{i}_n1", x))))
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
            x = g.op("Add", x, dense(f"{i}_down", g.op(self.activation, dense(f"{i}_up", norm(f"{i}_n1", x)))))
        axes = g.constant("axes", np.array([1], np.int64))
        return dense("out", g.op("ReduceMean", x, axes, keepdims=0))


class Attention(Transformer):
    """The same for 64 particles of 16 features, 128 wide, three blocks of 8-head attention and a 256-wide perceptron."""

    input_shape = (64, 16)
    particles, width, heads, hidden, blocks = 64, 128, 8, 256, 3


class Transformer12x384(Transformer):
    """The same as large as language models that are called small: 128 tokens of 64 features, 384 wide, twelve blocks of 12-head
    attention and a 1536-wide perceptron with gelu."""

    input_shape, rows = (128, 64), 64
    particles, width, heads, hidden, blocks = 128, 384, 12, 1536, 12
    activation = "Gelu"


def rounded(coordinates):
    """So that squared distances are exact in float32."""
    return np.round(coordinates * 256) / 256


class ParticleNet(Net):
    """32 particles of 8 features, the first two of them coordinates: two edge convolutions over the 8 nearest others, each of three
    dense layers, the mean over the neighbours and a shortcut; the mean over the particles; dense 64, 5. The neighbours are found
    once: by features that were computed, rounding would decide between two that are as near."""

    input_shape = (32, 8)
    particles, count = 32, 8

    def inputs(self, random, rows):
        x = super().inputs(random, rows)
        drawn = np.arange(rows)
        while drawn.size > 0:  # until the nearest are the same for every engine
            x[drawn, :, :2] = rounded(random.normal(0, 1, (drawn.size, self.particles, 2)))
            distances = np.sort(np.square(x[drawn, :, None, :2] - x[drawn, None, :, :2]).sum(3), 2)
            drawn = drawn[(distances[..., self.count - 1] == distances[..., self.count]).any(1)]
        return x

    def build(self, g, x):
        place = g.slice(x, 0, 2)
        difference = g.subtract(g.expand(place, 2), g.expand(place, 1))
        nearest = g.nearest(g.sum(g.multiply(difference, difference), 3), self.count)
        for i, width in enumerate((32, 64)):
            own = g.tile(g.expand(x, 2), 2, self.count)
            edges = g.concat(own, g.subtract(g.neighbours(x, nearest), own))
            for j in range(3):
                edges = g.relu(g.dense(f"{i}_edge{j}", edges, width))
            x = g.relu(g.add(g.mean(edges, 2), g.dense(f"{i}_short", x, width)))
        return g.softmax(g.dense("out", g.relu(g.dense("layer", g.mean(x, 1), 64)), 5))


class GraphNet(Net):
    """24 nodes of 6 features: two rounds of messages along 96 fixed edges, summed at their ends, then two along all pairs that are
    near, divided by their number; the mean over the nodes; dense 32, 3."""

    input_shape = (24, 6)
    nodes, edges = 24, 96

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        self.ends = random.integers(0, self.nodes, (2, self.edges))
        self.arrivals = np.zeros((self.nodes, self.edges), np.float32)
        self.arrivals[self.ends[1], np.arange(self.edges)] = 1
        super().__init__(seed)

    def inputs(self, random, rows):
        x = super().inputs(random, rows)
        x[..., :2] = rounded(x[..., :2])
        return x

    def build(self, g, x):
        place = g.slice(x, 0, 2)
        difference = g.subtract(g.expand(place, 2), g.expand(place, 1))
        near = g.below(g.sum(g.multiply(difference, difference), 3), 1.0)  # each node is near itself
        near = g.divide(near, g.expand(g.sum(near, 2), 2))
        for i in range(2):
            edges = g.concat(g.take(x, self.ends[0]), g.take(x, self.ends[1]))
            edges = g.relu(g.dense(f"{i}_edge", edges, 32))
            x = g.relu(g.dense(f"{i}_node", g.concat(x, g.product_by(self.arrivals, edges)), 32))
        for i in range(2, 4):
            x = g.relu(g.add(g.dense(f"{i}_own", x, 32), g.product(near, g.dense(f"{i}_near", x, 32))))
        return g.dense("out", g.relu(g.dense("layer", g.mean(x, 1), 32)), 3)
