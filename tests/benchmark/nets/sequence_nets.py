# SPDX-License-Identifier: Apache-2.0
"""Nets on sequences."""
from nets.graphs import Net


class Lstm(Net):
    """20 steps of 16 features, an LSTM of 64, dense 5 of its last state."""

    input_shape, recurrent = (20, 16), True

    def build(self, g, x):
        return g.dense("out", g.lstm("lstm", x, 64), 5)


class Gru(Net):
    """30 steps of 8 features, a GRU of 48 over its outputs another, dense 3 of the last state."""

    input_shape, recurrent = (30, 8), True

    def build(self, g, x):
        return g.dense("out", g.gru("second", g.gru("first", x, 48, sequences=True), 48), 3)


class DeepJet(Net):
    """As CMS's DeepJet: 1x1 convolutions and an LSTM over 25 particles of 16 features and over 4 vertices of 12, joined with 15
    numbers of the jet; dense 200 and five times 100; six classes."""

    input_shape, recurrent = (25 * 16 + 4 * 12 + 15,), True

    def build(self, g, x):
        particles = g.image(g.reshape(g.slice(x, 0, 400), 25, 16))
        vertices = g.image(g.reshape(g.slice(x, 400, 448), 4, 12))
        for i, width in enumerate((64, 32, 32, 8)):
            particles = g.relu(g.conv1d(f"particles{i}", particles, 1, width))
        for i, width in enumerate((64, 32, 32, 8)):
            vertices = g.relu(g.conv1d(f"vertices{i}", vertices, 1, width))
        x = g.concat(g.lstm("particles", g.sequence(particles), 150), g.lstm("vertices", g.sequence(vertices), 50), g.slice(x, 448, 463))
        for i, width in enumerate((200, 100, 100, 100, 100, 100)):
            x = g.relu(g.dense(f"layer{i}", x, width))
        return g.softmax(g.dense("out", x, 6))


class Separable(Net):
    """128 samples of 8 channels: a convolution to 32; depthwise convolutions of 5, dilated 1, 2, 4 and 8 times, each before a 1x1
    convolution; the mean over the samples, dense 8."""

    input_shape = (128, 8)

    def build(self, g, x):
        x = g.relu(g.conv1d("in", g.image(x), 3, 32))
        for i in range(4):
            x = g.relu(g.conv1d(f"{i}_along", g.depthwise1d(f"{i}_across", x, 5, 2 ** i), 1, 32))
        return g.dense("out", g.mean_of_image(x), 8)
