# SPDX-License-Identifier: Apache-2.0
"""Makes tests/e2e/models: works/ compiles and predicts as TensorFlow does, refused/ must end in a clear error.

Run with tensorflow-cpu 2.18.1: python make_models.py [NAME...]. What each model is for: models/README.md.
"""
import pathlib
import shutil
import sys

import model_folder as mf
from model_folder import np, tf

MODELS = pathlib.Path(__file__).resolve().parent / "models"
WORKS, REFUSED = MODELS / "works", MODELS / "refused"
MAKERS = {}


def maker(function):
    MAKERS[function.__name__] = function
    return function


def weights(seed, *shapes, dtype=np.float32):
    random = np.random.default_rng(seed)
    return [random.normal(0, 0.5, shape).astype(dtype) for shape in shapes]


def spec(name, shape, dtype="float32"):
    return tf.TensorSpec([None, *shape], tf.dtypes.as_dtype(dtype), name=name)


def write_config(folder, batch_sizes=(1, 2, 4), compilation=(), **model):
    lines = ["# SPDX-License-Identifier: Apache-2.0", "model:", f"  name: {folder.name}", '  version: "1.0"']
    lines += [f"  {key}: {value}" for key, value in model.items()]
    lines += ["", "compilation:", f"  batch_sizes: [{', '.join(map(str, batch_sizes))}]"]
    lines += [*(f"  {line}" for line in compilation), ""]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "aot_config.yaml").write_text("\n".join(lines))


def module(function, specs, variables=()):
    """A tf.Module whose serve() runs function(*variables, *inputs)."""
    result = tf.Module()
    result.variables_ = [tf.Variable(value) for value in variables]
    result.serve = tf.function(lambda *inputs: function(*result.variables_, *inputs), input_signature=specs)
    return result


def works(name, function, inputs, variables=(), batch_sizes=(1, 2, 4), tolerance=None):
    """inputs: {name: (dtype, row_shape[, bound])}, as model_folder.inputs_of takes them."""
    folder = WORKS / name
    made = module(function, [spec(key, what[1], what[0]) for key, what in inputs.items()], variables)
    saved_model = mf.save(folder, made, made.serve)
    write_config(folder, batch_sizes)
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), inputs, tolerance=tolerance)


def refused(name, function, specs, variables=()):
    folder = REFUSED / name
    made = module(function, specs, variables)
    mf.save(folder, made, made.serve)
    write_config(folder)


# --- what must work -------------------------------------------------------------------------------------------


@maker
def scalars():
    works("scalars", lambda a, b: {"sum": a + b, "ratio": a / (1 + b * b)},
          {"a": ("float32", []), "b": ("float32", [])})


@maker
def ranks():
    w3, w4 = weights(10, (2, 5), (4, 3))

    def serve(w3, w4, cube, rows):
        return {"rows": tf.tanh(tf.einsum("bij,jk->bik", rows, w3)),
                "cube": tf.transpose(tf.einsum("bijk,kl->bijl", cube, w4), [0, 3, 1, 2])}

    works("ranks", serve, {"cube": ("float32", [2, 3, 4]), "rows": ("float32", [3, 2])}, [w3, w4])


@maker
def open_sizes():
    """As Keras' Input((None, 4)): the number of particles is open, and model.dimensions says it."""
    (w,) = weights(13, (4, 3))
    folder = WORKS / "open_sizes"

    def serve(w, mask, x):
        return {"sum": tf.reduce_sum(tf.nn.relu(x @ w) * mask[:, :, None], axis=1),
                "count": tf.fill([tf.shape(x)[0]], tf.shape(x)[1])}

    made = module(serve, [tf.TensorSpec([None, None], name="mask"), tf.TensorSpec([None, None, 4], name="x")], [w])
    saved_model = mf.save(folder, made, made.serve)
    write_config(folder, dimensions='{"mask:1": 5, "x:1": 5}')
    mf.write_reference(folder, mf.saved_model_predictor(saved_model),
                       {"mask": ("float32", [5]), "x": ("float32", [5, 4])})


@maker
def loops():
    (w,) = weights(11, (4, 4))

    def serve(w, x):
        state = x
        for step in tf.range(5):
            state = tf.tanh(state @ w) + tf.cast(step, tf.float32) / 8

        def halve(value, count):
            large = value > 0.25
            return tf.where(large, value / 2, value), count + tf.cast(large, tf.int32)

        # As many turns as the largest number of any row needs; no row depends on another.
        small, count = tf.while_loop(lambda value, count: tf.reduce_any(value > 0.25), halve,
                                     (tf.abs(x), tf.zeros_like(x, tf.int32)))
        return {"count": count, "small": small, "state": state}

    works("loops", serve, {"x": ("float32", [4])}, [w])


@maker
def branches():
    (w,) = weights(12, (3, 3))

    def serve(w, x):
        positive = tf.cond(tf.reduce_sum(tf.abs(x)) >= 0, lambda: x @ w, lambda: x - 1)
        case = tf.switch_case(tf.constant(1), [lambda: x, lambda: x * 2])
        return {"case": case, "cond": positive, "select": tf.where(x > 0, x, x * 0.1)}

    works("branches", serve, {"x": ("float32", [3])}, [w])


@maker
def gather_reduce():
    (table,) = weights(13, (6, 3))

    def serve(table, index, x):
        rows = tf.gather(table, index)
        return {"argmax": tf.argmax(x, axis=1), "argmin": tf.argmin(x, axis=1, output_type=tf.int32),
                "max": tf.reduce_max(x, axis=1), "mean": tf.reduce_mean(rows, axis=2),
                "any": tf.reduce_any(x > 1, axis=1), "picked": tf.gather(x, index % 5, batch_dims=1),
                "sorted": tf.sort(x, axis=1), "top": tf.math.top_k(x, 2).values}

    works("gather_reduce", serve, {"index": ("int32", [4], 6), "x": ("float32", [5])}, [table])


@maker
def convolution():
    k1, k2, d, w = weights(14, (3, 3, 2, 4), (3, 3, 4, 5), (3, 3, 4, 1), (20, 3))

    def serve(k1, k2, d, w, image):
        x = tf.nn.gelu(tf.nn.conv2d(image, k1, 1, "SAME"))
        x = tf.nn.depthwise_conv2d(x, d, [1, 1, 1, 1], "SAME")
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        x = tf.nn.relu(tf.nn.conv2d(x, k2, 2, "SAME"))
        pooled = tf.nn.avg_pool2d(x, 2, 1, "SAME")
        return {"class": tf.nn.softmax(tf.reshape(pooled, [-1, 20]) @ w), "pooled": pooled}

    works("convolution", serve, {"image": ("float32", [8, 8, 2])}, [k1, k2, d, w], batch_sizes=(1, 4))


@maker
def transforms():
    """Fourier transforms of each kind and of lengths that are divided, or prime; products of whole numbers."""
    wide, bytes_ = weights(37, (5, 6), (5, 6))
    wide = tf.constant(tf.cast(wide * 2e9, tf.int32))
    bytes_ = tf.constant(tf.cast(bytes_ * 100, tf.int8))

    def serve(a, b, doubles, image, long, m, n):
        spectrum = tf.signal.fft(tf.complex(a, b))
        plane = tf.signal.fft2d(tf.complex(image, -image))
        return {
            "bytes": tf.matmul(tf.cast(tf.clip_by_value(n, -128, 127), tf.int8), bytes_, output_type=tf.int32),
            "doubles": tf.signal.irfft(tf.signal.rfft(doubles) * tf.complex(doubles[:, :10], doubles[:, 8:]), [18]),
            "image": tf.math.imag(tf.signal.ifft2d(plane * plane)),
            "long": tf.abs(tf.signal.rfft(long)),
            "magnitude": tf.abs(spectrum),
            "real_image": tf.signal.irfft2d(tf.signal.rfft2d(image) * 2),
            "shifted": tf.math.imag(tf.signal.ifft(spectrum * tf.complex(b, a))),
            "whole": tf.matmul(m, wide),
        }

    works("transforms", serve, {"a": ("float32", [18]), "b": ("float32", [18]), "doubles": ("float64", [18]),
                                "image": ("float32", [3, 18]), "long": ("float32", [131]), "m": ("int32", [4, 5]),
                                "n": ("int32", [4, 5])}, tolerance=1e-4)


@maker
def products():
    """Every form of a product: which side is a weight, transposed, batched, with how many dimensions summed."""
    w, left, heads, cube, square, experts, b, b3 = weights(
        30, (6, 7), (3, 5), (6, 2, 3), (5, 6, 3), (6, 6), (5, 6, 2), (7,), (2, 3))
    (d,) = weights(31, (4, 20), dtype=np.float64)

    def serve(w, left, heads, cube, square, experts, b, b3, d, doubles, v, x, y):
        per_head = tf.einsum("bld,dhe->blhe", x, heads) + b3
        return {
            "batched": tf.matmul(x, y),
            "batched_by_two": tf.einsum("bqhe,bkhe->bhqk", per_head, per_head * 2),
            "double": tf.nn.relu(doubles @ d),
            "double_batched": tf.matmul(doubles, doubles, transpose_b=True),
            "experts": tf.einsum("bij,ijk->bik", x, experts),
            "first_summed": tf.einsum("bji,jk->bik", x, tf.transpose(left)),
            "heads_first": tf.einsum("bld,dhe->bhel", x, heads),
            "inner": tf.einsum("bi,bi->b", v, v + 1),
            "left": tf.matmul(left, x),
            "left_vector": tf.einsum("ij,bj->bi", square, v),
            "of_weights": v @ (square @ (w * 2)),
            "outer": tf.einsum("bi,bj->bij", v, v),
            "relu": tf.nn.relu(x @ w + b),
            "summed_twice": tf.einsum("bij,ijk->bk", x, cube),
            "to_rows": tf.einsum("bij,bj->bi", x, v),
            "transposed": tf.matmul(x, x, transpose_a=True),
            "transposed_weight": tf.matmul(v, square, transpose_b=True),
            "used_twice": tf.gather(w, tf.argmax(v, axis=1)) + v @ w,
            "weighted_batch": tf.matmul(tf.matmul(x, y), tf.broadcast_to(left, [tf.shape(x)[0], 3, 5]), transpose_b=True),
        }

    works("products", serve, {"doubles": ("float64", [3, 4]), "v": ("float32", [6]), "x": ("float32", [5, 6]),
                              "y": ("float32", [6, 5])}, [w, left, heads, cube, square, experts, b, b3, d], batch_sizes=(1, 3))


@maker
def folding():
    """Parts that depend on weights alone: batch normalisation before and after products, chains, values used raw, too."""
    k, k2, w, b, start = weights(32, (3, 3, 2, 20), (20, 6), (6, 5), (6,), (1, 6))
    scale, offset, mean, spread = weights(33, (20,), (20,), (20,), (20,))
    spread = np.abs(spread) + 0.1

    def serve(k, k2, w, b, start, scale, offset, mean, spread, image, v):
        x = tf.nn.conv2d(image, k, 1, "SAME") + 0.25
        x = tf.nn.relu(tf.nn.batch_normalization(x, mean, spread, offset, scale, 1e-3))
        x = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, mean, spread, is_training=False)[0]
        x = tf.reduce_mean(x, [1, 2]) @ k2
        normed = (x - b) * tf.math.rsqrt(tf.reduce_sum(b * b)) * 2.0 + b
        state = tf.broadcast_to(start, tf.shape(x)) @ tf.nn.softmax(w)
        return {"both": (v @ w + 1.0) * tf.reduce_sum(w, axis=0) - tf.reduce_max(w, axis=0),
                "normed": tf.nn.relu(normed), "raw": tf.reduce_sum(w) * v, "reused": v @ w * 2.0,
                "state": state, "unscaled": tf.nn.relu(v @ w) * 3.0}

    works("folding", serve, {"image": ("float32", [6, 5, 2]), "v": ("float32", [6])},
          [k, k2, w, b, start, scale, offset, mean, spread], batch_sizes=(1, 3))


@maker
def convolutions():
    """Strides, paddings, dilations, groups, transposed, one to three dimensions."""
    a, point, grouped, deep, deep2, back, line, space, b = weights(
        34, (3, 2, 4, 18), (1, 1, 4, 5), (3, 3, 2, 6), (3, 3, 4, 1), (2, 3, 4, 2), (3, 3, 3, 4), (4, 3, 6), (2, 3, 2, 2, 5), (18,))
    (double,) = weights(35, (3, 3, 3, 9), dtype=np.float64)

    def serve(a, point, grouped, deep, deep2, back, line, space, b, double, doubles, image, row, volume):
        size = tf.shape(image)[0]
        return {
            "back": tf.nn.conv2d_transpose(image, back, [size, 17, 15, 3], 2, "VALID"),
            "back_same": tf.nn.conv2d_transpose(image, back, [size, 16, 14, 3], 2, "SAME"),
            "biased": tf.nn.relu(tf.nn.conv2d(image, a, 1, "SAME") + b),
            "deep": tf.nn.depthwise_conv2d(image, deep, [1, 1, 1, 1], "SAME"),
            "deep_twice": tf.nn.depthwise_conv2d(image, deep2, [1, 2, 2, 1], "VALID"),
            "dilated": tf.nn.conv2d(image, a, 1, "SAME", dilations=[2, 3]),
            "double": tf.nn.conv2d(doubles, double, 1, "SAME"),
            "grouped": tf.nn.conv2d(image, grouped, 1, "SAME"),
            "line": tf.nn.conv1d(row, line, 2, "SAME"),
            "padded": tf.nn.conv2d(image, a, 1, [[0, 0], [2, 1], [0, 3], [0, 0]]),
            "point": tf.nn.relu(tf.nn.conv2d(image, point, 1, "VALID")),
            "point_strided": tf.nn.conv2d(image, point, 2, "VALID"),
            "space": tf.nn.conv3d(volume, space, [1, 1, 1, 1, 1], "SAME"),
            "space_strided": tf.nn.conv3d(volume, space, [1, 2, 1, 2, 1], "VALID"),
            "strided": tf.nn.conv2d(image, a, [2, 3], "VALID"),
        }

    works("convolutions", serve, {"doubles": ("float64", [4, 5, 3]), "image": ("float32", [8, 7, 4]),
                                  "row": ("float32", [9, 3]), "volume": ("float32", [4, 5, 6, 2])},
          [a, point, grouped, deep, deep2, back, line, space, b, double], batch_sizes=(1, 3))


@maker
def resizing():
    """Bilinear and nearest, by half pixels, aligned corners and neither, up and down; repeated pixels; transposed convolutions
    whose windows overlap, are as large as their strides, and leave gaps."""
    overlapping, gaps, wide, row_filter, b = weights(36, (4, 3, 4, 3), (1, 2, 5, 3), (2, 2, 18, 3), (5, 6, 4), (18,))

    def serve(overlapping, gaps, wide, row_filter, b, doubles, image, point, row):
        size = tf.shape(image)[0]
        bilinear, nearest = tf.compat.v1.image.resize_bilinear, tf.compat.v1.image.resize_nearest_neighbor
        return {
            "aligned": bilinear(image, [9, 7], align_corners=True),
            "aligned_nearest": nearest(image, [7, 9], align_corners=True),
            "bilinear": tf.image.resize(image, [10, 8]),
            "bilinear_odd": tf.image.resize(image, [7, 11]),
            "double_nearest": tf.image.resize(doubles, [8, 7], "nearest"),
            "down": tf.image.resize(image, [3, 2]),
            "from_one": tf.image.resize(point, [3, 2]),
            "gaps": tf.nn.conv2d_transpose(image, gaps, [size, 15, 12, 5], 3, "SAME"),
            "legacy": bilinear(image, [10, 8]),
            "line": tf.nn.conv1d_transpose(row, row_filter, [size, 27, 6], 3, "SAME"),
            "nearest": tf.image.resize(image, [10, 8], "nearest"),
            "nearest_odd": nearest(image, [3, 7]),
            "overlapping": tf.nn.conv2d_transpose(image, overlapping, [size, 10, 8, 4], 2, "SAME"),
            "repeated": tf.repeat(tf.repeat(image, 2, axis=1), 3, axis=2),
            "repeated_doubles": tf.repeat(doubles, 2, axis=2),
            "wide": tf.nn.relu(tf.nn.conv2d_transpose(image, wide, [size, 10, 8, 18], 2, "VALID") + b),
        }

    works("resizing", serve, {"doubles": ("float64", [4, 3, 2]), "image": ("float32", [5, 4, 3]),
                              "point": ("float32", [1, 1, 3]), "row": ("float32", [9, 4])},
          [overlapping, gaps, wide, row_filter, b], batch_sizes=(1, 3))


@maker
def pooling():
    def serve(doubles, image, volume):
        return {
            "largest": tf.nn.max_pool2d(image, 3, 2, "SAME"),
            "largest_double": tf.nn.max_pool2d(doubles, 2, 1, "VALID"),
            "largest_overlapping": tf.nn.max_pool2d(image, [2, 3], 1, "SAME"),
            "largest_volume": tf.nn.max_pool3d(volume, 2, 2, "SAME"),
            "mean": tf.nn.avg_pool2d(image, 3, 2, "SAME"),
            "mean_double": tf.nn.avg_pool2d(doubles, 2, 2, "VALID"),
            "mean_row": tf.nn.avg_pool1d(image[:, 0], 3, 2, "SAME"),
            "mean_volume": tf.nn.avg_pool3d(volume, [2, 3, 1], [1, 2, 1], "VALID"),
            "running": tf.cumsum(image, axis=1),
        }

    works("pooling", serve, {"doubles": ("float64", [4, 5, 3]), "image": ("float32", [7, 6, 5]),
                             "volume": ("float32", [3, 4, 5, 2])}, batch_sizes=(1, 3))


@maker
def pooled_activations():
    """Activations before max pooling: those that may be done after it, and some that look like them and may not."""
    def serve(doubles, image):
        def pool(x):
            return tf.nn.max_pool2d(x, 2, 2, "SAME")

        fallen = tf.nn.gelu(image)
        return {
            "cosine": pool(image * (1 + tf.cos(image))),
            "gelu": pool(tf.nn.gelu(3 * image)),
            "gelu_double": pool(tf.nn.gelu(doubles, approximate=True)),
            "gelu_everywhere": tf.nn.max_pool2d(tf.nn.gelu(image, approximate=True), 3, 1, "SAME"),
            "gelu_mirrored": pool(tf.nn.gelu(-image)),
            "gelu_negative": pool(-tf.nn.gelu(image)),
            "gelu_twice": pool(fallen) + tf.reduce_sum(fallen, [1, 2, 3], keepdims=True),
            "logistic": pool(tf.sigmoid(image)),
            "mean": tf.nn.avg_pool2d(tf.nn.gelu(image), 2, 2, "VALID"),
            "swish": pool(tf.nn.silu(2 * image)),
            "swish_mirrored": pool(image * tf.sigmoid(-image)),
            "swish_of_other": pool(image * tf.sigmoid(image[:, ::-1])),
            "tanh": pool(tf.tanh(image)),
        }

    works("pooled_activations", serve, {"doubles": ("float64", [4, 5, 3]), "image": ("float32", [7, 6, 5])},
          batch_sizes=(1, 3))


@maker
def activations():
    """Activations after products and convolutions of every kind, and of results that the model uses elsewhere too."""
    def serve(dense, window, tile, each, spread, image, x):
        def hard_sigmoid(y):
            return tf.nn.relu6(y + 3) / 6

        def convolved(y, kernel, stride):
            return tf.nn.conv2d(y, kernel, stride, "SAME")

        hard = convolved(image, window, 2)
        hard *= hard_sigmoid(hard)
        gate = hard_sigmoid(tf.reduce_mean(hard, [1, 2], keepdims=True) * 4)
        elu, gelu, hard_gate, selu, softplus, swish, twice = (x @ matrix for matrix in tf.unstack(dense))
        return {
            "dense_elu": tf.nn.elu(elu) @ tf.transpose(dense[0]),
            "dense_gelu": tf.nn.gelu(gelu) @ tf.transpose(dense[0]),
            "dense_hard_sigmoid": tf.clip_by_value(0.2 * (hard_gate + 1) + 0.5, 0, 1),
            "dense_selu": tf.nn.selu(selu - 1),
            "dense_softplus": tf.nn.softplus(softplus + 2),
            "dense_swish": tf.nn.silu(swish - 2),
            "each_hard_swish": tf.nn.depthwise_conv2d(hard, each, [1, 1, 1, 1], "SAME") * gate,
            "each_swish": tf.nn.silu(tf.nn.depthwise_conv2d(image, each, [1, 1, 1, 1], "SAME")),
            "spread_leaky": tf.nn.leaky_relu(tf.nn.conv2d_transpose(image, spread, [tf.shape(image)[0], 10, 8, 5], 2)),
            "tile_hard_swish": tf.keras.activations.hard_swish(convolved(tf.nn.silu(convolved(image, tile, 1)), tile, 1)),
            "twice": twice + tf.sigmoid(twice),
        }

    made = weights(31, (7, 20, 12), (5, 5, 24, 24), (3, 3, 24, 24), (3, 3, 24, 1), (3, 3, 5, 24))
    made = [made[0], *(kernel / 4 for kernel in made[1:])]
    works("activations", serve, {"image": ("float32", [5, 4, 24]), "x": ("float32", [20])}, made, batch_sizes=(1, 4))


@maker
def nonfinite():
    """What is not a number, and infinities, come out where TensorFlow has them. Codes, as JSON has no words for them.

    Left out is where TensorFlow itself loses NaN and we do not: relu fused into a product, softmax.
    """
    w, b, k = weights(36, (6, 20), (20,), (3, 3, 1, 20))

    def code(y):
        infinite = tf.where(tf.math.is_inf(y), tf.where(y > 0, 1, 2), 0)
        return tf.where(tf.math.is_nan(y), 3, infinite)

    def serve(w, b, k, x):
        bad = tf.where(x > 1.5, np.float32(np.nan), tf.where(x < -1.5, np.float32(np.inf), x))
        image = tf.reshape(bad, [-1, 3, 2, 1])
        centered = bad - tf.reduce_mean(bad, axis=1, keepdims=True)
        return {
            "codes": code(bad), "conv": code(tf.nn.conv2d(image, k, 1, "SAME")),
            "dense": code(bad @ w + b), "exp": code(tf.exp(bad * 1e3)),
            "log": code(tf.math.log(tf.abs(x) - 1)), "mean": code(tf.nn.avg_pool2d(image, 2, 1, "SAME")),
            "max_pool": code(tf.nn.max_pool2d(image, 2, 1, "SAME")),
            "norm": code(centered * tf.math.rsqrt(tf.reduce_mean(centered * centered, axis=1, keepdims=True))),
            "relu": code(tf.nn.relu(bad)), "row_max": code(tf.reduce_max(bad, axis=1)),
            "sum": code(tf.reduce_sum(bad, axis=1)), "tanh": code(tf.tanh(bad)), "zero_times": code(bad * 0.0),
        }

    works("nonfinite", serve, {"x": ("float32", [6])}, [w, b, k], batch_sizes=(1, 3))


@maker
def edge_values():
    """NaN, infinities, denormals, overflow and indices out of range: edge_values_test.cc says what comes out."""
    table = np.float32([10, 20, 30, 40, 50])

    def serve(at, m, n, x):
        image = tf.reshape(x, [-1, 1, 6, 1])
        mean, variance = tf.nn.moments(x, 1, keepdims=True)
        return {
            "argmax": tf.argmax(x, 1), "gathered": tf.gather(table, at), "hot": tf.one_hot(at, 3),
            "largest": tf.reduce_max(x, 1), "log": tf.math.log(x), "maximum": tf.maximum(x, 1.0),
            "mean": tf.reduce_mean(n, 1), "norm": tf.nn.batch_normalization(x, mean, variance, None, None, 1e-5),
            "pooled": tf.reshape(tf.nn.max_pool2d(image, [1, 3], 1, "VALID"), [-1, 4]),
            "quotient": tf.truncatediv(n, m), "relu": tf.nn.relu(x),
            "resized": tf.reshape(tf.image.resize(image, [1, 12]), [-1, 12]), "scaled": x * 2.0**100,
            "sigmoid": tf.sigmoid(x), "softmax": tf.nn.softmax(x), "sum": n + n, "top": tf.math.top_k(x, 2).values,
            "whole": tf.cast(x, tf.int32),
        }

    folder = WORKS / "edge_values"
    made = module(serve, [spec("at", [2], "int32"), spec("m", [4], "int32"), spec("n", [4], "int32"), spec("x", [6])])
    mf.save(folder, made, made.serve)
    write_config(folder, (1, 4))


@maker
def loop_weights():
    """Weights that loops hand on: packed before them, used at every turn; also in a loop of a loop."""
    w, u, inner = weights(37, (5, 20), (20, 5), (5, 5))

    def serve(w, u, inner, x):
        y = x
        for _ in tf.range(3):
            y = tf.tanh(tf.nn.relu(y @ w) @ u)
            for _ in tf.range(2):
                y = tf.tanh(tf.matmul(y, inner, transpose_b=True))
        changing, matrix = tf.while_loop(
            lambda y, m: tf.reduce_sum(m) < 100.0, lambda y, m: (tf.tanh(y @ m), m + 1.0), (x, inner))
        return {"changing": changing, "y": y, "last": x @ matrix}

    # tanh(y @ m) with a large m makes an error of y 20 times larger in a turn: TensorFlow's own is 1.1e-5 of what float64 gives.
    works("loop_weights", serve, {"x": ("float32", [5])}, [w, u, inner], batch_sizes=(1, 3), tolerance=2e-5)


@maker
def attention():
    q, k, v = weights(15, (4, 6), (4, 6), (4, 6))

    def serve(q, k, v, mask, x):
        score = tf.einsum("bid,bjd->bij", x @ q, x @ k) / np.float32(6**0.5)
        score = tf.where(mask[:, tf.newaxis, :], score, -30.0)
        return {"y": tf.einsum("bij,bjd->bid", tf.nn.softmax(score), x @ v)}

    works("attention", serve, {"mask": ("bool", [5]), "x": ("float32", [5, 4])}, [q, k, v])


@maker
def dtypes():
    d, i = np.array([0.5, -1.25, 3.0]), np.array([3, -2, 7], np.int64)

    def serve(d, i, flag, int32, int64, float32, float64):
        return {"flag": tf.logical_not(flag), "int32": int32 * 3 - 1, "int64": int64 + i,
                "float32": tf.sqrt(tf.abs(float32)), "float64": tf.exp(float64 / 4) * d,
                "mixed": tf.where(flag, tf.cast(int32, tf.float64), float64 + tf.cast(float32, tf.float64))}

    works("dtypes", serve, {"flag": ("bool", [3]), "int32": ("int32", [3]), "int64": ("int64", [3]),
                            "float32": ("float32", [3]), "float64": ("float64", [3])}, [d, i])


@maker
def more_dtypes():
    """The types that the model above does not have. Whole numbers overflow, as in TensorFlow."""
    types = {name: tf.dtypes.as_dtype(name).as_numpy_dtype
             for name in ("int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16")}
    numbers = {"int8": [-128, 99, 3], "int16": [-32768, 9999, 3], "uint8": [255, 99, 3], "uint16": [65535, 9999, 3],
               "uint32": [2**32 - 1, 99999, 3], "uint64": [2**64 - 1, 2**63 + 5, 3],
               "float16": [0.5, -1.25, 3.0], "bfloat16": [0.5, -1.25, 3.0]}
    variables = [np.array(numbers[name], dtype) for name, dtype in types.items()]
    dense, = weights(40, (3, 4))

    def serve(int8_w, int16_w, uint8_w, uint16_w, uint32_w, uint64_w, float16_w, bfloat16_w, half_w, brain_w,
              int8, int16, uint8, uint16, uint32, uint64, float16, bfloat16):
        return {"int8": int8 * int8_w + 1, "int16": int16 * int16_w - 1, "uint8": uint8 * uint8_w + 1,
                "uint16": uint16 * uint16_w + 1, "uint32": uint32 * uint32_w + 1, "uint64": uint64 * uint64_w + 1,
                "float16": tf.sqrt(tf.abs(float16)) * float16_w, "bfloat16": tf.exp(bfloat16 / 4) * bfloat16_w,
                "half_dense": tf.nn.relu(tf.matmul(float16, half_w)), "brain_dense": tf.tanh(tf.matmul(bfloat16, brain_w)),
                "to_float": tf.add_n([tf.cast(x, tf.float32) for x in
                                      (int8, int16, uint8, uint16, uint32, uint64, float16, bfloat16)]),
                "to_half": tf.cast(uint64, tf.float16) + tf.cast(bfloat16, tf.float16),
                "to_uint8": tf.cast(tf.abs(float16) * 8, tf.uint8), "to_int16": tf.cast(bfloat16 * 100, tf.int16)}

    works("more_dtypes", serve, {name: (name, [3]) for name in types},
          [*variables, dense.astype(types["float16"]), dense.astype(types["bfloat16"])])


@maker
def plain_outputs():
    def serve(x, y):
        total = x + y
        return {"again": total, "constant": tf.broadcast_to(tf.constant([1.5, -2.0]), [tf.shape(x)[0], 2]),
                "same": x, "total": total, "ones": tf.ones_like(x, tf.int64)}

    works("plain_outputs", serve, {"x": ("float32", [3]), "y": ("float32", [3])})


@maker
def unused_input():
    works("unused_input", lambda x, unused: {"y": x * 2}, {"x": ("float32", [2]), "unused": ("int64", [])})


@maker
def unsorted_names():
    """Signature names whose order differs from the function's arguments, and that are no C++ identifiers."""
    works("unsorted_names", lambda z, a: {"9th-value": a - z, "Output.A": z, "b/c": a},
          {"z": ("float32", [2]), "a": ("float32", [2])})


@maker
def shared_variable():
    """One variable used twice, one unused, and one captured by a nested function."""
    w, unused, b = weights(16, (3, 3), (100,), (3,))

    def serve(w, unused, b, x):
        nested = tf.function(lambda t: tf.nn.relu(t @ w + b))
        return {"y": nested(nested(x)) + b}

    works("shared_variable", serve, {"x": ("float32", [3])}, [w, unused, b])


@maker
def fixed_batch():
    folder = WORKS / "fixed_batch"
    made = module(lambda w, x: {"y": tf.tanh(x @ w)}, [tf.TensorSpec([2, 3], tf.float32, name="x")], weights(50, (3, 2)))
    saved_model = mf.save(folder, made, made.serve)
    write_config(folder, (2,))
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), {"x": ("float32", (3,))}, batch_sizes=(2,))


@maker
def row_lookups():
    """What looks like mixing rows and is not: each row looks things up in itself."""
    def serve(x, i):
        near = tf.math.top_k(-tf.square(x[:, :, None] - x[:, None, :]), 3).indices
        rows = tf.tile(tf.range(tf.shape(x)[0])[:, None, None], [1, 6, 3])
        return {"gathered": tf.gather(x, i, batch_dims=1),
                "neighbours": tf.reduce_sum(tf.gather_nd(x, tf.stack([rows, near], -1)), 2),
                "scattered": tf.scatter_nd(tf.stack([rows[:, 0], i], -1), x[:, :3], [tf.shape(x)[0], 6]),
                "sorted": tf.sort(x, axis=1), "order": tf.argsort(x, axis=1), "summed": tf.cumsum(x, axis=1)}

    works("row_lookups", serve, {"x": ("float32", [6]), "i": ("int32", [3], 6)})


@maker
def row_loops():
    """Loops over the rows, one after the other, and over time."""
    def serve(x):
        time_major = tf.transpose(x, [1, 0, 2])
        scanned = tf.scan(lambda state, now: state / 2 + now, time_major)
        return {"mapped": tf.map_fn(lambda row: tf.cumsum(row, 0) * tf.reduce_sum(row), x),
                "pairs": tf.vectorized_map(lambda row: row @ tf.transpose(row), x),
                "scanned": tf.transpose(scanned, [1, 0, 2])}

    works("row_loops", serve, {"x": ("float32", [3, 2])})


def coupled(name, function, row_shape, sizes=(1, 4)):
    """Compiled with rows: coupled; the reference has the compiled sizes only."""
    folder = WORKS / name
    made = module(function, [spec("x", row_shape)])
    saved_model = mf.save(folder, made, made.serve)
    write_config(folder, sizes, ["rows: coupled"])
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), {"x": ("float32", row_shape)}, batch_sizes=sizes)


@maker
def coupled_rows():
    coupled("coupled_rows", lambda x: {"y": x - tf.reduce_mean(x, axis=0), "share": tf.nn.softmax(x, axis=0)}, [3])


@maker
def signatures():
    (w,) = weights(17, (4, 2))
    made = tf.Module()
    made.w = tf.Variable(w)
    made.serve = tf.function(lambda x: {"y": tf.tanh(x @ made.w)}, input_signature=[spec("x", [4])])
    made.norm = tf.function(lambda x, scale: {"norm": tf.norm(x @ made.w, axis=1) * scale},
                            input_signature=[spec("x", [4]), spec("scale", [])])
    saved_model = mf.save(WORKS / "signatures", made, {"serving_default": made.serve, "norm": made.norm})
    write_config(WORKS / "signatures")
    mf.write_reference(WORKS / "signatures", mf.saved_model_predictor(saved_model), {"x": ("float32", [4])})
    other = WORKS / "signatures_norm"
    write_config(other, saved_model="../signatures/saved_model", serving_key="norm")
    mf.write_reference(other, mf.saved_model_predictor(saved_model, "norm"),
                       {"x": ("float32", [4]), "scale": ("float32", [])}, "norm")


def keras_model(seed=18, units=8):
    tf.keras.utils.set_random_seed(seed)
    layers = tf.keras.layers
    values, image = tf.keras.Input([4], name="values"), tf.keras.Input([6, 6, 1], name="image")
    y = layers.Conv2D(3, 3, activation="relu")(image)
    y = layers.Flatten()(layers.MaxPooling2D(2)(y))
    x = layers.Dense(units, activation="elu")(layers.BatchNormalization()(values))
    x = layers.Dropout(0.3)(x)
    model = tf.keras.Model([values, image], layers.Dense(2, activation="softmax", name="score")(
        layers.Concatenate()([x, y])))
    model.layers[-1].bias.assign([0.25, -0.5])
    return model


KERAS_INPUTS = {"values": ("float32", [4]), "image": ("float32", [6, 6, 1])}


@maker
def keras_export():
    """Keras 3's model.export(): its inputs come in one nested structure."""
    folder = WORKS / "keras_export"
    saved_model = mf.fresh(folder)
    keras_model().export(str(saved_model), verbose=False)
    mf.trim(saved_model)
    write_config(folder, (1, 4))
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), KERAS_INPUTS, batch_sizes=(1, 3, 4, 7))


def export_keras(name, **how):
    folder = WORKS / name
    saved_model = mf.fresh(folder)
    keras_model()  # so that the layers of the next one have other names
    model = keras_model(**how)
    model.get_layer(index=-1).bias.assign([-1, 0.5])
    model.export(str(saved_model), verbose=False)
    mf.trim(saved_model)
    write_config(folder, (1, 4))
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), KERAS_INPUTS, batch_sizes=(1, 3, 4, 7))


@maker
def keras_retrained():
    """keras_export with other weights."""
    export_keras("keras_retrained", seed=99)


@maker
def keras_wider():
    """keras_export with a wider layer."""
    export_keras("keras_wider", units=9)


@maker
def keras_saved():
    """A Keras model handed to tf.saved_model.save() with a signature of one's own."""
    folder = WORKS / "keras_saved"
    model = keras_model()
    model.predict_ = tf.function(lambda values, image: {"score": model([values, image], training=False)},
                                 input_signature=[spec("values", [4]), spec("image", [6, 6, 1])])
    saved_model = mf.save(folder, model, model.predict_)
    write_config(folder, (1, 4))
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), KERAS_INPUTS, batch_sizes=(1, 3, 4, 7))


@maker
def same_names():
    """Layers inside of one Keras layer whose variables have the same names and shapes."""
    folder = WORKS / "same_names"
    dense = tf.keras.layers.Dense

    class Scores(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.parts = dense(6), dense(6), [dense(6) for _ in range(2)]

        def call(self, x):
            return self.first(x) - tf.nn.softplus(self.second(x)) * tf.tanh(self.parts[0](x) + 2 * self.parts[1](x))

    tf.keras.utils.set_random_seed(23)
    x = tf.keras.Input([6], name="x")
    model = tf.keras.Model(x, Scores()(x))
    model.predict_ = tf.function(lambda x: {"y": model(x, training=False)}, input_signature=[spec("x", [6])])
    saved_model = mf.save(folder, model, model.predict_)
    write_config(folder)
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), {"x": ("float32", [6])})


@maker
def masks():
    """Where a mask of 0 is, a large number makes the rest nothing. Sums in another order would lose what is kept."""
    def serve(w, m, x):
        m, far = tf.cast(m > 0, tf.float32), -1e9
        rows, kept = tf.reshape(x, [-1, 6, 4]), tf.reshape(m, [-1, 6, 4])
        scores = tf.einsum("bik,bjk->bij", rows @ w, rows) / 2 + (1 - m[:, None, :6]) * far
        return {"share": tf.nn.softmax(x + (1 - m) * far), "largest": tf.reduce_max(rows + (1 - kept) * far, 1),
                "kept": tf.reduce_max(rows * kept + (1 - kept) * far, 1), "attention": tf.nn.softmax(scores) @ rows,
                "mixed": m * x + (1 - m) * (x * 1e8)}

    works("masks", serve, {"m": ("float32", [24]), "x": ("float32", [24])}, weights(41, (4, 4)))


@maker
def pairs():
    """Distances of all pairs of points in a few coordinates, also where a loop repeats them; heads that are slices, joined."""
    def serve(w, t, table, x, z):
        def distances(of, scale=1.0):
            return tf.reduce_sum(scale * tf.square(of[:, :, None] - of[:, None]), -1)

        def attend(heads):
            return tf.nn.softmax(tf.einsum("bhik,bhjk->bhij", heads, heads)) @ heads

        y = x @ t
        split = tf.stack(tf.split(y, 3, axis=2), 1)
        near = tf.cast(distances(x[..., :2]) < 0.5, tf.float32)
        return {"double": distances(z), "five": distances(x[..., :5]), "gauss": tf.exp(-distances(x[..., 2:5])) @ y,
                "heads": attend(split), "joined": attend(tf.reshape(tf.concat(tf.split(y, 3, axis=2), 1), [-1, 3, 7, 4])),
                "near": near / tf.reduce_sum(near, 2, keepdims=True),
                "repeated": tf.reduce_max(distances(x[..., :3])[..., None] * y[:, :, None], 1),
                "squares": tf.reduce_sum(tf.square(x[..., :4]), -1), "table": distances(table[..., 3:6]),
                "transposed": attend(tf.transpose(tf.reshape(y, [-1, 7, 3, 4]), [0, 2, 1, 3])),
                "weighted": distances(x[..., :3], w)}

    works("pairs", serve, {"table": ("float32", [12, 10]), "x": ("float32", [7, 6]), "z": ("float64", [5, 4])},
          weights(43, (3,), (6, 12)))


@maker
def many_weights():
    (w,) = weights(31, (128, 128))
    works("many_weights", lambda w, x: {"y": tf.tanh(x @ w / 8)}, {"x": ("float32", [128])}, [w], batch_sizes=(1,))


def recurrent_model(name, inputs, outputs):
    """With biases that are not zero, as after training."""
    model = tf.keras.Model(inputs, outputs)
    random = np.random.default_rng(41)
    for weight in model.weights:
        if weight.name == "bias":
            weight.assign(random.normal(0, 0.3, weight.shape).astype(np.float32))
    folder = WORKS / name
    saved_model = mf.fresh(folder)
    model.export(str(saved_model), verbose=False)
    mf.trim(saved_model)
    write_config(folder)
    inputs = {one.name: ("float32", list(one.shape[1:])) for one in tf.nest.flatten(inputs)}
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), inputs)


@maker
def recurrent():
    """A Keras LSTM: a while loop over TensorLists."""
    tf.keras.utils.set_random_seed(19)
    inputs = tf.keras.Input([5, 3], name="sequence")
    model = tf.keras.Model(inputs, tf.keras.layers.LSTM(4, name="state")(inputs))
    folder = WORKS / "recurrent"
    saved_model = mf.fresh(folder)
    model.export(str(saved_model), verbose=False)
    mf.trim(saved_model)
    write_config(folder)
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), {"sequence": ("float32", [5, 3])})


@maker
def recurrent_layers():
    """Recurrent layers that become one kernel call each: on each other, in both directions, with states in and out."""
    tf.keras.utils.set_random_seed(20)
    layers = tf.keras.layers
    inputs = tf.keras.Input([7, 3], name="sequence")
    start = tf.keras.Input([5], name="start")
    both = layers.Bidirectional(layers.LSTM(6, return_sequences=True))(inputs)
    middle = layers.GRU(17, return_sequences=True)(both)
    simple = layers.SimpleRNN(33, return_sequences=True, activation="relu", go_backwards=True)(middle)
    last, h, memory = layers.LSTM(5, return_sequences=True, return_state=True)(
        layers.SimpleRNN(4, return_sequences=True)(simple), initial_state=[start, start * 2])
    in_line = layers.GRU(4, unroll=True)(middle)
    recurrent_model("recurrent_layers", [inputs, start],
                    {"all": last, "h": h, "memory": memory, "in_line": in_line, "both": both})


@maker
def recurrent_loops():
    """Recurrent layers that stay loops: masked, with other activations, a GRU whose reset comes before the product."""
    tf.keras.utils.set_random_seed(21)
    layers = tf.keras.layers
    inputs = tf.keras.Input([6, 3], name="sequence")
    masked = layers.Masking(mask_value=0.0)(layers.ReLU()(inputs))  # one step in eight is masked
    recurrent_model("recurrent_loops", inputs, {
        "masked": layers.LSTM(4, name="masked_state")(masked),
        "masked_sequence": layers.GRU(5, return_sequences=True)(masked),
        "hard": layers.LSTM(4, recurrent_activation="hard_sigmoid", activation="relu")(inputs),
        "reset_first": layers.GRU(4, reset_after=False)(inputs)})


def mixed(name, policy):
    """A Keras model in mixed precision. Its hidden values are inputs, so that 16 bits hold them without rounding."""
    tf.keras.mixed_precision.set_global_policy(policy)
    inputs = tf.keras.Input([4], name="x")
    hidden = tf.keras.layers.Dense(6, activation="relu")(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2, dtype="float32", name="y")(hidden))
    tf.keras.mixed_precision.set_global_policy("float32")
    one_input = np.array([[1, 0, 0, 0, -1, 0], [0, -1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 1], [0, 0, 0, -1, 0, 0]])
    model.set_weights([one_input, np.zeros(6), *weights(32, (6, 2), (2,))])
    folder = WORKS / name
    saved_model = mf.fresh(folder)
    model.export(str(saved_model), verbose=False)
    mf.trim(saved_model)
    write_config(folder)
    mf.write_reference(folder, mf.saved_model_predictor(saved_model), {"x": ("float32", [4])})


@maker
def mixed_bfloat16():
    mixed("mixed_bfloat16", "mixed_bfloat16")


@maker
def mixed_float16():
    mixed("mixed_float16", "mixed_float16")


@maker
def masked_rows():
    """How many elements of a row are kept depends on the data."""
    (w,) = weights(42, (8, 3))

    def serve(w, x):
        def one(row):
            kept = tf.boolean_mask(row, row > -0.4)
            table = tf.boolean_mask(w, row > -0.4)
            return {"count": tf.size(kept), "largest": tf.reduce_max(kept), "mean": tf.reduce_mean(kept),
                    "product": tf.linalg.matvec(table, kept, transpose_a=True), "sum": tf.reduce_sum(kept),
                    "first": tf.reduce_max(tf.nn.softmax(kept)), "places": tf.reduce_sum(tf.where(row > -0.4))}

        return tf.map_fn(one, x, fn_output_signature={
            "count": tf.int32, "largest": tf.float32, "mean": tf.float32, "product": tf.float32, "sum": tf.float32,
            "first": tf.float32, "places": tf.int64})

    works("masked_rows", serve, {"x": ("float32", [8])}, [w])


@maker
def untaken_dropout():
    """Dropout in a branch that is never taken."""
    works("untaken_dropout", lambda x: {"y": tf.cond(tf.constant(False), lambda: tf.nn.dropout(x, 0.5), lambda: x + 1)},
          {"x": ("float32", [4])})


@maker
def half_floats():
    """Every conversion between 16-bit floats and the others, back and forth."""

    def serve(x, d):
        def through(value, dtype):  # without rounding
            return tf.cast(tf.cast(value, dtype) * tf.cast(2, dtype), value.dtype)

        return {"float_b": through(x, tf.bfloat16), "float_h": through(x, tf.float16),
                "double_b": through(d, tf.bfloat16), "double_h": through(d, tf.float16)}

    works("half_floats", serve, {"x": ("float32", [5]), "d": ("float64", [5])})


# --- graphs of the TF1 kind: operations in the main graph, no call node around the outputs ------------------------


def tf1_graph(build):
    """build(v1) -> (inputs, outputs) as {name: tensor}, in a graph and session of its own."""
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(20)
        inputs, outputs = build(v1)
        session = v1.Session(graph=graph)
        session.run(v1.global_variables_initializer())
    return graph, session, inputs, outputs


def tf1_predictor(session, inputs, outputs):
    return lambda **values: session.run(outputs, {inputs[name]: value for name, value in values.items()})


def tf1_saved_model(name, build, specs):
    folder = WORKS / name
    saved_model = mf.fresh(folder)
    graph, session, inputs, outputs = tf1_graph(build)
    v1 = tf.compat.v1
    with graph.as_default():
        v1.saved_model.simple_save(session, str(saved_model), inputs, outputs)
    mf.trim(saved_model)
    write_config(folder)
    mf.write_reference(folder, tf1_predictor(session, inputs, outputs), specs)


def tf1_net(v1, variable):
    x = v1.placeholder(tf.float32, [None, 4], name="x_placeholder")
    flag = v1.placeholder(tf.bool, [None], name="flag_placeholder")
    w1, b1, w2 = weights(21, (4, 6), (6,), (6, 2))
    hidden = tf.nn.relu(x @ variable("w1", w1) + variable("b1", b1))
    logits = hidden @ variable("w2", w2)
    score = logits * tf.cast(flag, tf.float32)[:, tf.newaxis]
    return {"x": x, "flag": flag}, {"score": tf.sigmoid(score), "class": tf.argmax(score, 1)}


TF1_INPUTS = {"x": ("float32", [4]), "flag": ("bool", [])}


@maker
def tf1_variables():
    """simple_save with resource variables (VarHandleOp and ReadVariableOp in the main graph)."""
    tf1_saved_model("tf1_variables", lambda v1: tf1_net(
        v1, lambda name, value: v1.get_variable(name, initializer=value, use_resource=True)), TF1_INPUTS)


@maker
def tf1_ref_variables():
    """simple_save with reference variables (VariableV2), as models older than TensorFlow 1.11 have them."""
    tf1_saved_model("tf1_ref_variables", lambda v1: tf1_net(
        v1, lambda name, value: v1.get_variable(name, initializer=value, use_resource=False)), TF1_INPUTS)


@maker
def tf1_constants():
    """simple_save of a graph without variables."""
    tf1_saved_model("tf1_constants", lambda v1: tf1_net(
        v1, lambda name, value: tf.constant(value, name=name)), TF1_INPUTS)


@maker
def tf1_loop():
    """Control flow of version 1: Switch, Merge, Enter and Exit nodes instead of functions."""

    def build(v1):
        v1.disable_control_flow_v2()
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        (w,) = weights(22, (3, 3))
        _, y = v1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.tanh(y @ w)), (tf.constant(0), x))
        v1.enable_control_flow_v2()
        return {"x": x}, {"y": y}

    tf1_saved_model("tf1_loop", build, {"x": ("float32", [3])})


def frozen(name, build, output_keys, specs, **model):
    """specs: as for works(), by the placeholders' names. The outputs are called by their nodes' names."""
    folder = WORKS / name
    graph, session, inputs, outputs = tf1_graph(build)
    names = [outputs[key].op.name for key in output_keys]
    frozen = tf.compat.v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), names)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "frozen_graph.pb").write_bytes(frozen.SerializeToString(deterministic=True))
    write_config(folder, format="frozen_graph", outputs=f"[{', '.join(names)}]", **model)
    predict = tf1_predictor(session, {tensor.op.name: tensor for tensor in inputs.values()},
                            dict(zip(names, (outputs[key] for key in output_keys))))
    mf.write_reference(folder, predict, specs, signature=None)


FROZEN_INPUTS = {"x_placeholder": TF1_INPUTS["x"], "flag_placeholder": TF1_INPUTS["flag"]}


@maker
def frozen_graph():
    """A frozen GraphDef, as CMS's older models are."""

    def build(v1):
        return tf1_net(v1, lambda name, value: v1.get_variable(name, initializer=value, use_resource=True))

    frozen("frozen_graph", build, ["score", "class"], FROZEN_INPUTS,
           inputs='[x_placeholder, "flag_placeholder:0"]')


def frozen_net(name, seed):
    """Weights of 1 to 12 numbers and a lone one, beside constants that XLA must know: a shape made of floats, and 0.5."""

    def build(v1):
        names = iter("abcdef")
        kernel, bias, last, last_bias, scale = [
            v1.get_variable(next(names), initializer=value, use_resource=True)
            for value in (*weights(seed, (4, 3), (3,), (3, 1), (1,)), np.float32(seed) / 16)]
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        shape = tf.concat([[-1], tf.cast(tf.constant([2.0, 2.0]), tf.int32)], 0)
        turned = tf.reshape(tf.transpose(tf.reshape(x, shape), [0, 2, 1]), [-1, 4])
        hidden = 0.5 * tf.tanh(turned @ kernel + bias)
        return {"x": x}, {"y": tf.sigmoid((hidden @ last + last_bias) * scale, name="y")}

    frozen(name, build, ["y"], {"x": ("float32", [4])}, inputs="[x]")


@maker
def frozen_trained():
    """With frozen_retrained: the same net with other weights."""
    frozen_net("frozen_trained", 24)


@maker
def frozen_retrained():
    frozen_net("frozen_retrained", 25)


@maker
def frozen_unshaped():
    """Placeholders that say neither shape nor rank: the config does."""

    def build(v1):
        x = v1.placeholder(tf.float32, None, name="x")
        (w,) = weights(23, (3, 2))
        return {"x": x}, {"y": tf.nn.softmax(tf.matmul(tf.ensure_shape(x, None), tf.constant(w)), name="out/y")}

    frozen("frozen_unshaped", build, ["y"], {"x": ("float32", [3])}, inputs="[{name: x, shape: [null, 3]}]")


def old_net(v1, phase):
    """As Keras for TensorFlow 1 writes it: each layer's condition on the learning phase, and a recurrent layer as a loop
    of version 1 over arrays of tensors."""
    x = v1.placeholder(tf.float32, None, name="x")
    gamma, kernel, recurrent, bias, last = weights(26, (3,), (3, 4), (4, 4), (4,), (4, 2))
    mean, variance = tf.nn.moments(x, [0, 1])
    normed = v1.cond(phase, lambda: (x - mean) / tf.sqrt(variance + 1e-3) * gamma, lambda: x * gamma + 0.125)
    dropped = v1.cond(phase, lambda: v1.nn.dropout(normed, rate=0.5), lambda: normed)
    steps = tf.transpose(dropped, [1, 0, 2])
    count = tf.shape(steps)[0]
    inputs = tf.TensorArray(tf.float32, size=count, tensor_array_name="input_ta").unstack(steps)
    outputs = tf.TensorArray(tf.float32, size=count, tensor_array_name="output_ta")

    def step(time, outputs, state):
        state = tf.tanh(inputs.read(time) @ kernel + state @ recurrent + bias)
        return time + 1, outputs.write(time, state), state

    state = tf.zeros([tf.shape(x)[0], 4])
    _, outputs, _ = v1.while_loop(lambda time, *_: time < count, step, (tf.constant(0), outputs, state))
    all_states = tf.transpose(outputs.stack(), [1, 0, 2])
    logits = tf.reduce_mean(all_states, 1) @ last
    return {"x": x}, {"y": tf.nn.softmax(v1.cond(phase, lambda: v1.nn.dropout(logits, rate=0.5), lambda: logits), name="out/y")}


def without_control_flow_v2(build):
    def built(v1):
        v1.disable_control_flow_v2()
        made = build(v1)
        v1.enable_control_flow_v2()
        return made

    return built


def old_graph(graph):
    """The graph as TensorFlow 1.0 wrote it: without a version, and with shapes of placeholders like those of scalars."""
    graph.versions.Clear()
    for node in graph.node:
        if node.op == "Placeholder":
            node.attr["shape"].shape.Clear()


@maker
def learning_phase():
    """A frozen graph of Keras for TensorFlow 1. Its placeholder for the learning phase is no input: model.constants."""

    def build(v1):
        with tf.name_scope("norm"):
            phase = v1.placeholder(tf.bool, [], name="keras_learning_phase")
        inputs, outputs = old_net(v1, phase)
        return {**inputs, "phase": phase}, outputs

    folder = WORKS / "learning_phase"
    graph, session, inputs, outputs = tf1_graph(without_control_flow_v2(build))
    frozen = tf.compat.v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["out/y"])
    old_graph(frozen)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "frozen_graph.pb").write_bytes(frozen.SerializeToString(deterministic=True))
    write_config(folder, format="frozen_graph", constants="{norm/keras_learning_phase: false}",
                 inputs="[{name: x, shape: [null, 5, 3]}]", outputs="[out/y]")
    predict = tf1_predictor(session, inputs, {"out/y": outputs["y"]})
    mf.write_reference(folder, lambda x: predict(x=x, phase=False), {"x": ("float32", [5, 3])}, signature=None)


@maker
def tf1_constant_inputs():
    """simple_save of a graph that needs placeholders which are not in its signature: one truth value, a list of numbers."""

    def build(v1):
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        phase = v1.placeholder(tf.bool, [], name="training")
        scale = v1.placeholder(tf.float32, [3], name="scale")
        y = v1.cond(phase, lambda: x - 1, lambda: x * scale)
        return {"x": x, "phase": phase, "scale": scale}, {"y": y}

    folder = WORKS / "tf1_constant_inputs"
    saved_model = mf.fresh(folder)
    graph, session, inputs, outputs = tf1_graph(without_control_flow_v2(build))
    with graph.as_default():
        tf.compat.v1.saved_model.simple_save(session, str(saved_model), {"x": inputs["x"]}, outputs)
    mf.trim(saved_model)
    write_config(folder, constants='{training: false, "scale:0": [2, 0.5, -1.5]}')
    predict = tf1_predictor(session, inputs, outputs)
    mf.write_reference(folder, lambda x: predict(x=x, phase=False, scale=[2, 0.5, -1.5]), {"x": ("float32", [3])})


def captured_net(name, seed):
    """Arrays that the function takes from outside, none of them a variable: in the function itself, in a loop, in both branches of
    a choice, of 16 bits, and as a table of places. The last is too small for a weight."""
    w, u, bias, half = weights(seed, (6, 16), (16, 16), (2, 16), (16, 4))
    (last,) = weights(29, (4, 3))
    places = np.random.default_rng(29).integers(0, 16, (256, 16))

    def serve(event, x):
        state = tf.tanh(x @ w)
        for step in tf.range(3):
            shift = tf.cond(step < 2, lambda: bias[0] * 2 + bias[1], lambda: u[:, 3] - bias[1])
            state = tf.tanh(state @ u + shift)
        mixed = tf.gather(state, tf.gather(places, event), batch_dims=1)
        return {"score": mixed @ tf.cast(half.astype(np.float16), tf.float32) @ last, "state": state}

    works(name, serve, {"event": ("int32", [], 256), "x": ("float32", [6])}, batch_sizes=(1, 4))


@maker
def captured_arrays():
    """With captured_retrained: the same net with other weights."""
    captured_net("captured_arrays", 27)


@maker
def captured_retrained():
    captured_net("captured_retrained", 28)


# --- what must be refused ---------------------------------------------------------------------------------------


@maker
def dynamic_output():
    refused("dynamic_output", lambda x: {"found": tf.where(x > 0)}, [spec("x", [4])])


@maker
def dynamic_rows():
    refused("dynamic_rows", lambda x: {"kept": tf.boolean_mask(x, x[:, 0] > 0)}, [spec("x", [4])])


@maker
def string_input():
    refused("string_input", lambda text, x: {"y": x + tf.cast(tf.strings.length(text), tf.float32)},
            [spec("text", [], "string"), spec("x", [])])


@maker
def string_output():
    refused("string_output", lambda x: {"text": tf.strings.as_string(x), "y": x * 2}, [spec("x", [2])])


@maker
def unknown_dimension():
    refused("unknown_dimension", lambda x: {"y": tf.reduce_sum(x, axis=1)},
            [tf.TensorSpec([None, None, 3], tf.float32, name="x")])


@maker
def unknown_rank():
    refused("unknown_rank", lambda x: {"y": x * 2}, [tf.TensorSpec(None, tf.float32, name="x")])


@maker
def scalar_input():
    refused("scalar_input", lambda x, scale: {"y": x * scale},
            [spec("x", [3]), tf.TensorSpec([], tf.float32, name="scale")])


@maker
def no_kernel():
    refused("no_kernel", lambda x: {"y": x + tf.strings.to_number(tf.strings.as_string(x))}, [spec("x", [2])])


@maker
def python_function():
    refused("python_function", lambda x: {"y": tf.ensure_shape(
        tf.numpy_function(lambda a: a + 1, [x], tf.float32), [None, 2])}, [spec("x", [2])])


@maker
def lookup_table():
    folder = REFUSED / "lookup_table"
    made = tf.Module()
    made.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        tf.constant([1, 2], tf.int64), tf.constant([10, 20], tf.int64)), -1)
    made.serve = tf.function(lambda x: {"y": made.table.lookup(x)}, input_signature=[spec("x", [], "int64")])
    mf.save(folder, made, made.serve)
    write_config(folder)


# Models that act on the machine that compiles them: TensorFlow folds constants by running its own kernels.

FILE = "/proc/version"


def number_in_file():
    return tf.reduce_sum(tf.cast(tf.io.decode_raw(tf.io.read_file(FILE), tf.uint8), tf.float32))


@maker
def reads_file():
    refused("reads_file", lambda x: {"y": x + number_in_file()}, [spec("x", [2])])


@maker
def reads_file_for_shape():
    """TensorFlow wants the value as soon as it reads the graph."""
    refused("reads_file_for_shape", lambda x: {"y": tf.reshape(x, [-1, tf.cast(number_in_file(), tf.int32)])},
            [spec("x", [2])])


@maker
def reads_file_in_loop():
    refused("reads_file_in_loop", lambda x: {"y": tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y + number_in_file()), (0, x))[1]}, [spec("x", [2])])


@maker
def maps_file():
    """A constant whose value is a file's."""
    refused("maps_file", lambda x: {"y": x + tf.cast(tf.raw_ops.ImmutableConst(
        dtype=tf.uint8, shape=[2], memory_region_name=FILE), tf.float32)}, [spec("x", [2])])


@maker
def writes_file_for_debugging():
    refused("writes_file_for_debugging", lambda x: {"y": x + tf.raw_ops.DebugIdentity(
        input=tf.constant(1.0), tensor_name="t:0", debug_urls=["file:///tmp/tfaot-refused"])}, [spec("x", [2])])


def writing_loop():
    def body(i):
        with tf.control_dependencies([tf.raw_ops.WriteFile(filename="/tmp/tfaot-refused", contents="here")]):
            return i + 1

    return tf.while_loop(lambda i: i < 3.0, body, [tf.constant(0.0)])[0]


@maker
def writes_file_in_loop():
    """All that goes into the loop is constant."""
    refused("writes_file_in_loop", lambda x: {"y": x + writing_loop()}, [spec("x", [2])])


def tf1_refused(name, build_main_op):
    """A TF1 SavedModel whose variable `v` is set by an operation that runs when the model is loaded."""
    folder = REFUSED / name
    saved_model = mf.fresh(folder)
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        v = v1.get_variable("v", initializer=np.float32(1), use_resource=True)
        session.run(v1.global_variables_initializer())
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": x * v})
        builder = v1.saved_model.Builder(str(saved_model))
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature},
                                             main_op=build_main_op(v))
        builder.save()
    mf.trim(saved_model)
    write_config(folder)


@maker
def reads_file_when_loaded():
    tf1_refused("reads_file_when_loaded", lambda v: v.assign(number_in_file()).op)


@maker
def restores_other_file():
    tf1_refused("restores_other_file", lambda v: v.assign(
        tf.reshape(tf.raw_ops.RestoreV2(prefix="/tmp/other/variables", tensor_names=["v"], shape_and_slices=[""],
                                        dtypes=[tf.float32])[0], [])).op)


@maker
def frozen_reads_file():
    folder = REFUSED / "frozen_reads_file"
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
        tf.add(x, number_in_file(), name="y")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "frozen_graph.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
    write_config(folder, format="frozen_graph", inputs="[x]", outputs="[y]")


@maker
def random_noise():
    refused("random_noise", lambda x: {"y": x + tf.random.normal(tf.shape(x))}, [spec("x", [2])])


@maker
def stateless_random():
    """Of one seed: TensorFlow and XLA have other generators."""
    refused("stateless_random", lambda x: {"y": x + tf.random.stateless_uniform([4], seed=[1, 2])}, [spec("x", [4])])


@maker
def dropout_left_on():
    """Exported in training mode."""
    refused("dropout_left_on", lambda x: {"y": tf.nn.dropout(x, 0.5)}, [spec("x", [2])])


@maker
def runtime_write():
    def serve(count, x):
        return {"y": x + count.assign_add(1.0)}

    refused("runtime_write", serve, [spec("x", [2])], [np.float32(0)])


@maker
def complex64_input():
    refused("complex64_input", lambda x: {"y": tf.math.real(x)}, [spec("x", [2], "complex64")])


@maker
def complex128_output():
    refused("complex128_output", lambda x: {"y": tf.cast(x, tf.complex128)}, [spec("x", [2])])


@maker
def batch_sum():
    refused("batch_sum", lambda x: {"y": tf.reduce_sum(x, axis=0)}, [spec("x", [3])])


@maker
def mean_of_batch():
    refused("mean_of_batch", lambda x: {"y": x - tf.reduce_mean(x, axis=0), "z": x * 2}, [spec("x", [3])])


@maker
def softmax_of_batch():
    refused("softmax_of_batch", lambda x: {"y": tf.nn.softmax(x, axis=0)}, [spec("x", [3])])


@maker
def running_sum_of_batch():
    refused("running_sum_of_batch", lambda x: {"y": tf.cumsum(x, axis=0)}, [spec("x", [3])])


@maker
def sorted_batch():
    refused("sorted_batch", lambda x: {"y": tf.sort(x, axis=0)}, [spec("x", [3])])


@maker
def normalized_batch():
    """Batch normalisation as in training."""
    refused("normalized_batch", lambda x: {"y": tf.compat.v1.nn.fused_batch_norm(
        x, tf.ones(2), tf.zeros(2), is_training=True)[0]}, [spec("x", [2, 2, 2])])


@maker
def rolled_batch():
    refused("rolled_batch", lambda x: {"y": tf.roll(x, 1, axis=0)}, [spec("x", [3])])


@maker
def reversed_batch():
    refused("reversed_batch", lambda x: {"y": tf.reverse(x, [0])}, [spec("x", [3])])


@maker
def numbered_rows():
    refused("numbered_rows", lambda x: {"y": x + tf.cast(tf.range(tf.shape(x)[0]), tf.float32)[:, None]}, [spec("x", [3])])


@maker
def pairs_of_rows():
    refused("pairs_of_rows", lambda x: {"y": tf.nn.softmax(x @ tf.transpose(x)) @ x}, [spec("x", [3])])


@maker
def batch_size_in_values():
    refused("batch_size_in_values", lambda x: {"y": x / tf.cast(tf.shape(x)[0], tf.float32)}, [spec("x", [3])])


@maker
def rows_decide_together():
    refused("rows_decide_together", lambda x: {"y": tf.cond(tf.reduce_mean(x) > 0, lambda: x * 2, lambda: x)},
            [spec("x", [3])])


def refused_code(name, body):
    """A model that brings code of XLA's own language: `body` makes %y of %x."""
    from tensorflow.compiler.mlir.stablehlo import stablehlo
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    row = "tensor<2x4xf32>"
    text = f"module {{ func.func public @main(%x: {row}) -> {row} {{ {body.format(row=row)} return %y : {row} }} }}"
    code = stablehlo.serialize_portable_artifact_str(text, "0.9.0")
    made = module(lambda x: {"y": gen_xla_ops.xla_call_module(
        [x], version=9, module=code, Sout=[[2, 4]], Tout=[tf.float32], platforms=["CPU"])[0]},
        [tf.TensorSpec([2, 4], tf.float32, "x")])
    mf.save(REFUSED / name, made, made.serve)
    write_config(REFUSED / name, [2])


@maker
def function_by_name():
    refused_code("function_by_name", "%y = stablehlo.custom_call @puts(%x) {{api_version = 1 : i32}} : ({row}) -> {row}")


@maker
def waits_for_host():
    refused_code("waits_for_host", """%t = stablehlo.create_token : !stablehlo.token
        %y, %u = "stablehlo.infeed"(%t) {{infeed_config = ""}} : (!stablehlo.token) -> ({row}, !stablehlo.token)""")


@maker
def rng_of_xla():
    refused_code("rng_of_xla", """%a = stablehlo.constant dense<0.0> : tensor<f32>
        %b = stablehlo.constant dense<1.0> : tensor<f32>
        %s = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
        %r = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> {row}
        %y = stablehlo.add %x, %r : {row}""")


@maker
def endless_loop():
    """Ends for numbers up to 1 alone, so not in a trial run; without a reference, which random numbers would make."""
    made = module(lambda x: {"y": tf.while_loop(lambda y: tf.reduce_any(y > 1), lambda y: [tf.where(y > 1, y * y, y)],
                                                [x])[0]}, [spec("x", [2])])
    mf.save(MODELS / "endless_loop", made, made.serve)
    write_config(MODELS / "endless_loop")


@maker
def rows_of_one_number():
    """Rows meet where an input is a number of the model's, which random ones never are."""
    refused("rows_of_one_number", lambda x, id: {"y": x + tf.reduce_sum(tf.where(id == 123456, x, 0.0), axis=0)},
            [spec("x", [2]), spec("id", [1], "int32")])


@maker
def equal_rows():
    """Rows meet where two of them are equal."""
    def serve(x):
        equal = tf.cast(x[:, :1] == tf.transpose(x[:, :1]), tf.float32)
        return {"y": x / tf.reduce_sum(equal, axis=1, keepdims=True)}

    refused("equal_rows", serve, [spec("x", [2])])


@maker
def transposed_output():
    refused("transposed_output", lambda x: {"y": tf.transpose(x)}, [spec("x", [4])])


@maker
def doubled_rows():
    refused("doubled_rows", lambda x: {"y": tf.concat([x, x], axis=0)}, [spec("x", [3])])


@maker
def other_fixed_batch():
    write_config(REFUSED / "other_fixed_batch", saved_model="../../works/fixed_batch/saved_model")


@maker
def wrong_serving_key():
    write_config(REFUSED / "wrong_serving_key", saved_model="../../works/signatures/saved_model", serving_key="serving_defualt")


@maker
def damaged_model():
    folder = REFUSED / "damaged_model"
    saved_model = mf.fresh(folder)
    saved_model.mkdir()
    whole = (WORKS / "scalars" / "saved_model" / "saved_model.pb").read_bytes()
    (saved_model / "saved_model.pb").write_bytes(whole[: len(whole) // 2])
    write_config(folder)


@maker
def missing_variables():
    folder = REFUSED / "missing_variables"
    saved_model = mf.fresh(folder)
    saved_model.mkdir()
    shutil.copy(WORKS / "ranks" / "saved_model" / "saved_model.pb", saved_model)
    write_config(folder)


@maker
def frozen_missing_input():
    write_config(REFUSED / "frozen_missing_input", format="frozen_graph",
                 frozen_graph="../../works/frozen_graph/frozen_graph.pb", inputs="[x_placeholdre]", outputs="[Sigmoid]")


@maker
def frozen_missing_output():
    write_config(REFUSED / "frozen_missing_output", format="frozen_graph",
                 frozen_graph="../../works/frozen_graph/frozen_graph.pb", inputs="[x_placeholder]", outputs="[softmax]")


def wrong_flag(name, *compilation):
    write_config(REFUSED / name, compilation=compilation, saved_model="../../works/scalars/saved_model")


@maker
def unknown_xla_flag():
    wrong_flag("unknown_xla_flag", "xla_flags:", "  - --xla_cpu_enable_fast_math=false", "  - --xla_cpu_nonsense=1")


@maker
def unknown_tf_xla_flag():
    wrong_flag("unknown_tf_xla_flag", "tf_xla_flags: [--tf_xla_nonsense]")


@maker
def xla_flag_value():
    wrong_flag("xla_flag_value", "xla_flags: [--xla_cpu_enable_fast_math=maybe]")


@maker
def tf_xla_flag_value():
    wrong_flag("tf_xla_flag_value", "tf_xla_flags: [--tf_xla_auto_jit=maybe]")


def main(names):
    for name in names or MAKERS:
        MAKERS[name]()
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
