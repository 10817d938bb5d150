# SPDX-License-Identifier: Apache-2.0
"""What scram does with tool files and how it links, said anew in few words. Found by running real scram
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


def read_tool(text, environment):
    try:
        root = ElementTree.fromstring("<root>" + text + "</root>")
    except ElementTree.ParseError as error:
        raise Crash(str(error)) from error
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
    for name in element.attrib:
        if kind in KNOWN_ATTRIBUTES and name not in KNOWN_ATTRIBUTES[kind]:
            tool.complaints.append("Invalid attribute " + name)
    if kind == "tool":
        tool.name = attribute(element, "name").lower()
        tool.version = attribute(element, "version")
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
    elif kind not in ("client", "info"):
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
        if name not in tools:
            complaints.append("Invalid tool " + name)
            continue
        for other in [name] + used_tools(tools[name].uses, tools, complaints):
            if other not in found:
                found.append(other)
    return found


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
