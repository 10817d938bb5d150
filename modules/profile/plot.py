#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `tfaot profile` measured, with matplotlib: PNG, PDF or SVG by the file's name.

`tfaot profile --plot FILE` runs this; it also works alone, on the JSON of `tfaot profile -o profile.json`:
    python3 plot.py profile.json FILE.png --style cms --time row --errors bars
"""
import argparse
import json
import sys

NANOSECONDS = 1000.0  # in a microsecond
PLAIN = {"figure.figsize": (8, 5.5), "axes.grid": True, "grid.alpha": 0.4, "font.size": 11}
# As plots of the CMS collaboration look: ticks inwards on all sides, no grid, large letters.
CMS = {
    "figure.figsize": (10, 10), "font.family": "sans-serif", "font.sans-serif": ["TeX Gyre Heros", "Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 22, "axes.linewidth": 2, "xtick.direction": "in", "ytick.direction": "in", "xtick.top": True, "ytick.right": True,
    "xtick.minor.visible": True, "ytick.minor.visible": True, "xtick.major.size": 12, "ytick.major.size": 12, "xtick.minor.size": 6,
    "ytick.minor.size": 6, "xtick.major.pad": 8, "xaxis.labellocation": "right", "yaxis.labellocation": "top", "legend.frameon": False,
    "legend.fontsize": 18, "lines.linewidth": 2}
CMS_COLOURS = ["#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"]
ENGINES = {"tfaot": "tfaot", "onnxruntime": "ONNX Runtime", "litert": "LiteRT", "tensorflow": "TensorFlow"}


def parse_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", help="JSON of tfaot profile; - for standard input")
    parser.add_argument("output", help="the picture: .png, .pdf or .svg")
    parser.add_argument("--style", choices=("plain", "cms"), default="plain")
    parser.add_argument("--time", choices=("call", "row"), default="row", help="of a call, or divided by its rows")
    parser.add_argument("--errors", choices=("band", "bars"), default="band", help="how 16 %% to 84 %% are drawn")
    return parser.parse_args(words)


def labels_of(curves):
    """What tells the curves apart: parts that all have in common are left out."""
    def differ(key, of):
        return len({curve[key] for curve in of}) > 1

    def package(curve, *more):
        return tuple(curve[key] for key in ("model", "version", *more))

    ours = [curve for curve in curves if curve["engine"] == "tfaot"]
    labels = []
    for curve in curves:
        parts = [f"{curve['model']} {curve['version']}"] if differ("model", curves) or differ("version", curves) else []
        parts.append(ENGINES[curve["engine"]])
        if curve["engine"] == "tfaot":
            if len({package(one, "source") for one in ours}) > len({package(one) for one in ours}):
                parts.append(curve["source"])
            parts += [curve[key] for key in ("cpu_level", "strategy") if differ(key, ours)]
        labels.append(", ".join(parts))
    return labels


def points_of(curve, time):
    """rows, medians, and the distances to the quantiles."""
    rows, medians, below, above = [], [], [], []
    for size in curve["sizes"]:
        unit = NANOSECONDS * (size["rows"] if time == "row" else 1)
        call = size["call"]
        rows.append(size["rows"])
        medians.append(call["median"] / unit)
        below.append((call["median"] - call["low"]) / unit)
        above.append((call["high"] - call["median"]) / unit)
    return rows, medians, below, above


def draw(profile, arguments, pyplot, cycler):
    style = dict(PLAIN if arguments.style == "plain" else CMS)
    if arguments.style == "cms":
        style["axes.prop_cycle"] = cycler(color=CMS_COLOURS)
    with pyplot.rc_context(style):
        figure, axes = pyplot.subplots()
        for curve, label in zip(profile["curves"], labels_of(profile["curves"])):
            rows, medians, below, above = points_of(curve, arguments.time)
            if arguments.errors == "bars":
                axes.errorbar(rows, medians, yerr=(below, above), label=label, marker="o", markersize=4, capsize=6, linestyle="none")
                continue
            (line,) = axes.plot(rows, medians, marker="o", markersize=4, label=label)
            axes.fill_between(rows, [m - b for m, b in zip(medians, below)], [m + a for m, a in zip(medians, above)],
                              alpha=0.3, color=line.get_color(), linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks = sorted({size["rows"] for curve in profile["curves"] for size in curve["sizes"]})
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        if arguments.style == "plain":
            axes.minorticks_off()
        else:
            axes.tick_params(axis="x", which="minor", bottom=False, top=False)
        axes.set_xlabel("Batch size")
        axes.set_ylabel("Time / row [µs]" if arguments.time == "row" else "Time / call [µs]")
        axes.legend()
        axes.set_title(profile["machine"]["cpu"], loc="right", fontsize="small")
        figure.savefig(arguments.output, bbox_inches="tight", dpi=150, metadata={"Date": None} if arguments.output.endswith(".svg") else None)
        pyplot.close(figure)


def main(words):
    check_only = words == ["--check"]  # whether matplotlib is there
    arguments = None if check_only else parse_arguments(words)
    try:
        import matplotlib
        matplotlib.use("Agg")
        from cycler import cycler
        from matplotlib import pyplot
    except ImportError as error:
        sys.exit(f"matplotlib cannot be imported: {error}")
    if check_only:
        return
    with (sys.stdin if arguments.profile == "-" else open(arguments.profile, encoding="utf-8")) as file:
        profile = json.load(file)
    draw(profile, arguments, pyplot, cycler)


if __name__ == "__main__":
    main(sys.argv[1:])
