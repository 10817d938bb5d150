# SPDX-License-Identifier: Apache-2.0
"""Makes the models beside it: NET/model.*, and NET/reference.json with JAX's own predictions.

    python3 make_models.py old      with JAX 0.5.0: what it exports is read as it is
    python3 make_models.py new      with the newest JAX: through tfaot_jax.py, and as text

Each makes the nets that say so below. Needs jax and flatbuffers, nothing else.
"""
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3] / "modules/python"))
import jax
import jax.numpy as jnp
import tfaot_jax

BATCH_SIZES = (1, 2, 3, 4, 5, 8)
Shape = jax.ShapeDtypeStruct


def weights(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(0, 0.5, shape).astype("float32")


def write_reference(name, predict, specs, batch_sizes, file="reference.json"):
    cases = []
    for batch_size in batch_sizes:
        random = np.random.default_rng(batch_size)
        inputs = {key: (random.integers(-128, 129, (batch_size, *shape)) / 64).astype("float32")
                  for key, shape in specs.items()}
        outputs = {key: np.asarray(value) for key, value in predict(**inputs).items()}
        assert all(np.isfinite(value).all() for value in outputs.values())
        cases.append({"batch_size": batch_size, "inputs": flat(inputs), "outputs": flat(outputs)})
    head = {"signature": "", "inputs": described(inputs), "outputs": described(outputs)}
    lines = ",\n".join("  " + json.dumps(case, separators=(",", ":")) for case in cases)
    (HERE / name / file).write_text(json.dumps(head)[:-1] + ', "cases": [\n' + lines + "\n]}\n")


def flat(arrays):
    return {name: [float(str(n)) if array.dtype == np.float32 else n.item() for n in array.ravel()]
            for name, array in arrays.items()}


def described(arrays):
    return [{"name": name, "dtype": str(array.dtype), "row_shape": list(array.shape[1:])} for name, array in arrays.items()]


# jax.export's own file: two inputs in a dictionary, a bias that is zero. And the same net with other weights.
def dense(seed):
    w1, w2 = weights(8, 20, seed=seed), weights(20, 3, seed=seed + 1)
    b1 = np.zeros(20, "float32") if seed == 0 else weights(20, seed=9)

    def net(events):
        x = jnp.concatenate([events["muon"], events["electron"]], axis=1)
        h = jax.nn.gelu(x @ w1 + b1, approximate=False)
        return {"score": jax.nn.softmax(h @ w2), "sum": jnp.sum(h, axis=1)}
    return net


def make_dense():
    for name, seed in (("dense", 0), ("dense_retrained", 5)):
        net = dense(seed)
        (b,) = jax.export.symbolic_shape("b")
        events = {"muon": Shape((b, 5), "float32"), "electron": Shape((b, 3), "float32")}
        exported = jax.export.export(jax.jit(net), platforms=["cpu"])(events)
        (HERE / name / "model.jax").write_bytes(exported.serialize())
        write_reference(name, lambda **events: net(events), {"electron": (3,), "muon": (5,)}, BATCH_SIZES)


# A portable artifact as JAX writes it: a loop whose weights the body takes from outside.
def make_scan():
    w, u = weights(6, 10), weights(10, 10, seed=1)

    def net(x):
        def step(state, x_t):
            state = jnp.tanh(state @ u + x_t @ w)
            return state, state[:, :4]
        last, all_steps = jax.lax.scan(step, jnp.zeros((x.shape[0], 10)), jnp.swapaxes(x, 0, 1))
        return {"all": jnp.swapaxes(all_steps, 0, 1), "last": last}
    (b,) = jax.export.symbolic_shape("b")
    exported = jax.export.export(jax.jit(net), platforms=["cpu"])(Shape((b, 7, 6), "float32"))
    (HERE / "scan/model.mlirbc").write_bytes(exported.mlir_module_serialized)
    write_reference("scan", net, {"x": (7, 6)}, BATCH_SIZES)


# Through tfaot_jax: the number of tracks is open too, and model.dimensions says it.
def make_attention():
    q, k, v = weights(4, 8), weights(4, 8, seed=1), weights(4, 8, seed=2)

    def net(tracks):
        x = (tracks - tracks.mean(-1, keepdims=True)) / jnp.sqrt(tracks.var(-1, keepdims=True) + 1e-3)
        scores = jnp.einsum("bsd,btd->bst", x @ q, x @ k) / np.sqrt(np.float32(8))
        return {"pooled": jnp.max(jax.nn.softmax(scores) @ (x @ v), axis=1)}
    tracks = Shape(jax.export.symbolic_shape("b, n_tracks, 4"), "float32")
    tfaot_jax.export(net, tracks, file=HERE / "attention/model.stablehlo")
    write_reference("attention", net, {"tracks": (6, 4)}, BATCH_SIZES)
    write_reference("attention", net, {"tracks": (260, 4)}, (1, 2), "long_reference.json")


# MLIR as text, with places in Python code that the TensorFlow of tfaot cannot read; the batch is fixed.
def make_convolution():
    first, second = weights(3, 3, 2, 6), weights(3, 3, 6, 4, seed=1)

    def net(image):
        layout = ("NHWC", "HWIO", "NHWC")
        x = jax.nn.relu(jax.lax.conv_general_dilated(image, first, (1, 1), "SAME", dimension_numbers=layout))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.lax.conv_general_dilated(x, second, (1, 1), "SAME", dimension_numbers=layout)
        return {"features": jnp.mean(x, axis=(1, 2))}
    lowered = jax.jit(net).lower(Shape((4, 8, 8, 2), "float32"))
    (HERE / "convolution/model.mlir").write_text(lowered.as_text(debug_info=True))
    write_reference("convolution", net, {"image": (8, 8, 2)}, (4,))


# MLIR as text, without names of inputs: whole numbers, and a constant inside of a function that a loop calls.
def make_sort():
    w = weights(3, 16)

    @jax.jit
    def scaled(value):
        return value * jnp.sum(jnp.abs(w))

    def net(x):
        best, places = jax.lax.top_k(x, 3)
        total = jax.lax.fori_loop(0, 3, lambda i, sum: scaled(sum) / 64 + best[:, i], jnp.zeros_like(best[:, 0]))
        return {"ordered": jnp.sort(x, axis=-1), "places": places, "total": total,
                "first": jnp.argsort(-x, axis=-1)[:, 0]}
    lowered = jax.jit(net).lower(Shape((3, 9), "float32"))
    (HERE / "sort/model.mlir").write_text(lowered.as_text())
    write_reference("sort", lambda input_0: net(input_0), {"input_0": (9,)}, (3,))


# NaN, infinities, denormals, overflow and indices out of range: edge_values_test.cc says what comes out.
def make_edge_values():
    table = np.float32([10, 20, 30, 40, 50])

    def net(at, m, n, x):
        norm = (x - x.mean(1, keepdims=True)) * jax.lax.rsqrt(x.var(1, keepdims=True) + 1e-5)
        pooled = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3), (1, 1), "VALID")
        return {"argmax": jnp.argmax(x, 1), "gathered": jnp.asarray(table)[at], "hot": jax.nn.one_hot(at, 3),
                "largest": jnp.max(x, 1), "log": jnp.log(x), "maximum": jnp.maximum(x, 1.0),
                "mean": jnp.mean(n, 1).astype(jnp.int32), "norm": norm, "pooled": pooled, "quotient": jax.lax.div(n, m),
                "relu": jax.nn.relu(x), "resized": jax.image.resize(x, (x.shape[0], 12), "linear"), "scaled": x * 2.0**100,
                "sigmoid": jax.nn.sigmoid(x), "softmax": jax.nn.softmax(x), "sum": n + n, "top": jax.lax.top_k(x, 2)[0],
                "whole": x.astype(jnp.int32)}
    lowered = jax.jit(net).lower(*(Shape((6, size), "int32") for size in (2, 4, 4)), Shape((6, 6), "float32"))
    (HERE / "edge_values/model.mlir").write_text(lowered.as_text())


NETS = {"old": (make_dense, make_scan), "new": (make_attention, make_convolution, make_edge_values, make_sort)}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in NETS:
        sys.exit("usage: make_models.py old|new")
    for make in NETS[sys.argv[1]]:
        make()
