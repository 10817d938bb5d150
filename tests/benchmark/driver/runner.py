# SPDX-License-Identifier: Apache-2.0
"""One runner process, asked line by line (the words are in modules/runner/src/runner.h)."""
import os
import pathlib
import subprocess
import time


class RunnerError(Exception):
    pass


class Runner:
    """Starts the engine's process on one core and waits for its first prediction. A context manager."""

    def __init__(self, engine, core, log):
        self.engine = engine
        self.log = log
        if not pathlib.Path(engine.command[0]).exists():
            raise RunnerError(f"there is no {pathlib.Path(engine.command[0]).name}")
        start = time.perf_counter()
        self.process = subprocess.Popen(engine.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                        bufsize=1, env={**os.environ, **engine.environment},
                                        preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        try:
            self._expect("ready")
        except RunnerError:
            self.process.kill()
            self.__exit__()
            raise
        self.load_seconds = time.perf_counter() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RunnerError(f"the runner of {self.engine.title} ended; its words are in {pathlib.Path(self.log.name).name}")
        return line.split()

    def _expect(self, word):
        answer = self._answer()
        if answer[0] != word:
            raise RunnerError(f"the runner of {self.engine.title} said {answer} instead of '{word}'")
        return answer[1:]

    def prepare(self, rows):
        """Predicts once; returns the largest difference from TensorFlow's outputs and the largest of those."""
        self.process.stdin.write(f"prepare {rows}\n")
        return [float(word) for word in self._expect("ok")]

    def time(self, calls):
        """Microseconds per call: in wall time, and in processor time."""
        self.process.stdin.write(f"time {calls}\n")
        wall, cpu = self._answer()
        return int(wall) / 1000 / calls, int(cpu) / 1000 / calls

    def memory(self):
        """{"rss": bytes, "pss": bytes} of the process."""
        sizes = {}
        with open(f"/proc/{self.process.pid}/smaps_rollup") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key in ("Rss", "Pss"):
                    sizes[key.lower()] = int(value.split()[0]) * 1024
        return sizes
