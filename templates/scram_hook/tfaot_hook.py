# SPDX-License-Identifier: Apache-2.0
# Made by tfaot %VERSION% ("tfaot scram-hook install"). Do not edit; "tfaot scram-hook remove" takes it away.
"""<aot_compile model="/data/my_model" class="MyModel" batch_sizes="1 2 4 8"/> in a BuildFile.xml.

BuildRules.py of this area calls add_to(). A product with such elements gets rules of Makefile.aot,
which compile each model into it.
"""
import json
import re
from os import environ
from os.path import dirname, exists, isabs, join

from SCRAM import printerror
from SCRAM.BuildSystem.BuildFile import BuildFile

KEY = "AOT_COMPILE"
# attribute -> what its value may be
ATTRIBUTES = {
    "model": r"[\w./+@-]+",
    "class": r"[A-Za-z]\w*(::[A-Za-z]\w*)*",
    "batch_sizes": r"[1-9]\d*([ ,]+[1-9]\d*)*",
    "cpu_levels": r"[\w.-]+([ ,]+[\w.-]+)*",
    "version": r"[\w.+-]+",
}


def problem_of(attributes):
    for name, value in attributes.items():
        if name not in ATTRIBUTES:
            return "no attribute '%s'; there are %s" % (name, ", ".join(ATTRIBUTES))
        if "${" not in value and not re.fullmatch(ATTRIBUTES[name], value.strip()):
            return "%s='%s' cannot be used" % (name, value)
    for name in ["model", "class"]:
        if name not in attributes:
            return "%s=... is missing" % name
    return ""


def list_of(value):
    return [word for word in re.split("[ ,]+", value) if word]


def find_source(value, path):
    """The place of a model: as it is, else below the package, the BuildFile's folder or
    CMSSW_SEARCH_PATH, where a leading '/' does not count."""
    if isabs(value) and exists(value):
        return value
    relative = value.lstrip("/")
    package = "/".join(path.split("/")[:3])
    inside = package.split("/", 1)[-1]
    folders = [package, path]
    for folder in environ.get("CMSSW_SEARCH_PATH", "").split(":"):
        if folder:
            folders += [join(folder, inside), folder]
    for folder in folders:
        if exists(join(folder, relative)):
            return join(folder, relative)
    return join(package, relative)  # tfaot will say that it is not there


def absolute(path):
    return path if isabs(path) else "$(LOCALTOP)/" + path


def is_config(source):
    return source.endswith((".yaml", ".yml", ".json"))


def config_text(attributes, source):
    name = attributes["class"].split("::")[-1]
    model = {"name": name, "version": attributes.get("version", "1.0.0"), "saved_model": absolute(source)}
    sizes = [int(size) for size in list_of(attributes.get("batch_sizes", "1"))]
    return json.dumps({"model": model, "compilation": {"batch_sizes": sizes}})


def write_rules(out, product, path, attributes):
    namespace, _, name = attributes["class"].rpartition("::")
    prefix = "%s_AOT_%s" % (product, name)
    source = find_source(attributes["model"], path)
    options = []
    if is_config(source):
        out.write("%s_CONFIG := %s\n" % (prefix, source))
        if "batch_sizes" in attributes:
            options += ["--batch-sizes", ",".join(list_of(attributes["batch_sizes"]))]
    else:
        out.write("%s_CONFIG_TEXT := %s\n" % (prefix, config_text(attributes, source)))
    if namespace:
        options += ["--namespace", namespace]
    if "cpu_levels" in attributes:
        options += ["--cpu-levels", ",".join(list_of(attributes["cpu_levels"]))]
    out.write("%s_SOURCE := %s\n%s_OPTIONS := %s\n" % (prefix, source, prefix, " ".join(options)))


def write_export(out, product, folder, name):
    """What users of a package's library include and link: the model itself is in the library."""
    tree = "$(WORKINGDIR)/%s/%s/tfaot/%s" % (folder, product, name)
    out.write("{0}_AOT_EXPORTED := yes\n"
              "{0}_EX_FLAGS_CPPFLAGS += -I{1}/include -I{1}/runtime/include\n"
              "{0}_EX_FLAGS_LDFLAGS += {1}/runtime/lib/libtfaot_runtime.a\n".format(product, tree))


def template(rules):
    """Writes the rules of the product that BuildRules is at."""
    models = {}
    for texts in rules.core.get_data(KEY):
        for text in texts:
            attributes = json.loads(text)
            problem = problem_of(attributes)
            name = attributes.get("class", "").split("::")[-1]
            if problem or name in models:
                printerror("****ERROR: <aot_compile> in %s: %s" % (
                    rules.getLocalBuildFile(), problem or "two of one class"))
                continue
            models[name] = attributes
    if not models:
        return
    out = rules.data["FH"]
    product = rules.get("safename")
    path = dirname(rules.getLocalBuildFile()) or rules.get("path")
    out.write("ifeq ($(origin AddAOTRules),undefined)\n"
              "-include $(SCRAM_CONFIGDIR)/SCRAM/GMake/Makefile.aot\n"
              "endif\n")
    for name, attributes in models.items():
        write_rules(out, product, path, attributes)
        if rules.isPublictype():
            write_export(out, product, rules.get("path"), name)
    out.write("{0}_AOT_MODELS := {1}\n"
              "{0}_PRE_INIT_FUNC += $$(eval $$(call AddAOTRules,{0}))\n".format(
                  product, " ".join(models)))


def add_to(build_rules):
    if hasattr(build_rules, "tfaot_template"):
        return
    build_rules.tfaot_template = template
    dnn_template = build_rules.dnn_template
    update_contents = BuildFile._update_contents

    def dnn_and_tfaot_template(self):
        dnn_template(self)
        self.tfaot_template()

    def update_contents_with_models(self, data):
        if data.tag != "aot_compile":
            return update_contents(self, data)
        problem = problem_of(data.attrib)
        if problem:
            printerror("ERROR: <aot_compile> in %s: %s" % (self.filename, problem))
            self.error = True
            return False
        self._update_product(KEY, json.dumps(dict(data.attrib)))
        return not self.error

    build_rules.dnn_template = dnn_and_tfaot_template
    BuildFile._update_contents = update_contents_with_models
