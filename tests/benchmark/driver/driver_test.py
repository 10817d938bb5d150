#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The driver's logic, from rounds written by hand and runners that are shell scripts: no engine, no timed assertion."""
import json
import pathlib
import sys
import tempfile
import unittest
import xml.dom.minidom

import bench
import measure
import plot
import report
from engines import Engine, Net
from runner import Runner, RunnerError

ENGINES = {"tfaot": "tfaot", "onnxruntime": "ONNX Runtime", "litert": "LiteRT"}


def canned():
    """Two batch sizes: ours wins the first; in the second the peer is faster in every round, though slower in one by wall time,
    as the machine stood still for both."""
    rounds = {(1, "tfaot"): [10.0, 12.0, 11.0], (1, "onnxruntime"): [20.0, 24.0, 22.0], (1, "litert"): [30.0, 36.0, 33.0],
              (8, "tfaot"): [40.0, 400.0, 42.0], (8, "onnxruntime"): [32.0, 320.0, 33.6], (8, "litert"): [40.0, 400.0, 42.0]}
    return {
        "machine": {"cpu": "a CPU", "cores": 2, "system": "Linux 6.1", "peak_gflops": 100.0, "commit": "abc", "date": "2026-01-01",
                    "versions": {"onnxruntime": "1.2.3", "ai-edge-litert": "4.5.6"}, "rounds": 3, "round_ms": 4, "quick": True,
                    "compiled_sizes": [1, 8], "clock": "us"},
        "nets": {"net_a": {"flops_per_row": 220000, "dense": True, "weight_bytes": 1500000, "read_us": 5.5}},
        "engines": ENGINES,
        "samples": [{"net": "net_a", "batch": batch, "engine": engine, "us": us, "cpu_us": [9.0] * 3, "max_abs_difference": 1e-6}
                    for (batch, engine), us in rounds.items()],
        "footprints": [
            {"net": "net_a", "engine": "none", "load_seconds": 0.001, "rss": 3000000, "pss": 1000000, "shipped_bytes": 0,
             "compile_seconds": None},
            {"net": "net_a", "engine": "tfaot", "load_seconds": 0.002, "rss": 5000000, "pss": 3000000, "shipped_bytes": 2500000,
             "compile_seconds": 1.25}],
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

    def test_losses_are_named(self):
        results = report.results_of(canned())
        self.assertEqual(report.losses_of(results), [("net_a", 8, "onnxruntime", 0.8)])
        text = report.summary(results, ENGINES)
        self.assertIn("Rows (net and batch size): 2. Ours is fastest in 1.", text)
        self.assertIn("- net_a, batch 8: ONNX Runtime; ours takes 1.25 times as long", text)

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
        self.assertIn("1.50 MB of weights.\nReading these once takes 5.5 us on this core: at batch 1 ours is at 50% of that roof.\n", text)
        self.assertIn("| 0.80 | 1.00 | **ONNX Runtime wins: ours takes 1.25 times as long** |", text)
        self.assertIn("| tfaot | 5.00 | 3.00 | 2.50 | 2 | 1.2 |", text)
        self.assertIn("| a runner without an engine | 3.00 | 1.00 | 0.00 | 1 |  |", text)
        self.assertIn("packaging/bench.sh --quick --update-docs", text)

    def test_only_dense_nets_have_the_roof_of_reading(self):
        measurements = canned()
        measurements["nets"]["net_a"]["dense"] = False
        self.assertIn("1.50 MB of weights.\n", report.markdown(measurements))

    def test_plot_is_xml_with_a_line_per_peer(self):
        picture = xml.dom.minidom.parseString(plot.svg(report.results_of(canned()), ENGINES))
        lines = picture.getElementsByTagName("polyline")
        self.assertEqual(len(lines), 2)
        heights = [float(point.split(",")[1]) for point in lines[0].getAttribute("points").split()]
        self.assertLess(heights[0], heights[1])  # 2.00 is drawn above 0.80


RUNNER = """#!/usr/bin/env python3
import sys
print("ready", flush=True)
for line in sys.stdin:
    verb, number = line.split()
    print("ok {worst} 2.0" if verb == "prepare" else f"{{int(number) * {ns}}} {{int(number) * 10}}", flush=True)
"""
NET = Net(pathlib.Path("net_a"), "net_a", [4], 2, 100, True, [], [], 10)


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
        return list(measure.measure_net(NET, list(engines), (1, 8), 3, 1000, self.core, self.log))

    def test_rounds_of_all_engines(self):
        batches = self.measure(self.engine("tfaot", RUNNER.format(worst=0, ns=50000)),
                               self.engine("onnxruntime", RUNNER.format(worst="1e-5", ns=100000)))
        self.assertEqual([batch for batch, _ in batches], [1, 8])
        ours, peer = batches[1][1]
        self.assertEqual((ours["engine"], ours["batch"], ours["us"], ours["calls_per_round"]), ("tfaot", 8, [50.0] * 3, 20))
        self.assertEqual(ours["cpu_us"], [0.01] * 3)
        self.assertEqual((peer["engine"], peer["us"], peer["calls_per_round"]), ("onnxruntime", [100.0] * 3, 10))
        self.assertEqual(peer["max_abs_difference"], 1e-5)

    def test_wrong_outputs_end_the_run(self):
        for worst in ("0.1", "inf"):
            with self.assertRaisesRegex(measure.WrongOutput, "litert is wrong for net_a at batch 1: it differs from TensorFlow by"):
                self.measure(self.engine("tfaot", RUNNER.format(worst=0, ns=1000)),
                             self.engine("litert", RUNNER.format(worst=worst, ns=1000)))

    def test_a_runner_that_ends(self):
        with self.assertRaisesRegex(RunnerError, "the runner of litert ended; its words are in"):
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
