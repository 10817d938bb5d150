# SPDX-License-Identifier: Apache-2.0
"""What nets are written with: seeded weights, a graph of ONNX, and a vocabulary of layers with two writers, so that most nets are
written once (`Net`). Images lie as each side wants them: channels last in TensorFlow, first in ONNX."""
import numpy as np
import onnx
import tensorflow as tf
from onnx import TensorProto, helper, numpy_helper


class Weights:
    """Seeded weights by name, handed to TensorFlow and to ONNX alike."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.values = {}

    def add(self, name, shape, scale=None):
        scale = np.sqrt(2 / np.prod(shape[:-1])) if scale is None else scale
        self.values[name] = self.random.normal(0, scale, shape).astype(np.float32)

    def once(self, name, shape, scale=None):
        if name not in self.values:
            self.add(name, shape, scale)
        return self.values[name]

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
        domains = {"": 20, **{node.domain: 3 for node in self.nodes if node.domain}}
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*version) for version in domains.items()], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def same_padding(size, kernel, stride, dilation):
    """What TensorFlow's "SAME" puts before and after an axis."""
    total = max((-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


class TensorFlowWriter:
    """Writes layers as Keras does. `variables`: those that TensorFlow holds by name; without one the value is taken. `unroll`: no
    loops. Counts multiplications and additions of products, two for each pair."""

    def __init__(self, weights, variables, unroll=False):
        self.weights, self.variables, self.unroll, self.flops = weights, variables, unroll, 0

    def _weight(self, name, shape, scale=None):
        value = self.weights.once(name, shape, scale)
        return self.variables.get(name, value)

    def image(self, x):
        return x

    def sequence(self, x):
        """An image of one dimension, with its channels last."""
        return x

    def dense(self, name, x, after, scale=None):
        before = x.shape[-1]
        self.flops += 2 * int(np.prod(x.shape[1:])) * after
        return tf.nn.bias_add(tf.matmul(x, self._weight(name + "_w", (before, after), scale)), self._weight(name + "_b", (after,), 0.1))

    def conv(self, name, x, kernel, after, stride=1):
        y = tf.nn.conv2d(x, self._weight(name + "_w", (kernel, kernel, x.shape[-1], after)), stride, "SAME")
        self.flops += 2 * int(np.prod(y.shape[1:])) * kernel * kernel * x.shape[-1]
        return tf.nn.bias_add(y, self._weight(name + "_b", (after,), 0.1))

    def depthwise(self, name, x, kernel, stride=1):
        y = tf.nn.depthwise_conv2d(x, self._weight(name + "_w", (kernel, kernel, x.shape[-1], 1), 1 / kernel), [1, stride, stride, 1], "SAME")
        self.flops += 2 * int(np.prod(y.shape[1:])) * kernel * kernel
        return tf.nn.bias_add(y, self._weight(name + "_b", (x.shape[-1],), 0.1))

    def conv1d(self, name, x, kernel, after):
        self.flops += 2 * int(np.prod(x.shape[1:])) * kernel * after
        return tf.nn.bias_add(tf.nn.conv1d(x, self._weight(name + "_w", (kernel, x.shape[-1], after)), 1, "SAME"),
                              self._weight(name + "_b", (after,), 0.1))

    def depthwise1d(self, name, x, kernel, dilation):
        self.flops += 2 * int(np.prod(x.shape[1:])) * kernel
        weight = tf.expand_dims(self._weight(name + "_w", (kernel, x.shape[-1], 1), kernel ** -0.5), 0)
        y = tf.nn.depthwise_conv2d(tf.expand_dims(x, 1), weight, [1, 1, 1, 1], "SAME", dilations=[1, dilation])
        return tf.nn.bias_add(tf.squeeze(y, 1), self._weight(name + "_b", (x.shape[-1],), 0.1))

    def batch_norm(self, name, x):
        width = x.shape[-1]
        if name + "_gamma" not in self.weights.values:
            self.weights.add_norm(name, width, moments=True)
        parts = [self._weight(f"{name}_{part}", (width,)) for part in ("gamma", "beta", "mean", "variance")]
        return tf.compat.v1.nn.fused_batch_norm(x, *parts, epsilon=1e-3, is_training=False)[0]

    def layer_norm(self, name, x):
        width = x.shape[-1]
        if name + "_gamma" not in self.weights.values:
            self.weights.add_norm(name, width, moments=False)
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, self._weight(name + "_beta", (width,)),
                                         self._weight(name + "_gamma", (width,)), 1e-5)

    def lstm(self, name, x, units, sequences=False):
        w, u, b = self._recurrent(name, x, units, 4, (4 * units,))

        def step(x, states):
            h, c = states
            i, f, g, o = tf.split(tf.nn.bias_add(tf.matmul(x, w) + tf.matmul(h, u), b), 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            return h, [h, c]

        return self._loop(step, x, units, 2, sequences)

    def gru(self, name, x, units, sequences=False):
        w, u, b = self._recurrent(name, x, units, 3, (2, 3 * units))

        def step(x, states):
            (h,) = states
            xz, xr, xg = tf.split(tf.nn.bias_add(tf.matmul(x, w), b[0]), 3, axis=1)
            hz, hr, hg = tf.split(tf.nn.bias_add(tf.matmul(h, u), b[1]), 3, axis=1)
            z, r = tf.sigmoid(xz + hz), tf.sigmoid(xr + hr)
            h = z * h + (1 - z) * tf.tanh(xg + r * hg)
            return h, [h]

        return self._loop(step, x, units, 1, sequences)

    def _recurrent(self, name, x, units, gates, bias):
        steps, features = x.shape[1:]
        self.flops += 2 * steps * (features + units) * gates * units
        return (self._weight(name + "_w", (features, gates * units), 1 / np.sqrt(features)),
                self._weight(name + "_u", (units, gates * units), 1 / np.sqrt(units)), self._weight(name + "_b", bias, 0.1))

    def _loop(self, step, x, units, states, sequences):
        zero = tf.zeros([tf.shape(x)[0], units])
        last, every, _ = tf.keras.backend.rnn(step, x, [zero] * states, return_all_outputs=sequences, unroll=self.unroll)
        return tf.ensure_shape(every, [None, x.shape[1], units]) if sequences else tf.ensure_shape(last, [None, units])

    def relu(self, x):
        return tf.nn.relu(x)

    def relu6(self, x):
        return tf.nn.relu6(x)

    def gelu(self, x):
        return tf.nn.gelu(x)

    def tanh(self, x):
        return tf.tanh(x)

    def exp(self, x):
        return tf.exp(x)

    def softmax(self, x):
        return tf.nn.softmax(x)

    def add(self, x, y):
        return x + y

    def subtract(self, x, y):
        return x - y

    def multiply(self, x, y):
        return x * y

    def scale(self, x, number):
        return x * np.float32(number)

    def concat(self, *parts):
        return tf.concat(parts, -1)

    def sum(self, x, axis):
        return tf.reduce_sum(x, axis)

    def mean(self, x, axis):
        return tf.reduce_mean(x, axis)

    def mean_of_image(self, x):
        """Over all but the channels."""
        return tf.reduce_mean(x, list(range(1, len(x.shape) - 1)))

    def max_pool(self, x, kernel, stride):
        return tf.nn.max_pool2d(x, kernel, stride, "SAME")

    def slice(self, x, start, end):
        """Of the last axis."""
        return x[..., start:end]

    def reshape(self, x, *shape):
        """Of a row."""
        return tf.reshape(x, [-1, *shape])

    def swap(self, x):
        """The two axes of a row."""
        return tf.transpose(x, [0, 2, 1])

    def expand(self, x, axis):
        return tf.expand_dims(x, axis)

    def tile(self, x, axis, count):
        """Repeats an axis of size 1."""
        return tf.tile(x, [count if i == axis else 1 for i in range(len(x.shape))])

    def lookup(self, name, x, entries, width):
        """Rows of a table, by floats that are whole numbers."""
        return tf.gather(self._weight(name, (entries, width), 1), tf.cast(x, tf.int32))

    def take(self, x, indices):
        """These of the first axis of a row, the same in all rows."""
        return tf.gather(x, np.asarray(indices, np.int32), axis=1)

    def nearest(self, distances, count):
        """[rows, n, n] -> the indices of the smallest."""
        return tf.math.top_k(-distances, count)[1]

    def neighbours(self, x, indices):
        """[rows, n, width], [rows, n, count] -> [rows, n, count, width]."""
        return tf.gather(x, indices, batch_dims=1)

    def below(self, x, limit):
        return tf.cast(x < limit, tf.float32)

    def divide(self, x, y):
        return x / y

    def product(self, x, y):
        self.flops += 2 * int(np.prod(x.shape[1:])) * y.shape[-1]
        return tf.matmul(x, y)

    def product_by(self, matrix, x):
        """A constant matrix times each row."""
        self.flops += 2 * matrix.shape[0] * int(np.prod(x.shape[1:]))
        return tf.matmul(matrix, x)


class OnnxWriter:
    """The same layers as an exporter would write them at its best. Sizes come along with the names of tensors: (name, row shape)."""

    def __init__(self, graph):
        self.graph = graph

    def _op(self, kind, shape, *inputs, **attributes):
        return self.graph.op(kind, *(x[0] if isinstance(x, tuple) else x for x in inputs), **attributes), tuple(shape)

    def _constant(self, value):
        return self.graph.constant(f"constant_{len(self.graph.constants)}", value)

    def _integers(self, *values):
        return self._constant(np.array(values, np.int64))

    def image(self, x):
        *sizes, channels = x[1]
        return self._op("Transpose", (channels, *sizes), x, perm=[0, len(x[1]), *range(1, len(x[1]))])

    def sequence(self, x):
        return self.swap(x)

    def dense(self, name, x, after, scale=None):  # which the weights have already
        w, b, shape = self.graph.weight(name + "_w"), self.graph.weight(name + "_b"), (*x[1][:-1], after)
        if len(shape) == 1:
            return self._op("Gemm", shape, x, w, b)
        return self._op("Add", shape, self._op("MatMul", shape, x, w), b)

    def _conv(self, name, x, kernels, after, strides, dilations, groups, change):
        sizes = [-(-size // stride) for size, stride in zip(x[1][1:], strides)]
        pads = [same_padding(*axis) for axis in zip(x[1][1:], kernels, strides, dilations)]
        return self._op("Conv", (after, *sizes), x, self.graph.weight(name + "_w", change), self.graph.weight(name + "_b"),
                        kernel_shape=kernels, strides=strides, dilations=dilations, group=groups,
                        pads=[before for before, _ in pads] + [behind for _, behind in pads])

    def conv(self, name, x, kernel, after, stride=1):
        return self._conv(name, x, [kernel] * 2, after, [stride] * 2, [1, 1], 1, lambda value: value.transpose(3, 2, 0, 1))

    def depthwise(self, name, x, kernel, stride=1):
        return self._conv(name, x, [kernel] * 2, x[1][0], [stride] * 2, [1, 1], x[1][0], lambda value: value.transpose(2, 3, 0, 1))

    def conv1d(self, name, x, kernel, after):
        return self._conv(name, x, [kernel], after, [1], [1], 1, lambda value: value.transpose(2, 1, 0))

    def depthwise1d(self, name, x, kernel, dilation):
        return self._conv(name, x, [kernel], x[1][0], [1], [dilation], x[1][0], lambda value: value.transpose(1, 2, 0))

    def batch_norm(self, name, x):
        return self._op("BatchNormalization", x[1], x, *(self.graph.weight(f"{name}_{part}") for part in ("gamma", "beta", "mean", "variance")),
                        epsilon=1e-3)

    def layer_norm(self, name, x):
        return self._op("LayerNormalization", x[1], x, self.graph.weight(name + "_gamma"), self.graph.weight(name + "_beta"), epsilon=1e-5)

    def lstm(self, name, x, units, sequences=False):
        return self._recurrent("LSTM", name, x, units, (0, 3, 1, 2), sequences)

    def gru(self, name, x, units, sequences=False):
        return self._recurrent("GRU", name, x, units, (0, 1, 2), sequences, linear_before_reset=1)

    def _recurrent(self, kind, name, x, units, order, sequences, **attributes):
        """order: of TensorFlow's gates, as ONNX wants them."""
        def gates(value):
            return np.concatenate([np.split(value, len(order), -1)[i] for i in order], -1)

        w = self.graph.weight(name + "_w", lambda value: gates(value).T[np.newaxis])
        u = self.graph.weight(name + "_u", lambda value: gates(value).T[np.newaxis])
        # One bias for the inputs' product and one for the state's; Keras' LSTM has only the first.
        b = self.graph.weight(name + "_b", lambda value: gates(value if value.ndim == 2 else np.stack([value, 0 * value])).reshape(1, -1))
        steps, features = x[1]
        in_time = self._op("Transpose", x[1], x, perm=[1, 0, 2])
        every, last = f"{name}_every", f"{name}_last"
        self.graph.nodes.append(helper.make_node(kind, [in_time[0], w, u, b], [every if sequences else "", last], hidden_size=units, **attributes))
        if not sequences:
            return self._op("Squeeze", (units,), last, self._integers(0))
        return self._op("Transpose", (steps, units), self._op("Squeeze", (steps, units), every, self._integers(1)), perm=[1, 0, 2])

    def relu(self, x):
        return self._op("Relu", x[1], x)

    def relu6(self, x):
        return self._op("Clip", x[1], x, self._constant(np.float32(0)), self._constant(np.float32(6)))

    def gelu(self, x):
        return self._op("Gelu", x[1], x)

    def tanh(self, x):
        return self._op("Tanh", x[1], x)

    def exp(self, x):
        return self._op("Exp", x[1], x)

    def softmax(self, x):
        return self._op("Softmax", x[1], x, axis=-1)

    def _both(self, kind, x, y):
        return self._op(kind, np.broadcast_shapes(x[1], y[1]), x, y)

    def add(self, x, y):
        return self._both("Add", x, y)

    def subtract(self, x, y):
        return self._both("Sub", x, y)

    def multiply(self, x, y):
        return self._both("Mul", x, y)

    def divide(self, x, y):
        return self._both("Div", x, y)

    def scale(self, x, number):
        return self._op("Mul", x[1], x, self._constant(np.float32(number)))

    def concat(self, *parts):
        return self._op("Concat", (*parts[0][1][:-1], sum(part[1][-1] for part in parts)), *parts, axis=-1)

    def _reduce(self, kind, x, axis):
        return self._op(kind, x[1][:axis - 1] + x[1][axis:], x, self._integers(axis), keepdims=0)

    def sum(self, x, axis):
        return self._reduce("ReduceSum", x, axis)

    def mean(self, x, axis):
        return self._reduce("ReduceMean", x, axis)

    def mean_of_image(self, x):
        return self._op("Flatten", x[1][:1], self._op("GlobalAveragePool", x[1], x))

    def max_pool(self, x, kernel, stride):
        channels, *sizes = x[1]
        pads = [same_padding(size, kernel, stride, 1) for size in sizes]
        return self._op("MaxPool", (channels, *(-(-size // stride) for size in sizes)), x, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                        pads=[before for before, _ in pads] + [behind for _, behind in pads])

    def slice(self, x, start, end):
        return self._op("Slice", (*x[1][:-1], end - start), x, self._integers(start), self._integers(end), self._integers(-1))

    def reshape(self, x, *shape):
        return self._op("Reshape", shape, x, self._integers(0, *shape))

    def swap(self, x):
        return self._op("Transpose", x[1][::-1], x, perm=[0, 2, 1])

    def expand(self, x, axis):
        return self._op("Unsqueeze", (*x[1][:axis - 1], 1, *x[1][axis - 1:]), x, self._integers(axis))

    def tile(self, x, axis, count):
        repeats = [count if i == axis else 1 for i in range(len(x[1]) + 1)]
        return self._op("Tile", tuple(size * times for size, times in zip(x[1], repeats[1:])), x, self._integers(*repeats))

    def lookup(self, name, x, entries, width):
        indices = self._op("Cast", x[1], x, to=TensorProto.INT64)
        return self._op("Gather", (*x[1], width), self.graph.weight(name), indices)

    def take(self, x, indices):
        return self._op("Gather", (len(indices), *x[1][1:]), x, self._integers(*indices), axis=1)

    def nearest(self, distances, count):
        indices = f"nearest_{len(self.graph.nodes)}"
        self.graph.nodes.append(helper.make_node("TopK", [distances[0], self._integers(count)], [indices + "_values", indices], axis=-1,
                                                 largest=0))
        return indices, (distances[1][0], count)

    def neighbours(self, x, indices):
        n, count = indices[1]
        places = self._op("Unsqueeze", (n, count, 1), indices, self._integers(-1))
        return self._op("GatherND", (n, count, x[1][1]), x, places, batch_dims=1)

    def below(self, x, limit):
        return self._op("Cast", x[1], self._op("Less", x[1], x, self._constant(np.float32(limit))), to=TensorProto.FLOAT)

    def product(self, x, y):
        return self._op("MatMul", (*x[1][:-1], y[1][-1]), x, y)

    def product_by(self, matrix, x):
        return self._op("MatMul", (matrix.shape[0], *x[1][1:]), self._constant(matrix), x)


class AnyNet:
    """A class of nets says input_shape, outputs, flops (a row's) and dense (only dense layers and relu), has weights, and writes
    itself with tensorflow(variables by name, x) and onnx(graph, name of x). A recurrent one has loops in TensorFlow, or with
    tensorflow(..., unroll=True) none."""

    dense = recurrent = False
    format = "saved_model"  # what tfaot compiles
    rows = 1000  # the most that are measured
    quantized = False  # net.onnx and net.tflite multiply 8-bit whole numbers; the others stay float32
    tolerance = 1e-4  # of the largest prediction, to TensorFlow's
    jit_thunks = False  # XLA's JIT needs its newer runtime, as the older one aborts

    def inputs(self, random, rows):
        return random.normal(0, 1, (rows, *self.input_shape)).astype(np.float32)

    def other_inputs(self, x):
        """{kind: rows} made of inputs(): of the ranges of detectors, and below the smallest normal number. Nets that draw their inputs
        themselves have none."""
        if type(self).inputs is not AnyNet.inputs:
            return {}
        ranges = np.geomspace(0.01, 1000, x.shape[-1]).astype(np.float32)
        return {"detector": np.abs(x) * ranges, "denormal": x * np.float32(1e-39)}


class Net(AnyNet):
    """A net that is written once: build(g, x) with a writer. Its class says input_shape."""

    def __init__(self, seed):
        self.weights = Weights(seed)
        writer = TensorFlowWriter(self.weights, {})
        self.outputs = self.build(writer, tf.constant(self.inputs(np.random.default_rng(0), 1))).shape[1]
        self.flops = writer.flops

    def tensorflow(self, v, x, **options):
        return self.build(TensorFlowWriter(self.weights, v, **options), x)

    def onnx(self, g, x):
        return self.build(OnnxWriter(g), (x, self.input_shape))[0]
