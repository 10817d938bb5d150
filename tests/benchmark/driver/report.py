# SPDX-License-Identifier: Apache-2.0
"""From measurements to results: medians, ratios, the JSON list and the Markdown. Pure functions over plain records.

A record of measurements is
  {"machine": {..., "without": [engines that were left out]},
   "nets": {name: {"flops_per_row", "dense", "weight_bytes", "read_us"}}, "engines": {name: title},
   "samples": [{"net", "batch", "engine", "us": [microseconds per call, one a round], "cpu_us": [the same, of the processor],
                "max_abs_difference", ...}],
   "kinds": [the same with "kind" in place of "engine": ours for other inputs; "" are the usual ones],
   "footprints": [{"net", "engine", "load_seconds", "rss", "pss", "shipped_bytes", "compile_seconds" or null}],
   "failures": [{"net", "engine", "batch" or null, "reason"}]: engines that are left out from a batch size on, or for the whole net}
"""
import statistics
import textwrap

from engines import FEWER_BITS, NO_PEERS, OURS


def quartiles(values):
    if len(values) == 1:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def busy_of(sample):
    """The share of the time in which the runner had the processor: less than 1 when others had it meanwhile."""
    return statistics.median(cpu / wall for cpu, wall in zip(sample["cpu_us"], sample["us"]))


def results_of(measurements):
    """The list that results.json holds. "times_tfaot" is the median over rounds of (this engine / ours in the same round)."""
    clock = measurements["machine"]["clock"]
    ours = {(s["net"], s["batch"]): s[clock] for s in measurements["samples"] if s["engine"] == OURS}
    results = []
    for sample in measurements["samples"]:
        reference = ours[sample["net"], sample["batch"]]
        low, median, high = quartiles(sample[clock])
        gflops = measurements["nets"][sample["net"]]["flops_per_row"] * sample["batch"] / median / 1000
        results.append({
            "net": sample["net"], "batch": sample["batch"], "engine": sample["engine"],
            "us_per_call": round(median, 4), "us_per_row": round(median / sample["batch"], 4),
            "us_lower_quartile": round(low, 4), "us_upper_quartile": round(high, 4), "us_min": round(min(sample[clock]), 4),
            "times_tfaot": round(statistics.median(us / base for us, base in zip(sample[clock], reference)), 4),
            "share_of_peak": round(gflops / measurements["machine"]["peak_gflops"], 4),
            "rounds": len(sample["us"]), "busy": round(busy_of(sample), 3), "max_abs_difference": sample["max_abs_difference"],
        })
    return results


def rows_of(results):
    """[(net, batch, {engine: result})] in the order of measuring."""
    rows = {}
    for result in results:
        rows.setdefault((result["net"], result["batch"]), {})[result["engine"]] = result
    return [(net, batch, by_engine) for (net, batch), by_engine in rows.items()]


def best_peers_of(results):
    """[(net, batch, peer, times)]: the fastest peer of each row that has one."""
    best = []
    for net, batch, by_engine in rows_of(results):
        peer = min((r for name, r in by_engine.items() if name not in NO_PEERS), key=lambda r: r["times_tfaot"], default=None)
        if peer:
            best.append((net, batch, peer["engine"], peer["times_tfaot"]))
    return best


def losses_of(results):
    """The rows of best_peers_of() in which the peer is faster than ours, the worst first."""
    return sorted((row for row in best_peers_of(results) if row[3] < 1), key=lambda row: row[3])


def means_of(results):
    """{batch: geometric mean over nets of the best peer's time over ours}"""
    times = {}
    for _, batch, _, of_peer in best_peers_of(results):
        times.setdefault(batch, []).append(of_peer)
    return {batch: statistics.geometric_mean(of_batch) for batch, of_batch in sorted(times.items())}


def table(header, rows):
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def short(number):
    """Three digits that matter."""
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def speed_table(net, rows, engines, peak):
    peers = [name for name in engines if name != OURS]
    header = ["batch", "tfaot, us a call", "us a row"] + ([f"share of {peak:.0f} GFLOP/s"] if net["dense"] else [])
    header += [engines[name] for name in peers] + ["fastest"]
    lines = []
    for batch, by_engine in rows:
        ours = by_engine[OURS]
        line = [batch, f"{short(ours['us_per_call'])} ± {short((ours['us_upper_quartile'] - ours['us_lower_quartile']) / 2)}",
                short(ours["us_per_row"])]
        if net["dense"]:
            line.append(f"{ours['share_of_peak']:.0%}")
        line += [f"{by_engine[name]['times_tfaot']:.2f}" if name in by_engine else "" for name in peers]
        best = min((r for name, r in by_engine.items() if name == OURS or name not in NO_PEERS), key=lambda r: r["times_tfaot"])
        slower = 1 / best["times_tfaot"]
        line.append("tfaot" if best["times_tfaot"] >= 1 else f"**{engines[best['engine']]} wins: ours takes {slower:.2f} times as long**")
        lines.append(line)
    return table(header, lines)


def roof_text(net, rows):
    """Batch size 1 of a dense net uses each weight once, so it takes at least what reading them takes."""
    single = next((by_engine[OURS] for batch, by_engine in rows if batch == 1), None)
    if not net["dense"] or single is None:
        return ""
    return (f"\nReading these once takes {short(net['read_us'])} us on this core: at batch 1 ours is at "
            f"{net['read_us'] / single['us_per_call']:.0%} of that roof.")


KINDS = {"detector": "ranges of 0.01 to 1000", "denormal": "below 1.2e-38"}


def kinds_text(measurements):
    """The median over rounds of (the time for these inputs / that for the usual ones in the same round)."""
    clock = measurements["machine"]["clock"]
    by_row = {}
    for sample in measurements.get("kinds", []):
        by_row.setdefault((sample["net"], sample["batch"]), {})[sample["kind"]] = sample[clock]
    def times(kinds, kind):
        return f"{statistics.median(us / base for us, base in zip(kinds[kind], kinds[''])):.2f}" if kind in kinds else ""

    lines = [[net, batch, *(times(kinds, kind) for kind in KINDS)] for (net, batch), kinds in by_row.items() if "" in kinds]
    if not lines:
        return ""
    return ("\n## Other inputs\n\nThe inputs above are drawn from a normal distribution, N(0, 1). tfaot's time for others, over that\n"
            "for these in the same rounds:\n\n" + table(["net", "batch", *KINDS.values()], lines))


def megabytes(count):
    return f"{count / 1e6:.2f}"


def footprint_table(footprints, engines):
    """One net's."""
    lines = []
    for record in footprints:
        compiled = record.get("compile_seconds")
        lines.append([engines.get(record["engine"], "a runner without an engine"), megabytes(record["rss"]), megabytes(record["pss"]),
                      megabytes(record["shipped_bytes"]), f"{record['load_seconds'] * 1000:.0f}",
                      "" if compiled is None else f"{compiled:.1f}"])
    return table(["", "resident MB", "proportional MB", "shipped MB", "load ms", "compile s"], lines)


def fewer_bits_text(results, engines):
    text = ""
    for name in FEWER_BITS:
        times = [result["times_tfaot"] for result in results if result["engine"] == name]
        if times:
            text += (f"\n- {engines[name]}: {statistics.geometric_mean(times):.2f} (geometric mean), below 1 in "
                     f"{sum(of_row < 1 for of_row in times)} of {len(times)} rows")
    return text and "\nIn fewer bits, over the time of our float32:\n" + text


def summary(results, engines):
    rows = rows_of(results)
    losses = losses_of(results)
    lines = [f"Rows (net and batch size): {len(rows)}. Ours is fastest in {len(rows) - len(losses)}."]
    if losses:
        lines.append("Where a peer wins, the worst first:\n")
        lines += [f"- {net}, batch {batch}: {engines[peer]}; ours takes {1 / times:.2f} times as long" for net, batch, peer, times in losses]
    lines.append(fewer_bits_text(results, engines))
    lines += ["\nGeometric mean over the nets of the fastest peer's time over ours:\n",
              table(["batch", *means_of(results)], [["times", *(f"{mean:.2f}" for mean in means_of(results).values())]])]
    return "\n".join(lines)


def failures_text(failures, engines):
    if not failures:
        return ""
    lines = []
    for failure in failures:
        start = f" from batch {failure['batch']} on" if failure["batch"] else ""
        lines.append(textwrap.fill(f"- {failure['net']}, {engines[failure['engine']]}{start}: {failure['reason']}", 100, subsequent_indent="  ",
                                   break_long_words=False, break_on_hyphens=False))
    return "\nNot measured:\n\n" + "\n".join(lines) + "\n"


HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# Benchmarks

Written by `packaging/bench.sh {mode}--update-docs`; do not edit. For how, see
`packaging/bench.sh --help`.

{machine}
- {clock}

All engines hold the same weights and get the same inputs. Outputs are compared with TensorFlow's at
every batch size before anything is timed; a peer that is wrong is left out. Each engine has a
process of its own with one thread, all on one core and all started before the first round. In every
round each engine runs for about {round_ms} ms, in a rotating order. The tables show medians of {rounds} rounds,
or of fewer where calls are long, ± half the distance of the quartiles. A peer's number is its time
over ours in the same round (median over rounds): above 1, ours is faster. An empty field: that
engine was not measured there.

{engines}
Rows of different sizes are measured in [dimensions.md](dimensions.md#what-it-costs).

![Time of each engine over ours](benchmarks.svg)

## Summary

{summary}"""

# What each engine is, where it was measured: the name of the engine, and the text, with the versions of wheels.
DESCRIPTIONS = (
    ("tfaot", """- **tfaot**: the package of `aot_config.yaml` with its defaults (three CPU levels), batch sizes
  {sizes}; native API.
"""),
    ("tfaot_tuned", """- **tfaot, tuned**: the same after `tfaot tune` on this machine; not a peer, so it wins no row. The
  two biggest nets are not tuned.
"""),
    ("tfaot_onnx", """- **tfaot, from ONNX**: the package of the file that ONNX Runtime reads; not a peer either.
"""),
    ("usual_aot", """- **usual AOT route**: the same sizes by cmsml 0.2.7 and `saved_model_cli`; any x86-64; kernels as
  the wheel ships them; other sizes as calls of the smallest. Without the copies of CMSSW's wrapper,
  in its favour.
"""),
    ("tensorflow", """- **TensorFlow session**: 2.18.1, C++, frozen graph, callable in the calling thread.
"""),
    ("tensorflow_xla", """- **TensorFlow with XLA JIT**: the same session over a SavedModel whose function has
  `jit_compile=True`, compiled before the first round; `--xla_cpu_use_thunk_runtime=false`, which
  was never slower and on the CNN three times as fast as the default; the U-Net has the default, as
  it aborts otherwise.
"""),
    ("onnxruntime", """- **ONNX Runtime** {onnxruntime} and **LiteRT** {ai-edge-litert} (XNNPACK): their C interfaces, inputs and
  outputs in place. LiteRT's recurrent nets are unrolled, as its converter refuses their loops.
"""),
    ("openvino", """- **OpenVINO** {openvino}: its C interface, the CPU plugin with one stream, one thread and float32,
  made for latency; compiled for each batch size; inputs and outputs in place.
"""),
    ("openvino_default", """- **OpenVINO, default precision**: the same without the setting for float32; where the CPU
  multiplies bfloat16, OpenVINO does. **bfloat16** and **int8**: dense nets, ours with
  `compute: bfloat16` and `weights_type: int8`, ONNX Runtime by `quantize_dynamic`, LiteRT by its
  converter. Their outputs differ by some per cent, so these are no peers of float32 and win no row.
"""),
    ("iree", """- **IREE** {iree-base-runtime}: compiled ahead of time for this CPU and each batch size
  (`--iree-llvmcpu-target-cpu=host --iree-opt-level=O3`), run by its own `iree-benchmark-module` in
  the calling thread (`local-sync`), a new process in each round, so without memory and load time.
"""),
    ("xgboost", """- **XGBoost** {xgboost-cpu}: its C interface. **TL2cgen** {tl2cgen} and **lleaves** {lleaves}: their code
  for this CPU, called without Python. Calls take new rows each time: the CPU would learn the
  branches of such code for rows that return.
"""),
)

FOOT = """
## Memory, size, load and compile time

- **resident, proportional MB**: memory of a process after predictions of 1 and 64 rows.
- **shipped MB**: what the engine adds to a stripped program, its libraries, the model.
- **load ms**: start of the process to its first prediction, files in the page cache.
- **compile s**: all batch sizes; ours makes three CPU levels on all cores, the usual route one
  level.
"""


def clock_text(measurements):
    least = min(map(busy_of, measurements["samples"]))
    if measurements["machine"]["clock"] == "cpu_us":
        return ("**The machine was busy, so times are those of the processor, not wall time**\n"
                f"  (the runners had the core for {least:.0%} of it at worst).")
    return f"Times are wall time; the runners had the core for {least:.0%} of theirs or more."


def markdown(measurements):
    results = results_of(measurements)
    machine, engines = measurements["machine"], measurements["engines"]
    left_out = machine.get("without")
    left_out = f"\n- Not measured in this run, by `--without`: {', '.join(left_out)}." if left_out else ""
    machine_text = (f"- {machine['cpu']}, {machine['cores']} cores; {machine['system']}.\n"
                    f"- tfaot at {machine['commit']}, {machine['date']}.\n"
                    "- Peak of one core in multiply-adds, measured in the same run: "
                    f"{machine['peak_gflops']:.0f} GFLOP/s.{left_out}")
    sizes = ", ".join(map(str, machine["compiled_sizes"]))
    described = "".join(text.format(sizes=sizes, **machine["versions"]) for name, text in DESCRIPTIONS if name in engines)
    text = HEAD.format(machine=machine_text, clock=clock_text(measurements), engines=described,
                       mode="--quick " if machine["quick"] else "", round_ms=machine["round_ms"], rounds=machine["rounds"],
                       summary=summary(results, engines) + failures_text(measurements.get("failures", []), engines))
    text += "\n## Speed\n"
    for name, net in measurements["nets"].items():
        rows = [(batch, by_engine) for of_net, batch, by_engine in rows_of(results) if of_net == name]
        text += f"\n### {name}\n\n{net['flops_per_row'] / 1e3:.0f} kFLOP a row, {net['weight_bytes'] / 1e6:.2f} MB of weights; {machine['cpu']}."
        text += roof_text(net, rows) + "\n\n"
        text += speed_table(net, rows, engines, machine["peak_gflops"])
    text += kinds_text(measurements) + FOOT
    for name in measurements["nets"]:
        text += f"\n### {name}\n\n{machine['cpu']}.\n\n" + footprint_table([f for f in measurements["footprints"] if f["net"] == name], engines)
    return text
