# SPDX-License-Identifier: Apache-2.0
"""The measurements themselves. All engines of a net run at the same time, each in its own process, all on one core, and only
one works at any time: in every round each is asked for some calls, in an order that turns by one from round to round.
What disturbs the machine so hits all alike, and what one leaves in the caches is not always met by the same other."""
import contextlib
import statistics
import time
from dataclasses import dataclass

from engines import ALL_OURS
from runner import Runner, RunnerError

FEWEST_ROUNDS = 3


@dataclass
class Effort:
    """For one net and batch size."""

    rounds: int
    round_us: int
    seconds: float  # after which no other round begins, once there are FEWEST_ROUNDS


class WrongOutput(Exception):
    pass


def check_outputs(engine, net, batch, worst, largest):
    if worst > net.tolerance * max(largest, 1):
        raise WrongOutput(f"{engine.title} is wrong for {net.name} at batch {batch}: it differs from TensorFlow by {worst:g}")


def calls_for(runner, target_us):
    """How many calls make a round of about target_us. The first call at a new size (XLA compiles then) is not counted."""
    calls = 1
    while True:
        spent = runner.time(calls)[0] * calls
        if spent >= target_us / 8:
            return max(1, round(calls * target_us / spent))
        calls *= 4


def order_of(engines, round_number):
    """Every engine comes first, second, ... equally often."""
    shift = round_number % len(engines)
    return engines[shift:] + engines[:shift]


def prepared(runner, net, batch, effort):
    """A sample without rounds, and the calls of a round."""
    worst, largest = runner.prepare(batch)
    check_outputs(runner.engine, net, batch, worst, largest)
    calls = calls_for(runner, effort.round_us)
    return {"net": net.name, "batch": batch, "engine": runner.engine.name, "max_abs_difference": worst, "calls_per_round": calls,
            "us": [], "cpu_us": []}


def measure_batch(runners, net, batch, effort):
    """runners: those that fail are removed, unless they are ours. Returns (samples, failures)."""
    samples, failures = {}, []
    start = time.monotonic()
    for runner in list(runners):
        try:
            samples[runner] = prepared(runner, net, batch, effort)
        except (RunnerError, WrongOutput) as error:
            if runner.engine.name in ALL_OURS:
                raise
            runners.remove(runner)
            failures.append(failure_of(net, runner.engine, batch, error))
    for number in range(effort.rounds):
        if number >= FEWEST_ROUNDS and time.monotonic() - start > effort.seconds:
            break
        for runner in order_of(runners, number):
            wall, cpu = runner.time(samples[runner]["calls_per_round"])
            samples[runner]["us"].append(wall)
            samples[runner]["cpu_us"].append(cpu)
    return list(samples.values()), failures


def failure_of(net, engine, batch, error):
    return {"net": net.name, "engine": engine.name, "batch": batch, "reason": str(error)}


def start_all(net, engines, batch, core, log, stack):
    """Returns (runners, failures)."""
    runners, failures = [], []
    for engine in engines:
        try:
            runners.append(stack.enter_context(Runner(engine, core, log)))
        except RunnerError as error:
            if engine.name in ALL_OURS:
                raise
            failures.append(failure_of(net, engine, batch, error))
    return runners, failures


def measure_net(net, engines, batches, effort, core, log):
    """Yields (batch, samples, failures). A peer whose runner does not start, ends or is wrong is not measured any more for this
    net; if it is one of ours, that is raised."""
    with contextlib.ExitStack() as stack:
        runners, failures = start_all(net, engines, batches[0], core, log, stack)
        for batch in batches:
            samples, failed = measure_batch(runners, net, batch, effort)
            yield batch, samples, failures + failed
            failures = []


def measure_kinds(net, engines, batches, effort, core, log):
    """Samples of ours_by_kind(), all in the same rounds: "kind" in place of "engine". Those that differ from TensorFlow are left out."""
    with contextlib.ExitStack() as stack:
        runners = [stack.enter_context(Runner(engine, core, log)) for engine in engines]
        for batch in batches:
            for sample in measure_batch(runners, net, batch, effort)[0]:
                yield {"kind": sample.pop("engine"), **sample}


def footprint_of(engine, starts, rows, core, log):
    """Load time (process start to first prediction, warm page cache: the first start is not counted) and memory after
    predictions of 1 and of `rows` rows."""
    seconds = []
    for _ in range(starts + 1):
        with Runner(engine, core, log) as runner:
            seconds.append(runner.load_seconds)
            runner.prepare(rows)
            memory = runner.memory()
    return {"load_seconds": statistics.median(seconds[1:]), **memory}
