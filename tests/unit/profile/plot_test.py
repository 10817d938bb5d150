#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plot_test.py FOLDER: the script modules/profile/plot.py in FOLDER, from numbers written by hand. Draws if there is matplotlib."""
import json
import pathlib
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(FOLDER))
import plot


def curve(engine="tfaot", level="x86-64-v3", strategy="normal", model="net", source="out"):
    sizes = [{"rows": rows, "call": {"median": 4000.0 * rows, "low": 3000.0 * rows, "high": 6000.0 * rows}} for rows in (1, 8)]
    return {"model": model, "source": source, "version": "1.0", "engine": engine, "cpu_level": level, "strategy": strategy, "sizes": sizes}


class Plot(unittest.TestCase):
    def test_labels_name_what_differs(self):
        self.assertEqual(plot.labels_of([curve(), curve("litert")]), ["tfaot", "LiteRT"])
        self.assertEqual(plot.labels_of([curve(), curve(strategy="padding")]), ["tfaot, normal", "tfaot, padding"])
        self.assertEqual(plot.labels_of([curve(), curve(model="other")]), ["net 1.0, tfaot", "other 1.0, tfaot"])
        self.assertEqual(plot.labels_of([curve(), curve(source="tuned")]), ["tfaot, out", "tfaot, tuned"])
        self.assertEqual(plot.labels_of([curve(), curve(model="other", source="b")]), ["net 1.0, tfaot", "other 1.0, tfaot"])

    def test_points_are_medians_with_distances(self):
        self.assertEqual(plot.points_of(curve(), "call"), ([1, 8], [4.0, 32.0], [1.0, 8.0], [2.0, 16.0]))
        self.assertEqual(plot.points_of(curve(), "row"), ([1, 8], [4.0, 4.0], [1.0, 1.0], [2.0, 2.0]))

    def test_draws_every_style(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("there is no matplotlib (Debian: python3-matplotlib)")
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder) / "profile.json"
            profile.write_text(json.dumps({"machine": {"cpu": "a CPU"}, "curves": [curve(), curve("litert")]}))
            for style in ("plain", "cms"):
                for errors in ("band", "bars"):
                    for kind, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
                        file = pathlib.Path(folder) / f"{style}_{errors}.{kind}"
                        plot.main([str(profile), str(file), "--style", style, "--errors", errors])
                        self.assertTrue(file.read_bytes().startswith(start))


if __name__ == "__main__":
    unittest.main()
