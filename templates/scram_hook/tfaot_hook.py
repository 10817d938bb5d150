# SPDX-License-Identifier: Apache-2.0
# Made by tfaot %VERSION% ("tfaot scram-hook install"). Do not edit; "tfaot scram-hook remove" removes it.
"""<aot_compile model="/data/my_model" class="MyModel" batch_sizes="1 2 4 8"/> in a BuildFile.xml.

BuildRules.py of this area calls add_to(). A product with such elements gets rules of Makefile.aot,
which compile each model into it.
"""
import re
from os.path import basename, dirname, splitext
from xml.parsers import expat

from SCRAM import scramerror
from SCRAM.BuildSystem.BuildFile import BuildFile

KEY = "AOT_COMPILE"
SEPARATOR = "\x1f"  # XML has no such character, so no value of a BuildFile has it
# attribute -> allowed values
ATTRIBUTES = {
    "model": r"[\w./+@-]+",
    "class": r"[A-Za-z]\w*(::[A-Za-z]\w*)*",
    "batch_sizes": r"[1-9]\d*([ ,]+[1-9]\d*)*",
    "cpu_levels": r"[\w.-]+([ ,]+[\w.-]+)*",
    "dimensions": r"[\w.:/-]+=[\w.:/-]+([ ,]+[\w.:/-]+=[\w.:/-]+)*",
    "headers": r"self_contained|cmssw",
    "version": r"[\w.+-]+",
}


def problem_of(attributes, variables_allowed=False):
    """`variables_allowed`: before scram replaces ${name}."""
    for name, value in attributes.items():
        if name not in ATTRIBUTES:
            return "unknown attribute '%s'; allowed: %s" % (name, ", ".join(ATTRIBUTES))
        if variables_allowed and "${" in value:
            continue
        if not re.fullmatch(ATTRIBUTES[name], value, re.ASCII):
            return "%s='%s' cannot be used" % (name, value)
    if "model" not in attributes:
        return "model=... is missing"
    if "class" not in attributes and is_config(attributes["model"]):
        return "class=... is missing: it is the config's model.name"
    if "version" in attributes and is_config(attributes["model"]):
        return "version='%s' has no effect: the config has a version" % attributes["version"]
    return ""


def stop(build_file, problem):
    """Ends scram, as scram itself does for values that it cannot use. Otherwise it would continue with what it knew of
    this and all later BuildFiles. It keeps nothing of this run, so the next one reads the file again."""
    scramerror("<aot_compile> in %s: %s" % (build_file, problem))


def own_attributes(attributes):
    return {name: value for name, value in attributes.items() if name != "comment"}


def place_of(build_file, attributes):
    """FILE:LINE of the element with these attributes. scram's own parser does not keep lines."""
    lines = []
    parser = expat.ParserCreate()

    def start(tag, found):
        if tag == "aot_compile" and own_attributes(found) == attributes:
            lines.append(parser.CurrentLineNumber)

    parser.StartElementHandler = start
    with open(build_file) as text:
        parser.Parse("<root>%s</root>" % text.read(), True)
    return "%s:%d" % (build_file, lines[0]) if lines else build_file


def text_of(attributes):
    return SEPARATOR.join("%s=%s" % item for item in attributes.items())


def attributes_of(text):
    return dict(item.split("=", 1) for item in text.split(SEPARATOR))


def list_of(value):
    return [word for word in re.split("[ ,]+", value) if word]


def places_of(value, path):
    """Where a model may be: the path itself, else below the package, the BuildFile's folder or CMSSW_SEARCH_PATH, where a
    leading '/' is ignored. For make, which looks again each time: packages come and go."""
    relative = value.lstrip("/")
    package = "/".join(path.split("/")[:3])
    inside = package.split("/", 1)[-1]
    places = [value] if value.startswith("/") else []
    places += ["%s/%s" % (package, relative)]
    if path != package:
        places += ["%s/%s" % (path, relative)]
    places.append("$(foreach f,$(subst :, ,$(CMSSW_SEARCH_PATH)),$f/%s/%s $f/%s)" % (inside, relative, relative))
    return " ".join(places)


def is_config(source):
    return source.endswith((".yaml", ".yml", ".json"))


def class_of(attributes):
    """Without a class, a model is named after its file or folder, as name_from_path() of tfaot's base does."""
    if "class" in attributes or is_config(attributes["model"]):
        return attributes.get("class", "")
    folder, name = dirname(attributes["model"].rstrip("/")), splitext(basename(attributes["model"].rstrip("/")))[0]
    if name in ("saved_model", "model", "frozen_graph"):
        name = basename(folder) or name
    name = re.sub(r"[^A-Za-z0-9]", "_", name)
    return "model_" + name if not name or name[0].isdigit() else name


def write_rules(out, product, path, attributes, place):
    namespace, _, name = class_of(attributes).rpartition("::")
    options = []
    if not is_config(attributes["model"]):
        options += ["--model-name", name, "--model-version", attributes.get("version", "1.0.0")]
    for attribute in ("batch_sizes", "cpu_levels", "headers"):
        if attribute in attributes:
            options += ["--" + attribute.replace("_", "-"), ",".join(list_of(attributes[attribute]))]
    for dimension in list_of(attributes.get("dimensions", "")):
        options += ["--dimension", dimension]
    if namespace:
        options += ["--namespace", namespace]
    for variable, value in (("MODEL", attributes["model"]),
                            ("PLACES", places_of(attributes["model"], path)),
                            ("SOURCE", "$(firstword $(wildcard $({0}_PLACES)))"),
                            ("BUILDFILE", place),
                            ("OPTIONS", " ".join(options))):
        prefix = "%s_AOT_%s" % (product, name)
        out.write("%s_%s := %s\n" % (prefix, variable, value.format(prefix) if variable == "SOURCE" else value))


def write_export(out, product, folder, name):
    """What users of a package's library include and link: the model itself is in the library. A developer area that
    has no sources of the package uses the release's. scram hands it these lines of the release's makefiles only
    because there is no space before '+='."""
    tree = "$(SCRAMSTORENAME_INCLUDE)/$(SCRAM_ARCH)/tfaot/%s/%s" % (product, name)
    tree = ("$(firstword $(wildcard $(if $(wildcard {0}),,$(RELEASETOP)/{1} $(FULL_RELEASE_FOR_A_PATCH)/{1})) {1})"
            .format(folder, tree))
    out.write("{0}_AOT_EXPORTED := yes\n"
              "{0}_EX_FLAGS_CPPFLAGS+=-I{1}/include -I{1}/%RUNTIME_INCLUDE% -DTFAOT_SHARED_MODELS\n"
              "{0}_EX_FLAGS_LDFLAGS+={1}/%RUNTIME_LIBRARY%\n".format(product, tree))


def template(rules):
    """Writes the rules of BuildRules' current product."""
    models = {}
    for texts in rules.core.get_data(KEY):
        for text in texts:
            attributes = attributes_of(text)
            place = attributes.pop("place")
            problem = problem_of(attributes)
            name = "" if problem else class_of(attributes).split("::")[-1]
            if problem or name in models:
                stop(rules.getLocalBuildFile(), problem or "two models of one class, '%s'" % name)
            models[name] = (attributes, place)
    if not models:
        return
    out = rules.data["FH"]
    product = rules.get("safename")
    path = dirname(rules.getLocalBuildFile()) or rules.get("path")
    out.write("ifeq ($(origin AddAOTRules),undefined)\n"
              "-include $(SCRAM_CONFIGDIR)/SCRAM/GMake/Makefile.aot\n"
              "endif\n")
    for name, (attributes, place) in models.items():
        write_rules(out, product, path, attributes, place)
        if rules.isPublictype():
            write_export(out, product, rules.get("path"), name)
    out.write("{0}_AOT_MODELS := {1}\n"
              "{0}_AOT_FOLDER := {2}\n"
              "{0}_PRE_INIT_FUNC += $$(eval $$(call AddAOTRules,{0}))\n".format(
                  product, " ".join(models), rules.get("path")))


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
        written = own_attributes(data.attrib)
        attributes = {name: value.strip() for name, value in written.items()}
        problem = problem_of(attributes, variables_allowed=True)
        if problem:
            stop(self.filename, problem)
        if len(data) or (data.text or "").strip():
            stop(self.filename, "it has contents, which mean nothing here; write it as <aot_compile .../>")
        if self.product is self.contents.get("EXPORT"):
            stop(self.filename, "it is inside <export>; write it outside")
        attributes["place"] = place_of(self.filename, written)
        self._update_product(KEY, text_of(attributes))
        return True

    build_rules.dnn_template = dnn_and_tfaot_template
    BuildFile._update_contents = update_contents_with_models
