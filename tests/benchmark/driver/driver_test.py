#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The driver's logic, from rounds written by hand and runners that are shell scripts: no engine, no timed assertion."""
import argparse
import array
import contextlib
import dataclasses
import io
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import xml.dom.minidom

import bench
import measure
import plot
import report
from engines import FEWER_BITS, IREE_RUNNER, Engine, Net, engines_of, peers_of
from runner import Runner, RunnerError

ENGINES = {"tfaot": "tfaot", "onnxruntime": "ONNX Runtime", "litert": "LiteRT"}


def canned():
    """Two batch sizes: ours wins the first; in the second the peer is faster in every round, though slower in one by wall time,
    as the machine stood still for both."""
    rounds = {(1, "tfaot"): [10.0, 12.0, 11.0], (1, "onnxruntime"): [20.0, 24.0, 22.0], (1, "litert"): [30.0, 36.0, 33.0],
              (8, "tfaot"): [40.0, 400.0, 42.0], (8, "onnxruntime"): [32.0, 320.0, 33.6], (8, "litert"): [40.0, 400.0, 42.0]}
    return {
        "machine": {"cpu": "a CPU", "cores": 2, "system": "Linux 6.1", "peak_gflops": 100.0, "commit": "abc", "date": "2026-01-01",
                    "versions": {"onnxruntime": "1.2.3", "ai-edge-litert": "4.5.6", "openvino": "7.8.9", "iree-base-runtime": "3.2.1"}, "rounds": 3, "round_ms": 4, "quick": True, "without": [],
                    "compiled_sizes": [1, 8], "clock": "us"},
        "nets": {"net_a": {"flops_per_row": 220000, "dense": True, "weight_bytes": 1500000, "read_us": 5.5}},
        "engines": ENGINES,
        "samples": [{"net": "net_a", "batch": batch, "engine": engine, "us": us, "cpu_us": [9.0] * 3, "max_abs_difference": 1e-6}
                    for (batch, engine), us in rounds.items()],
        "kinds": [{"net": "net_a", "batch": 1, "kind": kind, "us": us, "cpu_us": [9.0] * 3}
                  for kind, us in {"": [10.0, 12.0, 11.0], "denormal": [50.0, 30.0, 22.0]}.items()],
        "footprints": [
            {"net": "net_a", "engine": "none", "load_seconds": 0.001, "rss": 3000000, "pss": 1000000, "shipped_bytes": 0,
             "compile_seconds": None},
            {"net": "net_a", "engine": "tfaot", "load_seconds": 0.002, "rss": 5000000, "pss": 3000000, "shipped_bytes": 2500000,
             "compile_seconds": 1.25}],
        "failures": [],
    }


class Report(unittest.TestCase):
    def test_results_are_medians_and_paired_ratios(self):
        results = report.results_of(canned())
        self.assertEqual(len(results), 6)
        ours, peer = results[0], results[4]
        self.assertEqual((ours["net"], ours["batch"], ours["engine"], ours["us_per_call"]), ("net_a", 1, "tfaot", 11.0))
        self.assertEqual((ours["times_tfaot"], ours["share_of_peak"], ours["us_lower_quartile"]), (1.0, 0.2, 10.5))
        self.assertEqual((peer["batch"], peer["engine"], peer["us_per_call"], peer["us_per_row"]), (8, "onnxruntime", 33.6, 4.2))
        self.assertEqual(peer["times_tfaot"], 0.8)

    def test_other_inputs_are_compared_round_by_round(self):
        row = "| net | batch | ranges of 0.01 to 1000 | below 1.2e-38 |\n| --- | ---: | ---: | ---: |\n| net_a | 1 |  | 2.50 |\n"
        self.assertIn(row, report.markdown(canned()))
        self.assertNotIn("Other inputs", report.markdown({**canned(), "kinds": []}))

    def test_losses_are_named(self):
        results = report.results_of(canned())
        self.assertEqual(report.losses_of(results), [("net_a", 8, "onnxruntime", 0.8)])
        text = report.summary(results, ENGINES)
        self.assertIn("Rows (net and batch size): 2. Ours is fastest in 1.", text)
        self.assertIn("- net_a, batch 8: ONNX Runtime; ours takes 1.25 times as long", text)

    def test_means_are_geometric_over_the_best_peers(self):
        measurements = canned()
        measurements["samples"] += [{**s, "net": "net_b", "us": [us / 2 if s["engine"] == "tfaot" else us for us in s["us"]]}
                                    for s in measurements["samples"]]
        measurements["nets"]["net_b"] = measurements["nets"]["net_a"]
        results = report.results_of(measurements)
        means = report.means_of(results)
        self.assertEqual(list(means), [1, 8])
        self.assertAlmostEqual(means[1], 8 ** 0.5, places=3)  # 2 and 4
        self.assertAlmostEqual(means[8], 1.28 ** 0.5, places=3)  # 0.8 and 1.6
        self.assertIn("| batch | 1 | 8 |\n| --- | ---: | ---: |\n| times | 2.83 | 1.13 |\n", report.summary(results, ENGINES))

    def test_times_of_the_processor(self):
        measurements = canned()
        self.assertIn("Times are wall time; the runners had the core for 21% of theirs or more.", report.markdown(measurements))
        measurements["machine"]["clock"] = "cpu_us"
        self.assertEqual({(r["us_per_call"], r["times_tfaot"]) for r in report.results_of(measurements)}, {(9.0, 1.0)})
        self.assertIn("not wall time**\n  (the runners had the core for 21% of it at worst)", report.markdown(measurements))

    def test_other_packages_of_ours_are_no_peers(self):
        for name in ("tfaot_tuned", "tfaot_onnx"):
            measurements = canned()
            for sample in measurements["samples"]:
                if sample["engine"] == "onnxruntime":
                    sample["engine"] = name
            results = report.results_of(measurements)
            self.assertEqual(report.losses_of(results), [])
            measurements["engines"] = {"tfaot": "tfaot", name: "another", "litert": "LiteRT"}
            self.assertIn("| 0.80 | 1.00 | tfaot |", report.markdown(measurements))

    def test_fewer_bits_are_no_peer_and_are_counted_apart(self):
        measurements = canned()
        for sample in measurements["samples"]:
            if sample["engine"] == "onnxruntime":
                sample["engine"] = "openvino_default"
        measurements["engines"] = {"tfaot": "tfaot", "openvino_default": "OpenVINO, default precision", "litert": "LiteRT"}
        self.assertEqual(report.losses_of(report.results_of(measurements)), [])
        text = report.markdown(measurements)
        self.assertIn("\n\nIn fewer bits, over the time of our float32:\n\n"
                      "- OpenVINO, default precision: 1.26 (geometric mean), below 1 in 1 of 2 rows\n", text)
        self.assertIn("| 0.80 | 1.00 | tfaot |", text)

    def test_versions_of_peers_for_trees(self):
        measurements = canned()
        self.assertNotIn("XGBoost", report.markdown(measurements))
        measurements["engines"] = {**ENGINES, "xgboost": "XGBoost"}
        measurements["machine"]["versions"].update({"xgboost-cpu": "3.2.1", "tl2cgen": "1.0.1", "lleaves": "1.3.1"})
        text = report.markdown(measurements)
        self.assertIn("- **XGBoost** 3.2.1: its C interface. **TL2cgen** 1.0.1 and **lleaves** 1.3.1: their code\n", text)
        self.assertEqual([line for line in text.splitlines() if len(line) > 100 and not line.startswith("|")], [])

    def test_no_losses(self):
        measurements = canned()
        measurements["samples"] = measurements["samples"][:3]
        results = report.results_of(measurements)
        self.assertEqual(report.losses_of(results), [])
        self.assertNotIn("wins", report.summary(results, ENGINES))

    def test_markdown(self):
        text = report.markdown(canned())
        self.assertIn("| batch | tfaot, us a call | us a row | share of 100 GFLOP/s | ONNX Runtime | LiteRT | fastest |", text)
        self.assertIn("| 1 | 11 ± 0.5 | 11 | 20% | 2.00 | 3.00 | tfaot |", text)
        self.assertIn("1.50 MB of weights; a CPU.\nReading these once takes 5.5 us on this core: at batch 1 ours is at 50% of that roof.\n", text)
        self.assertIn("| 0.80 | 1.00 | **ONNX Runtime wins: ours takes 1.25 times as long** |", text)
        self.assertIn("### net_a\n\na CPU.\n\n|  | resident MB", text)
        self.assertIn("| tfaot | 5.00 | 3.00 | 2.50 | 2 | 1.2 |", text)
        self.assertIn("| a runner without an engine | 3.00 | 1.00 | 0.00 | 1 |  |", text)
        self.assertIn("packaging/bench.sh --quick --update-docs", text)

    def test_what_was_not_measured_is_listed(self):
        measurements = canned()
        self.assertNotIn("Not measured:", report.markdown(measurements))
        measurements["samples"] = [s for s in measurements["samples"] if (s["engine"], s["batch"]) != ("litert", 8)]
        measurements["failures"] = [{"net": "net_a", "engine": "litert", "batch": 8, "reason": "it ended"},
                                    {"net": "net_b", "engine": "onnxruntime", "batch": None, "reason": "there is no runner"}]
        text = report.markdown(measurements)
        self.assertIn("\nNot measured:\n\n- net_a, LiteRT from batch 8 on: it ended\n- net_b, ONNX Runtime: there is no runner\n", text)
        self.assertIn("| 0.80 |  | **ONNX Runtime wins", text)

    def test_engines_that_were_left_out_are_named_and_not_described(self):
        measurements = canned()
        self.assertNotIn("--without", report.markdown(measurements))
        measurements["engines"] = {**ENGINES, "usual_aot": "usual AOT route"}
        measurements["machine"]["without"] = ["iree", "tfaot_tuned"]
        text = report.markdown(measurements)
        self.assertIn("- Not measured in this run, by `--without`: iree, tfaot_tuned.\n", text)
        self.assertIn("- **usual AOT route**: ", text)
        for title in ("IREE", "tfaot, tuned"):
            self.assertNotIn(f"- **{title}**", text)

    def test_lines_of_prose_end_at_100_columns(self):
        measurements = canned()
        measurements["machine"].update(rounds=31, round_ms=10, quick=False, without=["iree", "usual_aot", "tfaot_tuned"])
        measurements["machine"]["versions"].update({"xgboost-cpu": "3.2.1", "tl2cgen": "1.0.1", "lleaves": "1.3.1"})
        measurements["engines"] = {**ENGINES, **{name: name for name, _ in report.DESCRIPTIONS}}
        measurements["failures"] = [{"net": "net_a", "engine": "litert", "batch": 1, "reason": "a reason of many words " * 6}]
        lines = report.markdown(measurements).splitlines()
        self.assertEqual([line for line in lines if len(line) > 100 and not line.startswith("|")], [])

    def test_only_dense_nets_have_the_roof_of_reading(self):
        measurements = canned()
        measurements["nets"]["net_a"]["dense"] = False
        self.assertIn("1.50 MB of weights; a CPU.\n", report.markdown(measurements))

    def test_plot_is_xml_with_a_line_per_peer(self):
        picture = xml.dom.minidom.parseString(plot.svg(report.results_of(canned()), ENGINES))
        lines = picture.getElementsByTagName("polyline")
        self.assertEqual(len(lines), 2)
        heights = [float(point.split(",")[1]) for point in lines[0].getAttribute("points").split()]
        self.assertLess(heights[0], heights[1])  # 2.00 is drawn above 0.80

    def test_the_legend_fits_into_the_picture_and_has_no_fewer_bits(self):
        titles = {"tfaot": "tfaot", "litert": "LiteRT", "onnxruntime": "ONNX Runtime",
                  **{f"other{number}": f"an engine with a long name {number}" for number in range(8)}, "openvino_default": "OpenVINO"}
        picture = xml.dom.minidom.parseString(plot.svg(report.results_of(canned()), titles))
        dots = [dot for dot in picture.getElementsByTagName("circle") if dot.getAttribute("r") == "4"]
        self.assertEqual(len(dots), len(titles) - 1)
        self.assertLess(max(float(dot.getAttribute("cx")) for dot in dots), plot.WIDTH * plot.COLUMNS - 150)
        self.assertEqual({dot.getAttribute("cy") for dot in dots}, {"16", "32", "48"})


RUNNER = """#!/usr/bin/env python3
import sys
print("ready", flush=True)
for line in sys.stdin:
    verb, number = line.split()
    print("ok {worst} 2.0" if verb == "prepare" else f"{{int(number) * {ns}}} {{int(number) * 10}}", flush=True)
"""
NET = Net(pathlib.Path("net_a"), "net_a", [4], 2, 100, True, ["x:0", "y:0"], ["x:0", "y:0"], False, 10, 1000)
ENDS_AT_8 = RUNNER.replace("    verb, number = line.split()\n", "    verb, number = line.split()\n    if number == '8': sys.exit('too many')\n")


class Measure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = open(pathlib.Path(self.folder.name) / "log", "w")
        self.addCleanup(self.log.close)
        self.core = bench.parse_arguments(["--out", "x"]).core

    def engine(self, name, text):
        program = pathlib.Path(self.folder.name) / name
        program.write_text(text)
        return Engine(name, name, [sys.executable, str(program)])

    def measure(self, *engines):
        return list(measure.measure_net(NET, list(engines), (1, 8), measure.Effort(5, 1000, seconds=0), self.core, self.log))

    def test_rounds_end_when_the_time_is_over(self):
        engine = self.engine("tfaot", RUNNER.format(worst=0, ns=50000))
        for seconds, rounds in ((0, measure.FEWEST_ROUNDS), (3600, 5)):
            (batch,) = measure.measure_net(NET, [engine], (1,), measure.Effort(5, 1000, seconds), self.core, self.log)
            self.assertEqual(len(batch[1][0]["us"]), rounds)

    def test_rounds_of_all_engines(self):
        batches = self.measure(self.engine("tfaot", RUNNER.format(worst=0, ns=50000)),
                               self.engine("onnxruntime", RUNNER.format(worst="1e-5", ns=100000)))
        self.assertEqual([(batch, failures) for batch, _, failures in batches], [(1, []), (8, [])])
        ours, peer = batches[1][1]
        self.assertEqual((ours["engine"], ours["batch"], ours["us"], ours["calls_per_round"]), ("tfaot", 8, [50.0] * 3, 20))
        self.assertEqual(ours["cpu_us"], [0.01] * 3)
        self.assertEqual((peer["engine"], peer["us"], peer["calls_per_round"]), ("onnxruntime", [100.0] * 3, 10))
        self.assertEqual(peer["max_abs_difference"], 1e-5)

    def test_outputs_of_fewer_bits_may_differ_more(self):
        engine = self.engine("openvino", RUNNER.format(worst=0.1, ns=1000))
        ours = self.engine("tfaot", RUNNER.format(worst=0, ns=1000))
        for tolerance, measured in ((0.04, ["tfaot"]), (0.06, ["tfaot", "openvino"])):  # the largest output is 2
            (_, samples, _), *_ = self.measure(ours, dataclasses.replace(engine, tolerance=tolerance))
            self.assertEqual([sample["engine"] for sample in samples], measured)

    def test_wrong_outputs_of_ours_end_the_run(self):
        for worst in ("0.1", "inf"):
            with self.assertRaisesRegex(measure.WrongOutput, "tfaot is wrong for net_a at batch 1: it differs from TensorFlow by"):
                self.measure(self.engine("tfaot", RUNNER.format(worst=worst, ns=1000)))

    def test_a_peer_that_fails_is_left_out_from_there_on(self):
        ours = self.engine("tfaot", RUNNER.format(worst=0, ns=1000))
        wrong = self.engine("litert", RUNNER.format(worst=0.1, ns=1000))
        ends = self.engine("iree", ENDS_AT_8.format(worst=0, ns=1000))
        missing = Engine("openvino", "OpenVINO", ["no/such/runner"])
        (_, first, failed_first), (_, second, failed_second) = self.measure(ours, missing, wrong, ends)
        self.assertEqual([sample["engine"] for sample in first], ["tfaot", "iree"])
        self.assertEqual(failed_first, [
            {"net": "net_a", "engine": "openvino", "batch": 1, "reason": "there is no runner"},
            {"net": "net_a", "engine": "litert", "batch": 1,
             "reason": "litert is wrong for net_a at batch 1: it differs from TensorFlow by 0.1"}])
        self.assertEqual([sample["engine"] for sample in second], ["tfaot"])
        self.assertEqual([(failure["engine"], failure["batch"]) for failure in failed_second], [("iree", 8)])

    def test_one_of_ours_that_fails_ends_the_run(self):
        with self.assertRaisesRegex(RunnerError, "there is no runner"):
            self.measure(Engine("tfaot_onnx", "tfaot, from ONNX", ["no/such/runner"]))
        with self.assertRaisesRegex(RunnerError, "the runner of tfaot ended"):
            self.measure(self.engine("tfaot", ENDS_AT_8.format(worst=0, ns=1000)))

    def test_a_runner_that_ends(self):
        with self.assertRaisesRegex(RunnerError, "the runner of litert ended; its words are in log$"):
            Runner(self.engine("litert", "import sys; sys.exit('no model')"), self.core, self.log)
        self.assertIn("no model", pathlib.Path(self.log.name).read_text())

    def test_memory_and_load_time(self):
        found = measure.footprint_of(self.engine("tfaot", RUNNER.format(worst=0, ns=1)), 1, 64, self.core, self.log)
        self.assertGreater(found["rss"], found["pss"] / 2)
        self.assertGreater(found["pss"], 0)
        self.assertGreater(found["load_seconds"], 0)

    def test_every_engine_comes_first_equally_often(self):
        orders = [measure.order_of(["a", "b", "c"], number) for number in range(6)]
        self.assertEqual(sorted(order[0] for order in orders), ["a", "a", "b", "b", "c", "c"])
        self.assertTrue(all(sorted(order) == ["a", "b", "c"] for order in orders))


class Engines(unittest.TestCase):
    def test_peers_of_unpacked_wheels(self):
        with tempfile.TemporaryDirectory() as folder:
            wheels = pathlib.Path(folder)
            for name in ("onnxruntime/capi/libonnxruntime.so.1", "openvino/libs/libopenvino.so.2", "openvino/libs/libopenvino_c.so.2",
                         "openvino/libs/libopenvino_intel_gpu_plugin.so", "openvino/libs/libopenvino_intel_cpu_plugin.so",
                         "xgboost_cpu.libs/libgomp-1.so"):
                (wheels / name).parent.mkdir(parents=True, exist_ok=True)
                (wheels / name).touch()
            peers = peers_of(wheels, wheels / "tensorflow")
            self.assertEqual([library.name for library in peers["openvino"]],
                             ["libopenvino_c.so.2", "libopenvino.so.2", "libopenvino_intel_cpu_plugin.so"])
            engines = {engine.name: engine for engine in engines_of(NET, wheels / "bin", peers)}
            self.assertIn(f"library={peers['openvino'][0]}", engines["openvino"].command)
            self.assertEqual(engines["openvino"].files, [*peers["openvino"], NET.folder / "net.onnx"])
            self.assertIn("precision=f32", engines["openvino"].command)
            default = engines["openvino_default"]
            self.assertEqual([word for word in default.command if word.startswith("precision")], [])
            self.assertEqual(default.command[0], engines["openvino"].command[0])
            self.assertEqual({name for name, engine in engines.items() if engine.tolerance > 1e-4}, set(FEWER_BITS))
            self.assertIn(f"model={NET.folder}/int8.tflite", engines["litert_int8"].command)
            others = [engine.name for engine in engines_of(dataclasses.replace(NET, dense=False), wheels / "bin", peers)]
            self.assertEqual(set(engines) - set(others), set(FEWER_BITS) - {"openvino_default"})
            self.assertIn(f"programs={wheels}/iree/_runtime_libs", engines["iree"].command)
            self.assertEqual([name for name, engine in engines.items() if not engine.is_resident], ["iree"])
            self.assertEqual(engines["tensorflow_xla"].environment["XLA_FLAGS"], "--xla_cpu_use_thunk_runtime=false")
            wanted = bench.wanted_engines(NET, argparse.Namespace(programs=wheels, without=["iree", "usual_aot"]), peers)
            self.assertEqual(set(engines) - {engine.name for engine in wanted}, {"iree", "usual_aot"})
            big = [engine.name for engine in engines_of(dataclasses.replace(NET, rows=64), wheels / "bin", peers)]
            self.assertEqual(set(engines) - set(big), {"tfaot_tuned"})
            trees = {engine.name: engine for engine in engines_of(dataclasses.replace(NET, trees=True), wheels / "bin", peers)}
            self.assertEqual(list(trees), ["tfaot", "tfaot_tuned", "onnxruntime", "xgboost", "tl2cgen", "lleaves"])
            self.assertEqual({engine.command[0] for engine in list(trees.values())[3:]}, {f"{wheels}/bin/runner_trees"})
            self.assertEqual([file.name for file in trees["xgboost"].files], ["libxgboost.so", "libgomp-1.so", "xgboost.json"])
            self.assertLessEqual({"engine=lleaves", f"library={NET.folder}/lleaves.so", "turns=1000"}, set(trees["lleaves"].command))
            self.assertNotIn("turns=1000", engines["onnxruntime"].command)
            with_thunks = {engine.name: engine for engine in engines_of(dataclasses.replace(NET, jit_thunks=True), wheels / "bin", peers)}
            self.assertNotIn("XLA_FLAGS", with_thunks["tensorflow_xla"].environment)


IREE_PROGRAM = """#!/usr/bin/env python3
import sys
options = dict(word[2:].split("=", 1) for word in sys.argv[1:])
assert options["module"].endswith("/model/b2.vmfb") or options["module"].endswith("/model/b1.vmfb"), options
assert options["device"] == "local-sync" and options["function"] == "net", options
shape, _, path = options["input"].partition("xf32=@")
data = open(path, "rb").read()
assert (shape, len(data)) in (("2x3", 24), ("1x3", 12)), (shape, len(data))
if "output" in options:
    open(options["output"][1:], "wb").write(data[:len(data) // 3])  # the first numbers
else:
    assert options["benchmark_min_time"] == "5x", options
    print('{"benchmarks": [{"real_time": 2.5, "cpu_time": 1.5, "time_unit": "us"}]}')
"""


class Iree(unittest.TestCase):
    def test_words_of_a_runner(self):
        with tempfile.TemporaryDirectory() as name, open(pathlib.Path(name) / "log", "w") as log:
            folder = pathlib.Path(name)
            for program in ("iree-run-module", "iree-benchmark-module"):
                (folder / program).write_text(IREE_PROGRAM)
                (folder / program).chmod(0o755)
            (folder / "inputs").write_bytes(array.array("f", [1, -4, 3, 4, 5, 6]).tobytes())
            (folder / "expected").write_bytes(array.array("f", [1.25, -4]).tobytes())
            command = [sys.executable, str(IREE_RUNNER), f"model={folder}/model", f"programs={folder}", "input=float32 3 x",
                       f"input_file={folder}/inputs", "output=float32 1 y", f"expected_file={folder}/expected"]
            with Runner(Engine("iree", "IREE", command), bench.parse_arguments(["--out", "x"]).core, log) as runner:
                self.assertEqual(runner.prepare(2), [0.25, 4])
                self.assertEqual(runner.time(5), (2.5, 1.5))


class Resume(unittest.TestCase):
    def test_only_of_the_same_settings(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "measurements.json"
            bench.write_aside(kept, json.dumps(canned()))
            self.assertEqual(bench.resumed(kept, canned()["machine"]), canned())
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["measurements.json"])
            with self.assertRaisesRegex(SystemExit, r"was measured with another 'commit' \(abc, now def\); leave --resume out"):
                bench.resumed(kept, {**canned()["machine"], "commit": "def"})

            with self.assertRaisesRegex(SystemExit, r"with another 'without' \(\[\], now \['iree'\]\); leave --resume out"):
                bench.resumed(kept, {**canned()["machine"], "without": ["iree"]})

    def test_measured_nets_are_kept(self):
        measured = []
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            out = pathlib.Path(folder)
            arguments = bench.parse_arguments(["--out", folder, "--resume", "--nets", folder])
            machine = {**canned()["machine"], "rounds": bench.FULL.rounds}
            kept = {**canned(), "machine": {**machine, "peak_gflops": 90.0}}
            (out / "measurements.json").write_text(json.dumps(kept))
            (out / "aot_config.yaml").write_text("batch_sizes: [1, 8]\n")
            nets = [Net(out, name, [4], 2, 100, True, [], [], False, 10, 1000) for name in ("net_a", "net_b")]
            for name, value in {"load_nets": lambda *_: nets, "peers_of": lambda *_: {}, "machine_of": lambda *_: dict(machine),
                                "measure_one": lambda net, effort, record, *_: measured.append(record["nets"].setdefault(net.name, net.name))}.items():
                stack.enter_context(unittest.mock.patch.object(bench, name, value))
            measurements = bench.measure_all(arguments, out / "measurements.json", io.StringIO())
            self.assertEqual(measured, ["net_b"])
            self.assertEqual(list(measurements["nets"]), ["net_a", "net_b"])
            self.assertEqual(measurements["machine"]["peak_gflops"], 100.0)
            self.assertEqual(json.loads((out / "measurements.json").read_text()), measurements)


class Machine(unittest.TestCase):
    def test_a_cpu_has_a_name_and_numbers(self):
        text = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n"
        self.assertEqual(bench.cpu_of(text + text), "AMD EPYC (family 25, model 17)")
        self.assertEqual(bench.cpu_of("processor\t: 0\nCPU part\t: 0xd0c\n"), "")


class Again(unittest.TestCase):
    def test_results_from_kept_measurements(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            (out / "measurements.json").write_text(json.dumps(canned()))
            bench.main(["--out", folder, "--again"])
            results = json.loads((out / "results.json").read_text())
            self.assertEqual(results, report.results_of(canned()))
            self.assertTrue({"net", "batch", "engine", "us_per_call"} <= set(results[0]))
            self.assertTrue((out / "benchmarks.md").read_text().startswith("<!-- SPDX"))
            self.assertTrue((out / "benchmarks.svg").exists())


if __name__ == "__main__":
    unittest.main()
