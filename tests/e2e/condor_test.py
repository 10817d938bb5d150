# SPDX-License-Identifier: Apache-2.0
"""The files of `tfaot condor`, as HTCondor's own Python module reads them (packaging/batch_tools.sh).
Then the jobs are run as HTCondor would run them. The environment says where things are."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import warnings

warnings.simplefilter("ignore")  # there is no pool
import htcondor  # noqa: E402

TOOL = os.environ["TFAOT_TOOL"]
WORKS = pathlib.Path(os.environ["TFAOT_WORKS"])
MODELS = {"scalars": "plain", "ranks": 'it\'s "2" $HOME \\ $(Cluster) ä'}  # and their folders


def read_dag(text):
    """{node: (submit file, variables)}, {child: parents}; the rest must be what we expect."""
    nodes, parents, rest = {}, {}, []
    for line in text.splitlines():
        word, _, value = line.partition(" ")
        if not line or word.startswith("#"):
            continue
        if word == "JOB":
            name, file = value.split()
            nodes[name] = (file, {})
        elif word == "VARS":
            name, _, pairs = value.partition(" ")
            found = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"(?: |$)', pairs)
            nodes[name][1].update({key: re.sub(r"\\(.)", r"\1", text) for key, text in found})
        elif word == "PARENT":
            one, two = value.split(" CHILD ")
            parents[two] = {one}
        else:
            rest.append(line)
    return nodes, parents, rest


def unquoted(text):
    """Words of HTCondor's list: blanks and quotes within a word are in single quotes."""
    words = re.findall(r"(?:[^\s']|'(?:[^']|'')*')+", text)
    return [re.sub(r"'((?:[^']|'')*)'", lambda part: part[1].replace("''", "'"), word) for word in words]


class CondorTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="tfaot-condor-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.jobs = self.root / "jobs"
        for model, folder in MODELS.items():
            shutil.copytree(WORKS / model, self.root / folder)
        self.configs = [str(self.root / folder / "aot_config.yaml") for folder in MODELS.values()]
        self.environment = {**os.environ, "TFAOT_CACHE": str(self.root / "a 'cache' \" $(x)")}
        self.condor("--cpus", "2", "--line", '+JobFlavour = "espresso"', "--line", "request_memory = 4GB")

    def condor(self, *options):
        subprocess.run(
            [TOOL, "condor", *self.configs, "-o", self.jobs, *options],
            check=True,
            env=self.environment,
            stdout=subprocess.DEVNULL,
        )

    def job(self, node, file, variables):
        """What HTCondor makes of a node: the job's ClassAd."""
        submit = htcondor.Submit(pathlib.Path(file).read_text())
        return next(submit.jobs(count=1, itemdata=iter([variables]), clusterid=1))

    def test_htcondor_reads_and_runs_them(self):
        nodes, parents, rest = read_dag((self.jobs / "models.dag").read_text())
        steps = [f"tfaot-model-{model}-{step}" for model in MODELS for step in ("compile", "package")]
        self.assertEqual(list(nodes), steps)
        self.assertEqual(parents, {steps[1]: {steps[0]}, steps[3]: {steps[2]}})
        self.assertEqual(rest, ["RETRY ALL_NODES 2 UNLESS-EXIT 1"])
        for node, (file, variables) in nodes.items():
            ad = self.job(node, file, variables)
            self.assertEqual(ad["JobFlavour"], "espresso")
            self.assertEqual((ad["RequestMemory"], ad["ShouldTransferFiles"]), (4096, "NO"))
            self.assertEqual(ad["RequestCpus"], 2 if node.endswith("compile") else 1)
            self.assertEqual(ad["Out"], str(self.jobs / "log" / f"{node}.out"))
            arguments = unquoted(ad["Arguments"])
            if node.endswith("compile"):
                self.assertIn(arguments[arguments.index("--aot-config") + 1], self.configs)
            environment = dict(word.split("=", 1) for word in unquoted(ad["Environment"]))
            self.assertEqual(environment["TFAOT_CACHE"], self.environment["TFAOT_CACHE"])
            # HTCondor gives a job nothing else.
            done = subprocess.run([ad["Cmd"], *arguments], env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, (node, done.stderr))
        archives = sorted(path.name for path in (self.jobs / "dist").glob("*.tar.zst"))
        self.assertEqual(
            [re.sub(r"-\d.*", "", name) for name in archives], ["tfaot-model-ranks", "tfaot-model-scalars"]
        )

    def test_htcondor_would_notice(self):
        """The test above could fail: a line that is no submit command is refused."""
        self.condor("--line", "request_memory = much of it")
        nodes, _, _ = read_dag((self.jobs / "models.dag").read_text())
        with self.assertRaises(Exception):
            self.job("x", *next(iter(nodes.values())))


if __name__ == "__main__":
    unittest.main()
