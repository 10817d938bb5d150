# SPDX-License-Identifier: Apache-2.0
"""What scram does with tool files and how it links, written again in few words. Found by running real scram
(docs/measurements.md); no code of it. Tool files become records, records a link line."""
import re
import shutil
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

KNOWN_ATTRIBUTES = {
    "tool": {"name", "version", "type"},
    "client": set(),
    "environment": {"name", "default", "value", "handler"},
    "lib": {"name", "type"},
    "use": {"name", "source_only"},
    "runtime": {"name", "value", "type", "default", "handler"},
    "info": {"url"},
}
# What a condition compares with; those of the second row work, but are not in scram's list of tags.
CONDITIONS = {"architecture": "SCRAM_ARCH", "ifarchitecture": "SCRAM_ARCH", "release": "SCRAM_PROJECTVERSION",
              "ifrelease": "SCRAM_PROJECTVERSION", "compiler": "DEFAULT_COMPILER", "ifcompiler": "DEFAULT_COMPILER"}
UNLISTED_CONDITIONS = {"ifproject": "SCRAM_PROJECTNAME", "ifconfig": "SCRAM_CONFIGCHKSUM", "ifscram": "SCRAM_VERSION",
                       "ifversion": "TOOL_VERSION"}
MOST_NESTED = 970  # nested elements: Python's stack
LAST_ORDER = 99999  # of a tool that uses none; users come before


class Crash(Exception):
    """scram ends with a Python traceback."""


class Refusal(Exception):
    """scram says why and sets nothing up."""


@dataclass
class Tool:
    name: str = ""
    version: str = ""
    variables: dict = field(default_factory=dict)
    flags: dict = field(default_factory=dict)  # kind -> words
    libs: list = field(default_factory=list)
    uses: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    def folders(self, kind):
        return self.variables.get(kind, [])


def attribute(element, name):
    if name not in element.attrib:
        raise Crash("KeyError: '%s'" % name)
    return element.attrib[name]


def value_of(element, first, second):
    return element.attrib[first] if first in element.attrib else attribute(element, second)


def resolve(value, own, environment, complaints):
    """The last reference first; one that is defined nowhere empties the whole value."""
    while True:
        match = re.match(r"(?s)(.*)\$\{(\w+)\}(.*)", value) or re.match(r"(?s)(.*)\$(\w+)(.*)", value)
        if not match:
            return value
        before, name, after = match.groups()
        if name not in own and name not in environment:
            complaints.append("Unable to replace $" + name)
            return ""
        value = before + own.get(name, environment.get(name)) + after


def holds(element, kind, environment):
    """`value` is compared, `match` and `name` are looked for; a leading '!' turns it around."""
    actual = environment.get(CONDITIONS.get(kind) or UNLISTED_CONDITIONS[kind], "")
    wanted = element.attrib.get("value", element.attrib.get("match", element.attrib.get("name")))
    if wanted is None:
        raise Crash("KeyError: 'name'")
    plain = wanted.removeprefix("!")
    try:
        same = actual == plain if "value" in element.attrib else re.search(plain, actual) is not None
    except re.error as error:
        raise Crash(str(error)) from error
    return same != wanted.startswith("!")


def apply_conditions(parent, environment, depth=0):
    """Takes away what does not hold here, <else/> and <elif/>, and all that stands inside of those."""
    if depth > MOST_NESTED:
        raise Crash("RecursionError")
    kind = parent.tag
    is_condition = kind in CONDITIONS or kind in UNLISTED_CONDITIONS
    keep = not is_condition or holds(parent, kind, environment)
    done = False
    for child in list(parent):
        if child.tag in ("else", "elif"):
            if not is_condition:
                raise Crash("Invalid tag '%s'" % child.tag)
            parent.remove(child)
            done = done or keep
            keep = not done and (child.tag == "else" or holds(child, kind, environment))
        elif not keep:
            parent.remove(child)
        elif len(child):
            apply_conditions(child, environment, depth + 1)


def read_tool(text, environment):
    try:
        root = ElementTree.fromstring("<root>" + (text if isinstance(text, str) else text.decode()) + "</root>")
    except (ElementTree.ParseError, UnicodeDecodeError) as error:
        raise Crash(str(error)) from error
    apply_conditions(root, environment)
    own = {}
    for element in root.iter("environment"):
        own[attribute(element, "name")] = value_of(element, "value", "default")
    tool = Tool()
    for element in list(root.iter())[1:]:
        read_element(tool, element, own, environment)
    for name in own:
        if name not in tool.variables:
            raise Crash("KeyError: '%s'" % name)  # when it prints what it set up
    return tool


def read_element(tool, element, own, environment):
    def value(first, second):
        return resolve(value_of(element, first, second), own, environment, tool.complaints)

    kind = element.tag
    element.attrib.pop("comment", None)
    for name in element.attrib:
        if kind in KNOWN_ATTRIBUTES and name not in KNOWN_ATTRIBUTES[kind]:
            tool.complaints.append("Invalid attribute " + name)
    if kind == "tool":
        tool.name = attribute(element, "name").lower()
        tool.version = attribute(element, "version")
        if not tool.version:
            raise Crash("KeyError: 'TOOLVERSION'")
    elif kind == "environment":
        text = value("default", "value")
        if text:
            tool.variables.setdefault(element.attrib["name"].upper(), []).append(text)
    elif kind == "flags":
        if not element.attrib:
            raise Crash("IndexError")
        first = next(iter(element.attrib))
        words = resolve(element.attrib[first], own, environment, tool.complaints).split(" ")
        tool.flags.setdefault(first.upper(), []).extend(word for word in words if word)
    elif kind == "lib":
        tool.libs.append(attribute(element, "name"))
    elif kind == "use":
        tool.uses.append(attribute(element, "name").lower())
    elif kind == "runtime":
        attribute(element, "name")
        path = value("default", "value")
        is_path = element.attrib.get("type", "").upper() == "PATH"
        if is_path and path and not Path(path).exists() and element.attrib.get("handler") != "warn":
            raise Refusal("Checks [FAIL] for " + path)
    elif kind in UNLISTED_CONDITIONS:
        tool.complaints.append("Invalid tag " + kind)
    elif kind not in ("client", "info") and kind not in CONDITIONS:
        tool.complaints.append("Unknown tag " + kind)


def make_developer_area(release, area, arch):
    """What `scram project` does with a release's toolbox: copied with its times, links as they are."""
    toolbox = "config/toolbox/" + arch
    shutil.copytree(Path(release) / toolbox, Path(area) / toolbox, symlinks=True)


def toolbox_file(area, arch, name):
    return Path(area) / "config/toolbox" / arch / "tools/selected" / (name.lower() + ".xml")


def set_up(file, area, arch, environment):
    """`scram setup FILE`: into the toolbox, through a link that lies there, with the file's time. The file's name does
    not matter, the tool's does."""
    tool = read_tool(Path(file).read_text(), environment)
    shutil.copy2(file, toolbox_file(area, arch, tool.name))
    return tool


def read_toolbox(area, arch, environment):
    """`scram b` reads every file of the toolbox."""
    tools = {}
    for file in sorted(toolbox_file(area, arch, "x").parent.glob("*.xml")):
        if not file.exists():
            raise Refusal("No rule to make target '%s'" % file)
        tool = read_tool(file.read_text(), environment)
        tools[tool.name] = tool
    return tools


def order_of(name, tools):
    used = [order_of(other, tools) for other in tools[name].uses if other in tools]
    return min([LAST_ORDER] + used) - (1 if used else 0)


def used_tools(names, tools, complaints):
    """With all that they use; one that is not set up is only a warning."""
    found = []
    for name in names:
        if name in tools and name in tools[name].uses:
            raise Crash("Recursive variable '%s_EX_USE_ALL' references itself" % name)  # make
        if name not in tools:
            complaints.append("Invalid tool " + name)
            continue
        for other in [name] + used_tools(tools[name].uses, tools, complaints):
            if other not in found:
                found.append(other)
    return found


def built_anew(products, changed):
    """Which of a BuildFile's products, {name: tools}, `scram b` builds again when tools changed: it looks at the tools
    of the first product by the alphabet alone, and then builds all of them."""
    return sorted(products) if set(products[min(products)]) & set(changed) else []


def exported(uses, tools):
    """What dependents of a library inherit of its tools."""
    return [name for name in uses if "NO_RECURSIVE_EXPORT" not in tools[name].flags]


def compile_flags(uses, tools):
    """CPPFLAGS of all tools (used ones before users), then INCLUDE (users before used)."""
    chosen = sorted(used_tools(uses, tools, []), key=lambda name: (order_of(name, tools), name))
    flags = [word for name in reversed(chosen) for word in tools[name].flags.get("CPPFLAGS", [])]
    return flags + ["-I" + folder for name in chosen for folder in tools[name].folders("INCLUDE")]


def external_links(tools):
    """Folders whose files scram links into external/ARCH/lib of the area."""
    return [folder for tool in tools.values() if "SKIP_TOOL_SYMLINKS" not in tool.flags
            for folder in tool.folders("LIBDIR")]


def link_line(objects, uses, tools, complaints=None):
    """Own objects, then LDFLAGS of the tools (used ones before users), -L, -l (users before used)."""
    complaints = [] if complaints is None else complaints
    chosen = sorted(used_tools(uses, tools, complaints), key=lambda name: (order_of(name, tools), name))
    flags = [word for name in reversed(chosen) for word in tools[name].flags.get("LDFLAGS", [])]
    linked = [name for name in chosen if "SKIP_TOOL_SYMLINKS" in tools[name].flags]
    folders = ["-L" + folder for name in linked for folder in tools[name].folders("LIBDIR")]
    return objects + flags + folders + ["-l" + lib for name in chosen for lib in tools[name].libs]


def read_by_developer_areas(line):
    """Whether scram hands a line of a release's makefiles to the developer areas made from it: not what only building
    the product needs, nor what it exports besides libraries. Where no blank stands before the operator it passes."""
    dropped = (r".+_(files|XDEPS|SKIP_FILES|libcheck|parent)\s+[:+]=",
               r".+_LOC_(?!USE|FLAGS).+\s+[:+]=", r".+_LOC_USE\s*[+]=",
               r".+_EX_(?!LIB).+\s+[:+]=",
               r"ALL_COMMONRULES\s+\+=", r".+_PACKAGE\s+:=\s+self/", r".+\$\(call\s")
    return not any(re.match(rule, line) for rule in dropped)
