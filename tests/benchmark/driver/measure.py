# SPDX-License-Identifier: Apache-2.0
"""The measurements themselves. All engines of a net run at the same time, each in its own process, all on one core, and only
one works at any time: in every round each is asked for some calls, in an order that turns by one from round to round.
What disturbs the machine so hits all alike, and what one leaves in the caches is not always met by the same other."""
import contextlib
import statistics

from runner import Runner

TOLERANCE = 1e-4  # of the largest expected output


class WrongOutput(Exception):
    pass


def check_outputs(engine, net, batch, worst, largest):
    if worst > TOLERANCE * max(largest, 1):
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


def measure_batch(runners, net, batch, rounds, target_us):
    samples = []
    calls = {}
    for runner in runners:
        worst, largest = runner.prepare(batch)
        check_outputs(runner.engine, net, batch, worst, largest)
        calls[runner] = calls_for(runner, target_us)
        samples.append({"net": net.name, "batch": batch, "engine": runner.engine.name, "max_abs_difference": worst,
                        "calls_per_round": calls[runner], "us": [], "cpu_us": []})
    of_runner = dict(zip(runners, samples))
    for number in range(rounds):
        for runner in order_of(runners, number):
            wall, cpu = runner.time(calls[runner])
            of_runner[runner]["us"].append(wall)
            of_runner[runner]["cpu_us"].append(cpu)
    return samples


def measure_net(net, engines, batches, rounds, target_us, core, log):
    samples = []
    with contextlib.ExitStack() as stack:
        runners = [stack.enter_context(Runner(engine, core, log)) for engine in engines]
        for batch in batches:
            samples += measure_batch(runners, net, batch, rounds, target_us)
            yield batch, samples[-len(runners):]


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
