# SPDX-License-Identifier: Apache-2.0
"""law tasks for many models: compile each of them, compare it with the original model, measure it. On this
machine, or each model as one job of a Slurm cluster:

    export PYTHONPATH=$PWD LAW_HOME=$PWD/.law LAW_CONFIG_FILE=$PWD/law.cfg
    law index
    law run CompileModels --configs "models/*/aot_config.yaml" --workers 2
    law run CompileModels --configs "models/*/aot_config.yaml" --workflow slurm

What is there already is not made again: law looks for the files that output() names. CompileModels, one
branch for each config, is what ValidateModels and ProfileModels require.
"""

import glob
import json
import os
import subprocess

import law
import luigi

law.contrib.load("slurm")


class ModelTask(law.LocalWorkflow, law.slurm.SlurmWorkflow):
    """A task with one branch, and so one job, for each config."""

    configs = law.CSVParameter(description="aot_config.yaml of the models, comma-separated, with wildcards")
    results = luigi.Parameter(default="results", description="folder of all results; default: results")
    tfaot = luigi.Parameter(default="tfaot", significant=False, description="the tool; default: from PATH")

    # One job runs for a minute at most; do not let it wait for a minute first.
    poll_interval = law.DurationParameter(default=0.1, unit="m", significant=False)

    @classmethod
    def modify_param_values(cls, params):
        """Absolute paths: a job of Slurm runs in a folder of its own."""
        params = super().modify_param_values(params)
        params["configs"] = tuple(os.path.abspath(path) for path in params["configs"])
        params["results"] = os.path.abspath(params["results"])
        return params

    def create_branch_map(self):
        configs = sorted({path for pattern in self.configs for path in glob.glob(pattern)})
        if not configs:
            raise ValueError(f"there is no {', '.join(self.configs)}")
        return dict(enumerate(configs))

    def result(self, *path):
        """A file of this branch's model, below the folder that bears its name."""
        return law.LocalFileTarget(os.path.join(self.results, self.identity()["name"], *path))

    def identity(self):
        """Name, namespace and version in the config."""
        return json.loads(self.run_tfaot("info", "--identity", self.branch_data))

    def run_tfaot(self, *arguments):
        """What tfaot prints; an error ends the task, and tfaot has said why."""
        return subprocess.run([self.tfaot, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    # A job gets the environment of this process, from sbatch.
    def slurm_output_directory(self):
        return law.LocalDirectoryTarget(os.path.join(self.results, "slurm"))

    def slurm_use_local_scheduler(self):
        return True


class CompileModels(ModelTask):
    """Package trees: results/NAME/package."""

    def output(self):
        return self.result("package", "manifest.json")

    def run(self):
        self.run_tfaot("compile", "-c", self.branch_data, "-o", os.path.dirname(self.output().path), "--quiet")


class PackageTask(ModelTask):
    """Of each package, what a verb of tfaot prints as JSON."""

    def workflow_requires(self):
        required = super().workflow_requires()
        required["packages"] = CompileModels.req(self)
        return required

    def requires(self):
        return CompileModels.req(self)

    def keep_json(self, verb, *options):
        package = os.path.dirname(self.input().path)
        self.output().dump(json.loads(self.run_tfaot(verb, package, *options, "--json")), formatter="json")


class ValidateModels(PackageTask):
    """The package's predictions beside those of the original model: results/NAME/validation.json. Fails if they differ."""

    def output(self):
        return self.result("validation.json")

    def run(self):
        self.keep_json("validate", "--model", self.branch_data)


class ProfileModels(PackageTask):
    """Run time and memory: results/NAME/profile.json. Compare only what was measured on equal machines."""

    def output(self):
        return self.result("profile.json")

    def run(self):
        self.keep_json("profile")
