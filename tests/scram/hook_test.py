# SPDX-License-Identifier: Apache-2.0
"""<aot_compile> from the BuildFile to a linked plugin: the hook as `tfaot scram-hook` installs it, in an area
whose scram is a few lines that do what the hook relies on, with make and the real compiler."""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from scram_rules import read_by_developer_areas

TOOL = os.environ["TFAOT_TOOL"]
CXX = os.environ["CXX"]
HERE = Path(__file__).resolve().parent
MINIMAL = HERE.parent.parent / "examples" / "minimal"

# What the hook relies on, as scram (SCRAMV3) has it; no BuildFile has an attribute `error`.
SCRAM = {
    "SCRAM/__init__.py": """
import sys
def printerror(text):
    print(text, file=sys.stderr)
def scramerror(text):
    print("SCRAM error: " + text, file=sys.stderr)
    sys.exit(1)
""",
    "SCRAM/BuildSystem/__init__.py": "",
    "SCRAM/BuildSystem/BuildFile.py": """
import re
class BuildFile(object):
    def __init__(self, filename):
        self.filename, self.tag, self.variables = filename, "", {}
        self.contents = {"USE": [], "EXPORT": {}}
        self.product = self.contents
    def _replace_variables(self, value):
        return re.sub(r"[$][{](\\w+)[}]", lambda match: self.variables.get(match.group(1), match.group()), value)
    def _update_product(self, tag, value, key=None):
        self.product.setdefault(tag, []).append(self._replace_variables(value))
    def _update_contents(self, data):
        self.tag = data.tag.upper()
        if self.tag == "SET":
            self.variables[data.attrib["name"]] = data.attrib["value"]
        elif self.tag == "EXPORT":
            self.product = self.contents["EXPORT"]
        elif self.tag not in ("ROOT", "USE", "LIB"):
            print("ERROR: Unknown tag", data.tag)
        for child in data:
            if not self._update_contents(child):
                return False
        self.product = self.contents
        return True
    def get_data(self, key):
        return [self.contents[key]] if key in self.contents else []
""",
    "SCRAM/Plugins/__init__.py": """
from os import environ
__path__.insert(0, environ["LOCALTOP"] + "/config/SCRAM/Plugins")
""",
}
BUILD_RULES = """
from os import environ
class BuildRules(object):
    def __init__(self, core, out):
        self.core, self.data = core, {"FH": out}
    def get(self, key):
        return {"safename": "SubPkg", "path": "src/Sub/Pkg/src"}[key]
    def getLocalBuildFile(self):
        return self.core.filename
    def isPublictype(self):
        return environ.get("TEMPLATE", "library") == "library"
    def dnn_template(self):
        self.data["FH"].write("SubPkg_DNN := asked\\n")
    def dump(self):
        self.dnn_template()"""
# What a product's makefile is read by; SubPkg.mk is what the line above writes.
MAKEFILE = """
.DEFAULT_GOAL := all
CMD_echo := echo
CMD_mkdir := mkdir
CMD_rm := rm
CMD_sed := sed
CMD_cp := cp
CMD_mv := mv
VERB_ECHO := :
SCRAM_ARCH := el8_amd64_gcc12
SCRAMSTORENAME_INCLUDE := include
# scram takes X.d beside an object X.o for what its compiler found: without a header inside the area it fails at it.
CHECK_DEPENDENCIES = for file in $(1:.o=.d) ; do [ ! -f $$file ] || sed -e 's|.*$(CURDIR)/| |' -e 's|^  */.*||' $$file | grep -q 'src/' || \\
  { echo "IndexError: list index out of range" ; exit 1 ; } ; done
define AutoCleanFile
$(dir $(1))AUTOCLEAN.$(notdir $(1)).$(2).clean
endef
define CommonBinaryTail
$(eval $($(1)_PRE_INIT_FUNC))
$($(1)_objdir)/precompile: $($(1)_config) $($(1)_precompile)
	@touch $$@
$($(1)_objdir)/plugin.o: plugin.cc $($(1)_objdir)/precompile
	@echo compiling $$<; $(CXX) -std=c++17 -fPIC $($(1)_LOC_FLAGS_CPPFLAGS) -c $$< -o $$@
$(1).so: $($(1)_objs)
	@$(CXX) -shared -Wl,-z,defs $($(1)_objs) -o $$@ $($(1)_LOC_FLAGS_LDFLAGS)
	@$(call CHECK_DEPENDENCIES,$(filter-out %/plugin.o,$($(1)_objs)))
endef
WORKINGDIR := tmp
SubPkg_objdir := tmp/src/Sub/Pkg/src/SubPkg
SubPkg_config := $(SubPkg_objdir)/config
$(SubPkg_config): src/Sub/Pkg/BuildFile.xml
	@rm -rf $(@D); mkdir -p $(@D); touch $@
SubPkg_objs := $(SubPkg_objdir)/plugin.o
-include SubPkg.mk
all: SubPkg.so
ALL_PRODS := User SubPkg
User_PACKAGE := self/src/Sub/Pkg/plugins
User_LOC_USE_ALL := Other SubPkg
tmp/src/Sub/Pkg/plugins/User/precompile:
	@mkdir -p $(@D); touch $@
User.so: plugin.cc tmp/src/Sub/Pkg/plugins/User/precompile | SubPkg.so
	@echo compiling User; $(CXX) -std=c++17 -fPIC -shared -Wl,-z,defs -Wl,-rpath,$(CURDIR) $(SubPkg_EX_FLAGS_CPPFLAGS) $< -o $@ \\
	  $(SubPkg_EX_FLAGS_LDFLAGS) SubPkg.so
$(eval $(call CommonBinaryTail,SubPkg))
"""
DRIVER = """
import sys
import xml.etree.ElementTree as ElementTree
from SCRAM.Plugins.BuildRules import BuildRules
from SCRAM.BuildSystem.BuildFile import BuildFile
build_file = BuildFile("src/Sub/Pkg/BuildFile.xml")
root = ElementTree.fromstring("<root>" + open(build_file.filename).read() + "</root>")
if not build_file._update_contents(root):
    sys.exit(1)
with open("SubPkg.mk", "w") as out:
    BuildRules(build_file, out).dump()
"""


def tool_for_make(folder):
    """make cannot use a path with blanks, so tfaot refuses to be such a one: then a copy of it below `folder`."""
    if " " not in TOOL:
        return TOOL
    build = Path(TOOL).parent.parent
    shutil.copytree(build / "bin", folder / "build/bin")
    for name in ("include", "lib", "share"):
        (folder / "build" / name).symlink_to(build / name)
    return folder / "build/bin/tfaot"


class Hook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tfaot-hook-")
        self.addCleanup(folder.cleanup)
        self.area = Path(folder.name)
        self.environment = dict(os.environ, LOCALTOP=folder.name, SCRAM_CONFIGDIR="config",
                                PYTHONPATH=folder.name + "/scram", TFAOT_CACHE=folder.name + "/cache")
        self.environment.pop("TFAOT", None)
        for name, text in SCRAM.items():
            self.write("scram/" + name, text)
        self.write("config/scram_version", "V3_00_78\n")
        self.write("config/SCRAM/Plugins/BuildRules.py", BUILD_RULES)
        self.write("config/SCRAM/GMake/Makefile.rules", MAKEFILE)
        self.write("plugin.cc", (HERE / "plugin.cc").read_text())
        self.write("src/Sub/Pkg/src/plugin.cc", "")
        model = self.area / "src/Sub/Pkg/data/my_model"
        model.parent.mkdir(parents=True)
        model.symlink_to(MINIMAL / "saved_model")
        self.build_file("")
        self.tool = tool_for_make(self.area)
        self.run_in_area(self.tool, "scram-hook", "install", self.area)

    def write(self, name, text):
        path = self.area / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def build_file(self, attributes, model="/data/my_model", name="minimal", before="", after=""):
        self.write("src/Sub/Pkg/BuildFile.xml", '<use name="x"/>%s<aot_compile model="%s" class="%s" %s/>%s' % (
            before, model, name, attributes, after))

    def replace_model(self, folder, time=None):
        """By a copy of the minimal one."""
        shutil.rmtree(folder, ignore_errors=True) if not folder.is_symlink() else folder.unlink()
        shutil.copytree(MINIMAL / "saved_model", folder, copy_function=shutil.copyfile)
        for file in folder.rglob("*"):
            os.utime(file, time)

    def run_in_area(self, *command, check=True):
        return subprocess.run([str(word) for word in command], cwd=self.area, env=self.environment, check=check,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def read_build_file(self, check=True):
        return self.run_in_area(sys.executable, "-c", DRIVER, check=check)

    def make(self, *words, check=True):
        return self.run_in_area("make", "-r", "-f", "config/SCRAM/GMake/Makefile.rules", "CXX=" + CXX, *words,
                                check=check).stdout

    def predict(self, name="SubPkg.so"):
        # A copy, as dlopen gives the old library of a path again.
        folder = tempfile.mkdtemp(dir=self.area)
        library = ctypes.CDLL(shutil.copy(self.area / name, folder))
        for case in json.loads((MINIMAL / "reference.json").read_text())["cases"]:
            rows = case["batch_size"]
            outputs = (ctypes.c_float * (rows * 2))()
            library.predict((ctypes.c_float * (rows * 4))(*case["inputs"]["x"]), ctypes.c_size_t(rows), outputs)
            for actual, expected in zip(outputs, case["outputs"]["y"], strict=True):
                self.assertAlmostEqual(actual, expected, delta=1e-5)

    def test_the_model_becomes_part_of_the_product(self):
        self.build_file('batch_sizes="1 2, 4" cpu_levels="x86-64 x86-64-v3"')
        self.assertEqual(self.read_build_file().stdout, "")
        self.assertIn(">> Compiling model minimal (src/Sub/Pkg/data/my_model)", self.make())
        objects = {path.name for path in (self.area / "tmp/src/Sub/Pkg/src/SubPkg/tfaot/minimal/lib").glob("*.o")}
        self.assertEqual(len(objects), 3 * 2 + 1)
        self.predict()

        self.assertEqual(self.make().strip(), "make: Nothing to be done for 'all'.")

        model = self.area / "src/Sub/Pkg/data/my_model"
        self.replace_model(model)
        self.assertIn("compiling plugin.cc", self.make())
        self.predict()
        self.assertEqual(self.make().strip(), "make: Nothing to be done for 'all'.")

    def test_files_that_replace_the_model_may_be_older(self):
        model = self.area / "src/Sub/Pkg/data/my_model"
        self.read_build_file()
        self.make()
        self.replace_model(model, (1, 1))
        self.assertIn(">> Compiling model", self.make())
        self.replace_model(model, (2, 2))
        self.assertIn(">> Compiling model", self.make())
        self.assertEqual(self.make().strip(), "make: Nothing to be done for 'all'.")
        self.predict()

    def test_a_model_may_lie_outside_the_area(self):
        for outside in ("absolute", "search"):
            folder = tempfile.TemporaryDirectory(prefix="tfaot-outside-")
            self.addCleanup(folder.cleanup)
            self.replace_model(Path(folder.name) / "Sub/Pkg/data/other")
            self.environment["CMSSW_SEARCH_PATH"] = "/nowhere:" + folder.name
            self.build_file("", model=folder.name + "/Sub/Pkg/data/other" if outside == "absolute" else "/data/other")
            self.read_build_file()
            self.assertIn(">> Compiling model minimal (%s" % folder.name, self.make())
            self.predict()
            self.assertEqual(self.make().strip(), "make: Nothing to be done for 'all'.")
        # One in the package comes before that of the search path.
        self.replace_model(self.area / "src/Sub/Pkg/data/other")
        self.assertIn(">> Compiling model minimal (src/Sub/Pkg/data/other)", self.make())

    def test_a_package_that_was_removed_makes_nothing(self):
        self.read_build_file()
        shutil.rmtree(self.area / "src/Sub/Pkg/src")
        self.assertNotIn("Compiling model", self.make(check=False))

    def test_developer_areas_use_the_librarys_headers_and_runtime(self):
        self.read_build_file()
        self.make()
        lines = [line for line in (self.area / "SubPkg.mk").read_text().splitlines() if read_by_developer_areas(line)]
        folder = tempfile.TemporaryDirectory(prefix="tfaot-developer-")
        self.addCleanup(folder.cleanup)
        shutil.rmtree(self.area / "tmp")  # a release does not keep it
        Path(folder.name, "Makefile").write_text("\n".join(lines) + """
SCRAM_ARCH := el8_amd64_gcc12
SCRAMSTORENAME_INCLUDE := include
User.so:
	$(CXX) -std=c++17 -fPIC -shared -Wl,-z,defs -Wl,-rpath,$(RELEASETOP) $(SubPkg_EX_FLAGS_CPPFLAGS) %s -o $@ \\
	  $(SubPkg_EX_FLAGS_LDFLAGS) $(RELEASETOP)/SubPkg.so
""" % (self.area / "plugin.cc"))
        run = subprocess.run(["make", "-r", "-C", folder.name, "CXX=" + CXX, "RELEASETOP=%s" % self.area, "User.so"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.predict(Path(folder.name, "User.so"))

    def test_users_of_a_packages_library_see_the_model(self):
        self.build_file('batch_sizes="1 2"')
        self.read_build_file()
        self.make("-j2", "User.so")
        self.predict("User.so")
        symbols = subprocess.run(["nm", "-D", self.area / "User.so"], check=True, capture_output=True, text=True).stdout
        self.assertIn(" U tfaot_tfaot_model_minimal_weights", symbols)
        self.replace_model(self.area / "src/Sub/Pkg/data/my_model")
        self.assertIn("compiling User", self.make("User.so"))

        self.environment["TEMPLATE"] = "plugins"
        self.read_build_file()
        self.assertNotIn("_EX_", (self.area / "SubPkg.mk").read_text())

    def test_a_used_library_may_not_have_a_model_of_the_same_class(self):
        """Its header would be found first: flags of used products stand before the product's own."""
        self.read_build_file()
        flags = "Other_EX_FLAGS_CPPFLAGS=-Iinclude/%s/include"
        out = self.make("SubPkg_LOC_USE_ALL=Other", flags % "el8_amd64_gcc12/tfaot/Other/minimal", check=False)
        self.assertIn("<aot_compile> of 'minimal' in src/Sub/Pkg/src: a library that this product uses also has a model "
                      "of this class (include/el8_amd64_gcc12/tfaot/Other/minimal/include)", out)
        self.assertFalse((self.area / "SubPkg.so").exists())
        self.make("SubPkg_LOC_USE_ALL=Other", flags % "el8_amd64_gcc12/tfaot/Other/bigger" + " -I/opt/minimal/include")

    def test_a_config_says_the_rest(self):
        self.write("src/Sub/Pkg/data/aot_config.yaml", (MINIMAL / "aot_config.yaml").read_text()
                   .replace("./saved_model", "my_model"))
        self.build_file("", model="data/aot_config.yaml")
        self.read_build_file()
        self.make()
        self.predict()
        (self.area / "src/Sub/Pkg/data/aot_config.yaml").touch()
        self.assertIn("compiling plugin.cc", self.make())

        self.build_file("", model="data/aot_config.yaml", name="other")
        self.read_build_file()
        said = self.make(check=False)
        self.assertIn("tfaot: error: src/Sub/Pkg/BuildFile.xml:1: model.name of %s/src/Sub/Pkg/data/aot_config.yaml is "
                      "'minimal' but 'other' was expected\n" % self.area, said)
        self.assertNotIn("CMake", said)

    def test_a_model_file_needs_no_config(self):
        shutil.copy(HERE.parent / "e2e/models/onnx/dense/model.onnx", self.area / "src/Sub/Pkg/data/net.onnx")
        self.build_file('batch_sizes="1 2" headers="cmssw"', model="data/net.onnx", name="ns::dense")
        self.read_build_file()
        tree = "tmp/src/Sub/Pkg/src/SubPkg/tfaot/dense"
        self.assertIn(">> Compiling model dense (src/Sub/Pkg/data/net.onnx)", self.make(tree + ".o"))
        manifest = json.loads((self.area / tree / "manifest.json").read_text())
        self.assertEqual([manifest[key] for key in ("name", "version", "cpp_class", "batch_sizes", "headers")],
                         ["dense", "1.0.0", "ns::dense", [1, 2], "cmssw"])
        self.assertIn("is up to date", self.make(tree + ".o"))
        (self.area / "src/Sub/Pkg/data/net.onnx").touch()
        self.assertIn(">> Compiling model", self.make(tree + ".o"))

    def test_a_model_is_named_after_its_file(self):
        shutil.copy(HERE.parent / "e2e/models/onnx/tracks/model.onnx", self.area / "src/Sub/Pkg/data/tracks.onnx")
        self.write("src/Sub/Pkg/BuildFile.xml", '<aot_compile model="/data/tracks.onnx" dimensions="n_tracks=5"/>')
        self.read_build_file()
        tree = "tmp/src/Sub/Pkg/src/SubPkg/tfaot/tracks"
        self.assertIn(">> Compiling model tracks (src/Sub/Pkg/data/tracks.onnx)", self.make(tree + ".o"))
        manifest = json.loads((self.area / tree / "manifest.json").read_text())
        self.assertEqual(manifest["cpp_class"], "tfaot_model::tracks")
        self.assertEqual(manifest["signature"]["inputs"][0]["row_shape"][0], 5)

    def test_a_model_takes_ranges_of_sizes(self):
        shutil.copy(HERE.parent / "e2e/models/onnx/tracks/model.onnx", self.area / "src/Sub/Pkg/data/tracks.onnx")
        self.write("src/Sub/Pkg/BuildFile.xml", '<aot_compile model="/data/tracks.onnx" dimensions="n_tracks=0..5"/>')
        self.read_build_file()
        tree = "tmp/src/Sub/Pkg/src/SubPkg/tfaot/tracks"
        self.make(tree + ".o")
        (dimension,) = json.loads((self.area / tree / "manifest.json").read_text())["dimensions"]
        self.assertEqual([dimension[key] for key in ("name", "smallest", "largest")], ["n_tracks", 0, 5])

    def test_mistakes_end_scram(self):
        for attributes, name, before, complaint in (
                ('batch_sizes="1 x"', "minimal", "", "batch_sizes='1 x' cannot be used"),
                ('batch_size="1"', "minimal", "", "unknown attribute 'batch_size'"),
                ("", "3d", "", "class='3d' cannot be used"),
                ('dimensions="n"', "minimal", "", "dimensions='n' cannot be used"),
                ("", "minimal", '<aot_compile model="c.yaml"/>', "class=... is missing: it is the config's model.name"),
                ("", "minimal", '<aot_compile model="/m" class="ns::minimal"/>', "two models of one class, 'minimal'"),
                ("", "minimal", '<export><aot_compile model="/m" class="other"/></export>', "it is inside <export>"),
                ('headers="self-contained"', "minimal", "", "headers='self-contained' cannot be used"),
                ("", "minimal", '<aot_compile model="c.yaml" class="other" version="2.0"/>',
                 "version='2.0' has no effect: the config has a version"),
                ("", "minimal", '<aot_compile model="/m" class="other"><use name="x"/></aot_compile>',
                 "it has contents, which mean nothing here"),
                ("", "minimal", '<aot_compile model="/m" class="other">text</aot_compile>',
                 "it has contents, which mean nothing here"),
                ("", "${unknown}", "", "class='${unknown}' cannot be used"),
                ("", "${quote}", """<set name="quote" value='"'/>""", "class='\"' cannot be used")):
            self.build_file(attributes, name=name, before=before)
            run = self.read_build_file(check=False)
            self.assertIn("SCRAM error: <aot_compile> in src/Sub/Pkg/BuildFile.xml: " + complaint, run.stdout)
            self.assertEqual(run.returncode, 1)

    def test_a_missing_model_is_named_as_written(self):
        self.environment["CMSSW_SEARCH_PATH"] = "/a:/b"
        self.build_file('batch_sizes="1"', model="/no/such", before='\n<!-- <aot_compile model="/no/such" -->\n')
        self.read_build_file()
        said = self.make(check=False)
        self.assertIn("""tfaot: error: src/Sub/Pkg/BuildFile.xml:3: <aot_compile>: there is no model '/no/such'
  looked for /no/such
  looked for src/Sub/Pkg/no/such
  looked for /a/Sub/Pkg/no/such
  looked for /a/no/such
  looked for /b/Sub/Pkg/no/such
  looked for /b/no/such
""", said)
        self.assertNotIn("Compiling model", said)
        self.replace_model(self.area / "src/Sub/Pkg/no/such")
        self.assertIn(">> Compiling model minimal (src/Sub/Pkg/no/such)", self.make())

    def test_an_error_of_the_compilation_names_the_line_of_the_element(self):
        """Of a value in the element, and of a file that the element names."""
        self.build_file('cpu_levels="x86-64-v9"', before="\n\n")
        self.read_build_file()
        self.assertIn("tfaot: error: src/Sub/Pkg/BuildFile.xml:3: --cpu-levels: ", self.make(check=False))
        self.write("src/Sub/Pkg/data/aot_config.yaml", "model: {name: minimal}\n")
        self.build_file("", model="data/aot_config.yaml", before="\n\n")
        self.read_build_file()
        said = self.make(check=False)
        self.assertIn("tfaot: error: %s/src/Sub/Pkg/data/aot_config.yaml:1:" % self.area, said)
        self.assertIn("\n  asked for in src/Sub/Pkg/BuildFile.xml:3\n", said)

    def test_values_may_have_variables_and_a_comment(self):
        self.build_file('batch_sizes=" ${sizes} " comment="fine"', name="${name}",
                        before='<set name="name" value="minimal"/><set name="sizes" value="1 2"/>')
        self.assertEqual(self.read_build_file().stdout, "")
        self.make()
        self.predict()

    def test_without_the_hook_the_tag_is_unknown(self):
        self.run_in_area(self.tool, "scram-hook", "remove", self.area)
        self.assertEqual(self.read_build_file().stdout, "ERROR: Unknown tag aot_compile\n")
        self.assertEqual((self.area / "SubPkg.mk").read_text(), "SubPkg_DNN := asked\n")
        self.assertEqual((self.area / "config/SCRAM/Plugins/BuildRules.py").read_text(), BUILD_RULES)


if __name__ == "__main__":
    unittest.main()
