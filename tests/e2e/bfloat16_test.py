# SPDX-License-Identifier: Apache-2.0
"""compilation.compute: bfloat16, compared with numpy: operands rounded to bfloat16, sums of float64."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, os.environ["TFAOT_PYTHON_PATH"])
import tfaot

SIZES = (1, 4, 16)


# ONNX files, as protocol buffers.


def number(value):
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def field(tag, value):
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(value)) + value


def tensor_of(name, array):
    dims = b"".join(field(1, size) for size in array.shape)
    return dims + field(2, 1) + field(8, name) + field(9, array.astype("<f4").tobytes())


def attribute_of(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    return field(1, name) + b"".join(field(8, one) for one in value) + field(20, 7)


def value_of(name, shape):
    sizes = b"".join(field(1, field(2, s) if isinstance(s, str) else field(1, s)) for s in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, sizes)))


class Net:
    """A chain of layers; the tensor before layer i is "t<i>"."""

    def __init__(self, shape):
        self.shape = shape
        self.nodes = b""
        self.weights = b""
        self.count = 0

    def add(self, operation, weights=(), **attributes):
        names = [f"t{self.count}"]
        for i, array in enumerate(weights):
            names.append(f"w{self.count}_{i}")
            self.weights += field(5, tensor_of(names[-1], array))
        self.count += 1
        node = b"".join(field(1, name) for name in names) + field(2, f"t{self.count}") + field(4, operation)
        node += b"".join(field(5, attribute_of(name, value)) for name, value in attributes.items())
        self.nodes += field(1, node)

    def write(self, file, columns):
        graph = self.nodes + field(2, "net") + self.weights
        graph += field(11, value_of("t0", ("N", *self.shape))) + field(12, value_of(f"t{self.count}", ("N", *columns)))
        file.write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)))


# What they compute.


def rounded(array):
    """To bfloat16, to nearest, ties to even, as float64."""
    bits = np.ascontiguousarray(array, "float32").view("uint32").astype("uint64")
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return bits.astype("uint32").view("float32").astype("float64")


def exact(array):
    return np.asarray(array, "float64")


def convolved(x, w, b, round_operands):
    """[N, C, H, W] by [K, C, 3, 3], padded by one, in steps of two."""
    height, width = x.shape[2:]
    padded = np.pad(round_operands(x), ((0, 0), (0, 0), (1, 1), (1, 1)))
    made = sum(
        np.einsum("nchw,kc->nkhw", padded[:, :, i : i + height : 2, j : j + width : 2], round_operands(w)[:, :, i, j])
        for i in range(3)
        for j in range(3)
    )
    return (made + b[:, None, None]).astype("float32")


class Bfloat16Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tfaot bfloat16 ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = np.random.default_rng(3)

    def weights(self, *shape):
        return self.random.normal(0, 1 / np.sqrt(np.prod(shape[1:] if len(shape) > 2 else shape[:1])), shape).astype("float32")

    def predictions(self, x):
        """By each level that this machine has; checks that a row has the same bits in any batch."""
        sizes = ",".join(map(str, SIZES))
        subprocess.run(
            [os.environ["TFAOT_TOOL"], "compile", "net.onnx", "-o", "out", "-q", "--batch-sizes", sizes, "--compute", "bfloat16"],
            cwd=self.folder,
            check=True,
        )
        best = tfaot.Model(self.folder / "out").cpu_level
        levels = ["x86-64", "x86-64-v3", "x86-64-v4"] if best.startswith("x86") else [best]
        for level in levels[: levels.index(best) + 1]:
            model = tfaot.Model(self.folder / "out", cpu_level=level)
            (found,) = model.run({"t0": x}).values()
            for rows in (1, 3, 4, 7):
                (parts,) = zip(*(model.run({"t0": x[i : i + rows]}).values() for i in range(0, len(x), rows)))
                np.testing.assert_array_equal(np.concatenate(parts), found, err_msg=f"{level}, batches of {rows}")
            yield found

    def check(self, found, expected, in_float32):
        """An operand near a tie may be rounded to its other neighbour, as sums have another order: so in few numbers."""
        scale = np.abs(expected).max()
        differences = np.sort(np.abs(found - expected).ravel()) / scale
        self.assertLess(differences[-1], 0.005)
        self.assertLess(differences[int(0.9 * differences.size)], 2e-6)
        self.assertGreater(np.abs(found - in_float32).max() / scale, 1e-3)

    def test_a_layer(self):
        w, b = self.weights(95, 50), self.weights(50)
        net = Net((95,))
        net.add("Gemm", (w, b))
        net.write(self.folder / "net.onnx", (50,))
        x = self.random.normal(size=(16, 95)).astype("float32")
        for found in self.predictions(x):
            np.testing.assert_allclose(found, rounded(x) @ rounded(w) + b, rtol=0, atol=5e-6)

    def test_a_dense_net(self):
        layers = [(self.weights(*shape), self.weights(shape[1])) for shape in ((77, 64), (64, 90), (90, 50))]
        net = Net((77,))
        for i, layer in enumerate(layers):
            net.add("Gemm", layer)
            if i < 2:
                net.add("Relu" if i == 0 else "Tanh")
        net.write(self.folder / "net.onnx", (50,))
        x = self.random.normal(size=(16, 77)).astype("float32")

        def computed(operand):
            y = x
            for i, (w, b) in enumerate(layers):
                y = (operand(y) @ operand(w) + b).astype("float32")
                y = np.maximum(y, 0) if i == 0 else np.tanh(y) if i == 1 else y
            return y

        for found in self.predictions(x):
            self.check(found, computed(rounded), computed(exact))

    def test_a_convolutional_net(self):
        first, second = self.weights(96, 5, 3, 3), self.weights(48, 96, 3, 3)
        biases = self.weights(96), self.weights(48)
        dense = self.weights(48 * 16, 10), self.weights(10)
        net = Net((5, 15, 15))
        for w, b in zip((first, second), biases):
            net.add("Conv", (w, b), kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
            net.add("Relu")
        net.add("Flatten")
        net.add("Gemm", dense)
        net.write(self.folder / "net.onnx", (10,))
        x = self.random.normal(size=(16, 5, 15, 15)).astype("float32")

        def computed(operand):
            y = x
            for w, b in zip((first, second), biases):
                y = np.maximum(convolved(y, w, b, operand), 0)
            return operand(y.reshape(16, -1)) @ operand(dense[0]) + dense[1]

        for found in self.predictions(x):
            self.check(found, computed(rounded), computed(exact))


if __name__ == "__main__":
    unittest.main()
