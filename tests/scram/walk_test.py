# SPDX-License-Identifier: Apache-2.0
"""From a model to a plugin as scram goes: the real compiler's tool files, scram's rules, the machine's
compiler and linker, dlopen, and TensorFlow's predictions."""
import ctypes
import json
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from scram_rules import (compile_flags, exported, external_links, link_line, make_developer_area, read_tool, read_toolbox,
                         set_up, toolbox_file)

TOOL = os.environ["TFAOT_TOOL"]
CXX = os.environ["CXX"]
HERE = Path(__file__).resolve().parent
MINIMAL = HERE.parent.parent / "examples" / "minimal"
NAMES = ["tfaot-model-minimal", "tfaot-runtime"]
ARCH = "el9_amd64_gcc12"


class Walk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tfaot-walk-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.top = Path(cls.folder.name)
        cls.environment = dict(os.environ, CMSSW_BASE=str(cls.top), TFAOT_CACHE=str(cls.top / "cache"))
        cls.run_tool("compile", "-c", MINIMAL / "aot_config.yaml", "-o", cls.top / "dev", "--dev")

    @classmethod
    def run_tool(cls, *arguments):
        return subprocess.run([TOOL, *map(str, arguments)], cwd=cls.top, env=cls.environment, check=True,
                              capture_output=True, text=True).stdout

    def set_up(self, folder, environment):
        """The tools of the folder's files; none of them gives a reason to complain."""
        tools = {}
        for name in NAMES:
            tool = read_tool((folder / (name + ".xml")).read_text(), environment)
            self.assertEqual(tool.complaints, [])
            tools[tool.name] = tool
        self.assertEqual(list(tools), NAMES)
        self.run_tool("check-tool", "--strict", *(folder / (name + ".xml") for name in NAMES))
        return tools

    def build_plugin(self, tools):
        plugin = Path(tempfile.mkdtemp(dir=self.top)) / "plugin.so"  # dlopen knows libraries by their paths
        uses = ["tfaot-model-minimal"]
        subprocess.run([CXX, "-std=c++17", "-O1", "-fPIC", "-c", HERE / "plugin.cc", "-o", self.top / "plugin.o"]
                       + compile_flags(uses, tools), check=True)
        line = link_line([str(self.top / "plugin.o")], uses, tools)
        subprocess.run([CXX, "-shared", "-Wl,-z,defs", "-o", plugin] + line, check=True)
        return plugin

    def headers_of_plugin(self, tools):
        run = subprocess.run([CXX, "-std=c++17", "-M", HERE / "plugin.cc"] + compile_flags(["tfaot-model-minimal"], tools),
                             check=True, capture_output=True, text=True)
        return {str(Path(word).resolve().relative_to(self.top)) for word in run.stdout.split() if str(self.top) in word}

    def compile_version(self, version, folder):
        config = (MINIMAL / "aot_config.yaml").read_text()
        config = config.replace("1.0.0", version).replace("./saved_model", str(MINIMAL / "saved_model"))
        (self.top / "aot_config.yaml").write_text(config)
        self.run_tool("compile", "-c", "aot_config.yaml", "-o", folder, "--dev")

    def check_predictions(self, plugin):
        library = ctypes.CDLL(str(plugin))
        for case in json.loads((MINIMAL / "reference.json").read_text())["cases"]:
            rows = case["batch_size"]
            inputs = (ctypes.c_float * (rows * 4))(*case["inputs"]["x"])
            outputs = (ctypes.c_float * (rows * 2))()
            self.assertEqual(library.predict(inputs, ctypes.c_size_t(rows), outputs), 0)
            for actual, expected in zip(outputs, case["outputs"]["y"], strict=True):
                self.assertAlmostEqual(actual, expected, delta=1e-5)

    def test_development(self):
        text = (self.top / "dev" / "tfaot-model-minimal.xml").read_text()
        self.assertIn('default="$CMSSW_BASE/dev"', text)
        self.check_predictions(self.build_plugin(self.set_up(self.top / "dev", self.environment)))

    def test_release(self):
        self.run_tool("package", "dev", "-o", "dist")
        archive = next((self.top / "dist").glob("*.tar.*"))
        self.run_tool("install", archive, "--release-area", "release", "--scram-arch", "el9_amd64_gcc12")
        selected = self.top / "release/config/toolbox/el9_amd64_gcc12/tools/selected"
        tools = self.set_up(selected, {})
        self.assertEqual(tools["tfaot-model-minimal"].version, "1.0.0")
        self.check_predictions(self.build_plugin(tools))

    def test_an_update_brings_its_own_headers(self):
        """Though the runtime stays that of the version before."""
        for version in ("1.0.0", "1.1.0"):
            self.compile_version(version, "version-" + version)
            self.run_tool("package", "version-" + version, "-o", "versions")
            archive = next((self.top / "versions").glob("*-%s-*" % version))
            self.run_tool("install", archive, "--release-area", "updated")
        tools = self.set_up(self.top / "updated/config/toolbox/tools/selected", {})
        headers = self.headers_of_plugin(tools)
        self.assertIn("updated/tfaot-model-minimal/1.0.0/runtime/include/tfaot/runtime/model.h", headers)
        self.assertIn("updated/tfaot-model-minimal/1.1.0/include/tfaot-model-minimal/model.h", headers)
        self.check_predictions(self.build_plugin(tools))

    def install(self, version, area, *options):
        folder = "of-" + area
        self.compile_version(version, folder)
        self.run_tool("package", folder, "-o", folder + "-dist")
        archive = next((self.top / (folder + "-dist")).glob("*-%s-*" % version))
        self.run_tool("install", archive, "--release-area", area, "--scram-arch", ARCH, *options)

    def test_developer_areas_have_the_models_of_their_release(self):
        """And keep them when the release gets another version."""
        self.install("1.0.0", "base")
        developer = self.top / "base developer"
        make_developer_area(self.top / "base", developer, ARCH)
        for _ in range(2):
            tools = read_toolbox(developer, ARCH, {})
            self.assertEqual(list(tools), NAMES)
            self.assertEqual(tools["tfaot-model-minimal"].version, "1.0.0")
            self.check_predictions(self.build_plugin(tools))
            self.install("1.1.0", "base")
        self.assertEqual(read_toolbox(self.top / "base", ARCH, {})["tfaot-model-minimal"].version, "1.1.0")

    def test_every_switch_reaches_the_next_build(self):
        """scram looks at the time of the toolbox's file."""
        file = toolbox_file(self.top / "switched", ARCH, "tfaot-model-minimal")
        time = 0
        for version in ("1.0.0", "1.1.0", "1.0.0"):
            self.install(version, "switched")
            self.assertEqual(read_toolbox(file.parents[5], ARCH, {})["tfaot-model-minimal"].version, version)
            self.assertGreater(file.stat().st_mtime_ns, time)
            time = file.stat().st_mtime_ns
        self.install("1.0.0", "switched")
        self.assertEqual(file.stat().st_mtime_ns, time)

    def test_setting_a_development_tool_up_leaves_the_installed_version_alone(self):
        self.install("1.0.0", "mixed")
        installed = self.top / "mixed/tfaot-model-minimal/1.0.0/etc/scram.d/tfaot-model-minimal.xml"
        before = installed.read_text()
        set_up(self.top / "dev/tfaot-model-minimal.xml", self.top / "mixed", ARCH, self.environment)
        self.assertEqual(installed.read_text(), before)
        self.run_tool("list", "--release-area", "mixed")
        tools = read_toolbox(self.top / "mixed", ARCH, self.environment)
        self.assertEqual(tools["tfaot-model-minimal"].variables["TFAOT_MODEL_MINIMAL_BASE"], [str(self.top / "dev")])

    def test_a_second_development_folder_brings_its_own_headers(self):
        """Set up later than the runtime's tool, which is the first folder's."""
        self.compile_version("1.1.0", "second")
        tools = self.set_up(self.top / "dev", self.environment)
        tools["tfaot-model-minimal"] = read_tool((self.top / "second/tfaot-model-minimal.xml").read_text(), self.environment)
        headers = self.headers_of_plugin(tools)
        self.assertIn("dev/runtime/include/tfaot/runtime/model.h", headers)
        self.assertIn("second/include/tfaot-model-minimal/model.h", headers)
        self.check_predictions(self.build_plugin(tools))

    def test_the_package_holds_no_folder_of_this_machine(self):
        self.run_tool("package", "dev", "-o", "placeholders", "--format", "tar.gz")
        path = next((self.top / "placeholders").glob("*.tar.gz"))
        with tarfile.open(path) as archive:
            for name in NAMES:
                text = archive.extractfile(f"{path.name.removesuffix('.tar.gz')}/{name}.xml").read().decode()
                self.assertIn('default="@TOOL_BASE@"', text)
                self.assertNotIn(str(self.top), text)

    def test_objects_are_linked_once(self):
        """All levels of all batch sizes, then the weights; dependents do not link them again."""
        tools = self.set_up(self.top / "dev", self.environment)
        objects = [Path(word).name for word in tools["tfaot-model-minimal"].flags["LDFLAGS"]]
        self.assertEqual(sorted(objects), sorted(path.name for path in (self.top / "dev/lib").glob("*.o")))
        self.assertEqual(objects[-1], "minimal_weights.o")
        self.assertEqual(exported(["tfaot-model-minimal"], tools), [])
        self.assertEqual(external_links(tools), [])

    def test_headers_are_those_of_the_runtime_that_is_linked(self):
        """Of one package, whichever models are used; and before these come no folder but the runtime's own."""
        tools = self.set_up(self.top / "dev", self.environment)
        other = read_tool((self.top / "dev/tfaot-model-minimal.xml").read_text().replace("/dev", "/other"), self.environment)
        flags = compile_flags(["other", "tfaot-model-minimal"], dict(tools, other=other))
        self.assertEqual(flags[0], "-I%s/dev/runtime/include" % self.top)
        self.assertIn("-I%s/other/include" % self.top, flags)


if __name__ == "__main__":
    unittest.main()
