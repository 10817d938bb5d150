#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""many_models.py PREFIX [--count N] [--only tfaot]

The memory of a process that holds many small models, after one row of each: tfaot's packages linked
into a program, loaded by name from one library and from an area, and the same nets in ONNX Runtime
and TensorFlow. PREFIX: an installed tfaot, or build/release. Needs a Python with onnx, onnxruntime
and tensorflow-cpu for the peers, and g++ for tfaot.

Each net is dense, 16 to 32 to 32 to 2 numbers with relu, with weights of its own. Resident memory
is VmRSS. Private memory is what the process shares with no file or other process. Of the peers that
of a Python process with numpy alone is subtracted. Every output is compared with numpy's. Prints a
table in Markdown.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

SIZES = [16, 32, 32, 2]

MEMORY = """
#include <cstdio>
#include <fstream>
#include <string>
inline void print_memory() {
  long resident = 0, dirty = 0;
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    std::sscanf(line.c_str(), "Rss: %ld", &resident);
    std::sscanf(line.c_str(), "Private_Dirty: %ld", &dirty);
  }
  std::printf("memory %ld %ld\\n", resident, dirty);
}
"""

LOADED = """
#include <vector>
#include "memory.h"
#include "tfaot/runtime/models.h"
int main(int, char** argv) {
  const tfaot::Models models(argv[1]);
  std::vector<tfaot::LoadedModel> all;
  std::vector<float> x(16), y(2);
  for (int i = 0; i < 16; ++i) x[i] = i / 16.0f;
  for (int n = 0; n < COUNT; ++n) {
    auto model = models.load("net_" + std::to_string(n));
    if (!model) return std::fprintf(stderr, "%s\\n", model.error().text.c_str()), 1;
    all.push_back(*std::move(model));
    if (!all.back().run(1, {{"x", x}}, {{"y", y}})) return 1;
    std::printf("y %.9g %.9g\\n", y[0], y[1]);
  }
  print_memory();
}
"""

PEER = """
import sys
import numpy as np
def memory():
    text = open("/proc/self/smaps_rollup").read()
    return [int(text.split(key + ":")[1].split()[0]) for key in ("Rss", "Private_Dirty")]
before = memory()
x = (np.arange(16, dtype="float32") / 16).reshape(1, 16)
models = []
for path in sys.argv[2:]:
    if sys.argv[1] == "onnxruntime":
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        models.append(onnxruntime.InferenceSession(path + ".onnx", options))
        y = models[-1].run(None, {"x": x})[0]
    else:
        import tensorflow as tf
        models.append(tf.saved_model.load(path + ".saved"))
        y = models[-1].signatures["serving_default"](x=tf.constant(x))["y"].numpy()
    print("y", *[f"{number:.9g}" for number in y[0]])
print("memory", *[after - start for after, start in zip(memory(), before)])
"""

SAVE = """
import sys
import numpy as np
import tensorflow as tf
for path in sys.argv[1:]:
    weights = [tf.Variable(array) for array in np.load(path + ".npz").values()]
    class Net(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 16], tf.float32, name="x")])
        def __call__(self, x):
            for layer in range(3):
                x = x @ self.weights[2 * layer] + self.weights[2 * layer + 1]
                x = tf.nn.relu(x) if layer < 2 else x
            return {"y": x}
    net = Net()
    net.weights = weights
    tf.saved_model.save(net, path + ".saved", signatures=net.__call__)
"""


def run(command, **options):
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def weights_of(number):
    random = np.random.default_rng(number)
    layers = []
    for rows, columns in zip(SIZES, SIZES[1:]):
        layers += [random.normal(0, rows**-0.5, (rows, columns)), random.normal(0, 0.1, columns)]
    return [layer.astype("float32") for layer in layers]


def expected(number):
    y = np.arange(16, dtype="float64") / 16
    weights = weights_of(number)
    for layer in range(3):
        y = y @ weights[2 * layer] + weights[2 * layer + 1]
        y = np.maximum(y, 0) if layer < 2 else y
    return y


def write_net(path, number):
    weights = weights_of(number)
    np.savez(f"{path}.npz", **{f"w{i}": weight for i, weight in enumerate(weights)})
    nodes, last = [], "x"
    for layer in range(3):
        end = "y" if layer == 2 else f"sum{layer}"
        nodes.append(onnx.helper.make_node("Gemm", [last, f"w{2 * layer}", f"w{2 * layer + 1}"], [end]))
        if layer < 2:
            nodes.append(onnx.helper.make_node("Relu", [end], [f"relu{layer}"]))
        last = f"relu{layer}"
    tensors = [onnx.numpy_helper.from_array(weight, f"w{i}") for i, weight in enumerate(weights)]
    row = [onnx.helper.make_tensor_value_info(name, 1, ["N", size]) for name, size in (("x", 16), ("y", 2))]
    graph = onnx.helper.make_graph(nodes, "net", row[:1], row[1:], tensors)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, f"{path}.onnx")


def linked_program(count):
    """A program with all packages linked in."""
    text = '#include "memory.h"\n'
    text += "".join(f'#include "tfaot-model-net-{n}/model.h"\n' for n in range(count))
    text += "int main() {\n  std::vector<float> x(16), y(2);\n  for (int i = 0; i < 16; ++i) x[i] = i / 16.0f;\n"
    for n in range(count):
        text += f"  tfaot::native::Model<tfaot_model::net_{n}> m{n};\n"
        text += f'  m{n}.run(1, tfaot::inputs(x), tfaot::outputs(y));\n  std::printf("y %.9g %.9g\\n", y[0], y[1]);\n'
    return text + "  print_memory();\n}\n"


def tfaot_rows(folder, prefix, paths):
    tool = prefix / "bin/tfaot"
    for path in paths:
        run([tool, "compile", f"{path}.onnx", "-o", path, "--batch-sizes", "1", "--cpu-levels", "x86-64-v3", "-q"])
        run([tool, "package", path, "-o", folder / "dist", "-q"])
    area = folder / "area"
    run([tool, "install", *sorted((folder / "dist").glob("*.tar.*")), "--link", "--release-area", area])
    run([tool, "link", *paths, "-o", folder / "libmodels.so"])
    (folder / "memory.h").write_text(MEMORY)
    (folder / "loaded.cc").write_text(LOADED.replace("COUNT", str(len(paths))))
    (folder / "linked.cc").write_text(linked_program(len(paths)))
    runtime = paths[0] / "runtime"
    compiler = ["g++", "-std=c++17", "-O1", f"-I{folder}", f"-I{runtime}/include"]
    run([*compiler, folder / "loaded.cc", "-o", folder / "loaded", "-ldl"])
    objects = [file for path in paths for file in sorted((path / "lib").glob("*.o"))]
    run([*compiler, *[f"-I{path}/include" for path in paths], folder / "linked.cc", "-o", folder / "linked",
         *objects, runtime / "lib/libtfaot_runtime.a"])
    yield "tfaot, linked into the program", [folder / "linked"]
    yield "tfaot::Models, one library", [folder / "loaded", folder / "libmodels.so"]
    yield f"tfaot::Models, an area with {len(paths)} libraries", [folder / "loaded", area]


def peer_rows(folder, paths):
    (folder / "peer.py").write_text(PEER)
    (folder / "save.py").write_text(SAVE)
    yield "ONNX Runtime", [sys.executable, folder / "peer.py", "onnxruntime", *paths]
    run([sys.executable, folder / "save.py", *paths], stderr=subprocess.DEVNULL)
    yield "TensorFlow, SavedModels", [sys.executable, folder / "peer.py", "tensorflow", *paths]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", choices=["tfaot"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfaot-many-") as work:
        folder = pathlib.Path(work)
        paths = [folder / f"net_{number}" for number in range(options.count)]
        for number, path in enumerate(paths):
            write_net(path, number)
        print("| | resident MB | private MB |\n|---|---|---|", flush=True)
        rows = list(tfaot_rows(folder, options.prefix.resolve(), paths))
        for name, command in [*rows, *([] if options.only else peer_rows(folder, paths))]:
            lines = [line.split() for line in run(command, stderr=subprocess.DEVNULL).splitlines()]
            outputs = [[float(word) for word in line[1:]] for line in lines if line[0] == "y"]
            np.testing.assert_allclose(outputs, [expected(n) for n in range(options.count)], rtol=1e-4, atol=1e-5)
            resident, private = [int(word) / 1000 for word in lines[-1][1:]]
            print(f"| {name} | {resident:.1f} | {private:.1f} |", flush=True)


if __name__ == "__main__":
    main()
