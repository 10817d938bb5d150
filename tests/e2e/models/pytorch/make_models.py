# SPDX-License-Identifier: Apache-2.0
"""Makes the models beside it with a real PyTorch: NET/model.onnx by the exporter of TorchScript, NET/dynamo.onnx by the newer one, and
NET/reference.json with PyTorch's own predictions.

    python3 make_models.py [NET...]      without a name, all

Needs: pip install torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 numpy. PyTorch works on a CPU; nothing else needs it.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
BATCH_SIZES = (1, 3, 4, 6)


class Dense(nn.Module):
    """Batch normalisation of columns, three activations, two outputs."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 16), nn.GELU(), nn.Dropout(0.2), nn.Linear(16, 12),
                                  nn.LeakyReLU(0.1), nn.LayerNorm(12))
        self.score = nn.Linear(12, 3)
        self.energy = nn.Linear(12, 1)

    def forward(self, x):
        h = self.body(x)
        return torch.softmax(self.score(h), dim=-1), nn.functional.softplus(self.energy(h)).squeeze(-1)


class Convolution(nn.Module):
    """An image with the channels first: batch normalisation, a grouped convolution, both kinds of pooling."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=4), nn.BatchNorm2d(8), nn.Hardswish(),
                                  nn.Conv2d(8, 12, 1), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(12, 4)

    def forward(self, image):
        return self.head(self.body(image))


class Recurrent(nn.Module):
    """An LSTM in both directions, then a GRU; the first row of the result and the last state."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 6, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(12, 8, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, hits):
        h, _ = self.lstm(hits)
        all_states, last = self.gru(h)
        return self.head(last[-1]), all_states[:, 0]


class Attention(nn.Module):
    """A layer of a transformer over tracks, of which some are padding; then a query of its own that pools them."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Linear(4, 8)
        self.layer = nn.TransformerEncoderLayer(8, 4, dim_feedforward=16, activation="gelu", batch_first=True, norm_first=True)
        self.query = nn.Parameter(torch.randn(1, 1, 8))
        self.pool = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, tracks, mask):
        x = self.embedding(tracks)
        x = self.layer(x, src_key_padding_mask=mask)
        query = self.query.expand(x.shape[0], -1, -1)
        pooled, weights = self.pool(query, x, x, key_padding_mask=mask)
        return self.head(pooled.squeeze(1)), weights.squeeze(1)


class Graph(nn.Module):
    """Particles with an identity each, which is looked up; the three nearest neighbours of each; messages along the edges."""

    def __init__(self):
        super().__init__()
        self.identity = nn.Embedding(11, 5)
        self.edge = nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 8))
        self.head = nn.Linear(8, 2)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, 24).reshape(8, 3))

    def forward(self, particles, identities):
        x = torch.cat([particles * self.scale, self.identity(identities)], dim=-1)
        places = particles[..., :2]
        distances = (places.unsqueeze(1) - places.unsqueeze(2)).square().sum(-1)
        near = torch.topk(distances, 3, dim=-1, largest=False, sorted=True).indices
        batch, count, features = x.shape
        around = torch.gather(x.unsqueeze(1).expand(batch, count, count, features), 2,
                              near.unsqueeze(-1).expand(batch, count, 3, features))
        center = x.unsqueeze(2).expand_as(around)
        messages = self.edge(torch.cat([center, around - center], dim=-1))
        return self.head(messages.amax(dim=2).mean(dim=1)), near


# Of each net: its inputs, as (dtype, shape of a row, bound of whole numbers), and its outputs.
NETS = {
    "dense": (Dense, {"x": ("float32", (6,))}, ["score", "energy"]),
    "convolution": (Convolution, {"image": ("float32", (2, 8, 8))}, ["score"]),
    "recurrent": (Recurrent, {"hits": ("float32", (7, 5))}, ["score", "first"]),
    "attention": (Attention, {"tracks": ("float32", (10, 4)), "mask": ("bool", (10,))}, ["score", "weights"]),
    "graph": (Graph, {"particles": ("float32", (8, 3)), "identities": ("int64", (8,), 11)}, ["score", "near"]),
}


def inputs_of(specs, batch_size):
    random = np.random.default_rng(batch_size)
    values = {}
    for name, (dtype, row, *bound) in specs.items():
        shape = (batch_size, *row)
        if dtype == "bool":
            values[name] = random.integers(0, 3, shape) == 0
            values[name][:, 0] = False  # a row that is padding alone has no mean
        elif dtype == "int64":
            values[name] = random.integers(0, bound[0], shape)
        else:
            values[name] = (random.integers(-128, 129, shape) / 64).astype("float32")
    return {name: torch.from_numpy(value) for name, value in values.items()}


# Weights as a training leaves them: statistics of batch normalisation that are not 0 and 1.
def settle(net):
    for module in net.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.normal_(module.running_mean, 0, 0.3)
            nn.init.uniform_(module.running_var, 0.5, 2)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.3)
    return net.eval()


# Where in which Python file each node comes from: half of a file, and another on each machine.
def without_places(file):
    model = onnx.load(file)
    for graph in (model.graph, *model.functions):
        for one in (graph, *graph.node, *graph.value_info):
            one.doc_string = ""
            del one.metadata_props[:]
    onnx.save(model, file)


def export(net, specs, outputs, folder):
    example = inputs_of(specs, 2)
    torch.onnx.export(net, tuple(example.values()), folder / "model.onnx", dynamo=False, input_names=list(specs),
                      output_names=outputs, dynamic_axes={name: {0: "batch"} for name in [*specs, *outputs]})
    batch = torch.export.Dim("batch")
    torch.onnx.export(net, tuple(example.values()), folder / "dynamo.onnx", dynamo=True, input_names=list(specs),
                      output_names=outputs, dynamic_shapes=[{0: batch} for _ in specs], external_data=False)
    for file in ("model.onnx", "dynamo.onnx"):
        without_places(folder / file)


def flat(tensors):
    return {name: [float(str(number)) if array.dtype == np.float32 else number.item() for number in array.ravel()]
            for name, array in ((name, tensor.numpy()) for name, tensor in tensors.items())}


def described(tensors):
    return [{"name": name, "dtype": str(tensor.numpy().dtype), "row_shape": list(tensor.shape[1:])} for name, tensor in tensors.items()]


def write_reference(net, specs, names, folder):
    cases = []
    for batch_size in BATCH_SIZES:
        inputs = inputs_of(specs, batch_size)
        made = net(*inputs.values())
        outputs = dict(zip(names, made if isinstance(made, tuple) else (made,), strict=True))
        assert all(torch.isfinite(value).all() for value in outputs.values())
        cases.append({"batch_size": batch_size, "inputs": flat(inputs), "outputs": flat(outputs)})
    head = {"signature": "", "inputs": described(inputs), "outputs": described(outputs), "torch": torch.__version__.split("+")[0]}
    lines = ",\n".join("  " + json.dumps(case, separators=(",", ":")) for case in cases)
    (folder / "reference.json").write_text(json.dumps(head)[:-1] + ', "cases": [\n' + lines + "\n]}\n")


def main():
    torch.backends.mha.set_fastpath_enabled(False)  # a fused operation, which the older exporter does not know
    for name in sys.argv[1:] or NETS:
        make, specs, outputs = NETS[name]
        torch.manual_seed(sorted(NETS).index(name))
        net = settle(make())
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        with torch.no_grad():
            export(net, specs, outputs, folder)
            write_reference(net, specs, outputs, folder)


if __name__ == "__main__":
    main()
