# SPDX-License-Identifier: Apache-2.0
"""Every model of these tests has the same bits on aarch64, by qemu, as at x86-64-v3, and so has
x86-64-v4: print_bits.cc runs the packages of the build, and the same configs compiled for aarch64, each in
one library of `tfaot link`. The environment says where things are (CMakeLists.txt)."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TOOL = os.environ["TFAOT_TOOL"]
MODELS = pathlib.Path(os.environ["TFAOT_MODELS"])
LINES = pathlib.Path(os.environ["TFAOT_ALL_MODELS"]).read_text().splitlines()
TREES, CONFIGS = zip(*(line.split("|") for line in LINES))
COMPILER = os.environ["TFAOT_COMPILER"]
AARCH64_COMPILER = os.environ["TFAOT_AARCH64_COMPILER"]
NOT_COMPILED = {"refused", "endless_loop"}  # folders of configs: neither has a result


def sysroot():
    named = subprocess.check_output([AARCH64_COMPILER, "-print-sysroot"], text=True).strip()
    return named if named.strip("/") else "/usr/aarch64-linux-gnu"  # Debian's finds it by itself, qemu does not


class Aarch64Test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tfaot-aarch64-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        trees = [f"{cls.folder}/package{i}" for i in range(len(CONFIGS))]
        for tree, config in zip(trees, CONFIGS):
            cls.run_program(TOOL, "compile", "-q", "-j", "1", "-c", config, "-o", tree,
                            "--target-triple", "aarch64-unknown-linux-gnu")
        cls.by_machine = {"x86_64": cls.linked("x86_64", TREES, COMPILER),
                          "aarch64": cls.linked("aarch64", trees, AARCH64_COMPILER)}

    @classmethod
    def linked(cls, machine, trees, compiler):
        library, program = f"{cls.folder}/lib{machine}.so", f"{cls.folder}/{machine}"
        cls.run_program(TOOL, "link", "-q", *trees, "-o", library)
        cls.run_program(compiler, "-std=c++17", "-O1", "-I", os.environ["TFAOT_INCLUDE"],
                        pathlib.Path(__file__).with_name("print_bits.cc"), library, "-Wl,-rpath,$ORIGIN", "-o", program)
        return program

    @staticmethod
    def run_program(*command, **variables):
        done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"{command}: {done.stderr}{done.stdout[-2000:]}")
        return done.stdout

    def results(self, machine, level):
        """{model: [(output, row, elements)]}"""
        emulator = [] if machine == "x86_64" else [os.environ["TFAOT_QEMU"], "-L", sysroot()]
        try:
            text = self.run_program(*emulator, self.by_machine[machine], TFAOT_CPU_LEVEL=level)
        except AssertionError as error:
            if "which this CPU lacks" in str(error):
                self.skipTest(f"this machine cannot run {level}")
            raise
        found = {}
        for line in text.splitlines():
            model, output, row, elements = line.split("|")
            found.setdefault(model, []).append((output, row, elements.split()))
        return found

    def expect_bits_of_v3(self, machine, level):
        expected, found = self.results("x86_64", "x86-64-v3"), self.results(machine, level)
        self.assertEqual(len(found), len(CONFIGS))
        self.assertEqual(list(found), list(expected))
        for model, lines in found.items():
            with self.subTest(model=model):
                self.assertEqual([line[:2] for line in lines], [line[:2] for line in expected[model]])
                for (output, row, numbers), (_, _, wanted) in zip(lines, expected[model]):
                    places = [i for i, number in enumerate(numbers) if number != wanted[i]]
                    if places:
                        self.fail(f"output '{output}' of row {row}: {len(places)} of {len(wanted)} numbers differ; number "
                                  f"{places[0]} is {numbers[places[0]]} at {level}, {wanted[places[0]]} at x86-64-v3")

    def test_generic_aarch64(self):
        self.expect_bits_of_v3("aarch64", "generic")

    def test_x86_64_v4(self):
        self.expect_bits_of_v3("x86_64", "x86-64-v4")

    def test_every_config_is_compared(self):
        configs = {str(file) for file in MODELS.rglob("*.yaml")
                   if file.relative_to(MODELS).parts[0] not in NOT_COMPILED}
        self.assertEqual(configs - set(CONFIGS), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
