# SPDX-License-Identifier: Apache-2.0
"""Each fact about tool files, one test: what scram's rules (scram_rules.py) make of a file, and that
`tfaot check-tool` says so."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from scram_rules import Crash, Refusal, built_anew, compile_flags, exported, external_links, link_line, read_tool

TOOL = os.environ["TFAOT_TOOL"]


def tool_file(elements="", attributes='name="t" version="1"', client=""):
    return '<tool %s><client><environment name="T_BASE" default="/t"/>%s</client>%s</tool>' % (
        attributes, client, elements)


class Facts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check_tool(self, text, name="t"):
        file = Path(self.folder.name) / (name + ".xml")
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        run = subprocess.run([TOOL, "check-tool", str(file)], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout

    def expect(self, text, finding, exit_code=1):
        code, output = self.check_tool(text)
        self.assertIn(finding, output)
        self.assertEqual(code, exit_code, output)

    def test_a_version_is_needed(self):
        text = tool_file(attributes='name="t"')
        self.assertRaises(Crash, read_tool, text, {})
        self.expect(text, "<tool> without 'version'")
        text = tool_file(attributes='name="t" version=""')
        self.assertRaises(Crash, read_tool, text, {})
        self.expect(text, "<tool> with an empty version")

    def test_revision_is_dropped_with_a_complaint(self):
        text = tool_file(attributes='name="t" version="1" revision="2"')
        self.assertEqual(read_tool(text, {}).complaints, ["Invalid attribute revision"])
        self.expect(text, "older than November 2024, as CMSSW_13_0's, prints", exit_code=0)
        self.expect(tool_file(attributes='name="t" version="1" release="2"'), "<tool> has no attribute 'release'")

    def test_an_xml_declaration_crashes(self):
        text = '<?xml version="1.0"?>\n' + tool_file()
        self.assertRaises(Crash, read_tool, text, {})
        self.expect(text, "<?xml ...> does not belong in a scram file")

    def test_comments_are_fine(self):
        text = "<!-- made by hand -->\n" + tool_file()
        self.assertEqual(read_tool(text, {}).complaints, [])
        self.assertEqual(self.check_tool(text)[0], 0)

    def test_what_the_parser_refuses_crashes(self):
        for element, finding in (("<!-- a -- b -->", "'--' inside of a comment"),
                                 ("<!-- a --->", "'--' inside of a comment"),
                                 ('<flags A="a & b"/>', "a '&' that does not start an entity"),
                                 ('<flags A="&nbsp;"/>', "a '&' that does not start an entity"),
                                 ('<flags A="&#0;"/>', "a '&' that does not start an entity"),
                                 ('<flags A="<"/>', "a '<' in a value"),
                                 ('<flags A="a"B="b"/>', "no space before the attribute 'B'"),
                                 ('<flags A="a" A="b"/>', "<flags> has the attribute 'A' twice"),
                                 ("<x:flags/>", "'x:flags' has a prefix that nothing declares"),
                                 ("]]>", "']]>' outside of a <![CDATA["),
                                 ("\x01", "the byte 0x01 is not text"),
                                 ("<!DOCTYPE t>", "<!DOCTYPE ...> does not belong in a scram file"),
                                 ("<client>", "not valid XML")):
            self.assertRaises(Crash, read_tool, tool_file(element), {})
            self.expect(tool_file(element), finding)
        text = tool_file('<flags A="?"/>').encode().replace(b"?", b"\xff")
        self.assertRaises(Crash, read_tool, text, {})
        self.expect(text, "the byte 0xff is not text")

    def test_what_xml_allows_is_fine(self):
        text = tool_file('<?xml-stylesheet x?><![CDATA[ & -- < ]]> text '
                         '<flags A="&quot;x&quot; &amp;&#65;&#x41;&lt;"/>\n')
        self.assertEqual(read_tool(text, {}).flags, {"A": ['"x"', "&AA<"]})
        self.assertEqual(self.check_tool(text)[0], 0)

    def test_comments_in_attributes_are_fine(self):
        for attributes in ('A="b" comment="c"', 'comment="c" A="b"'):
            text = tool_file("<flags %s/>" % attributes)
            self.assertEqual(read_tool(text, {}).flags, {"A": ["b"]})
            self.assertEqual(self.check_tool(text)[0], 0)
        self.assertRaises(Crash, read_tool, tool_file('<flags comment="c"/>'), {})
        self.expect(tool_file('<flags comment="c"/>'), "<flags> without an attribute")

    def test_conditions_are_regular_expressions(self):
        text = tool_file('<architecture name="*_amd64"><flags A="b"/></architecture>')
        self.assertRaises(Crash, read_tool, text, {"SCRAM_ARCH": "el8_amd64_gcc12"})
        self.expect(text, "'*_amd64' is not a regular expression")
        for fine in ('value="*"', 'name="^el8_.*_gcc1[0-9]$"', 'match="!slc"'):
            text = tool_file("<architecture %s><flags A='b'/></architecture>" % fine)
            read_tool(text, {"SCRAM_ARCH": "el8_amd64_gcc12"})
            self.assertEqual(self.check_tool(text)[0], 0)

    def test_what_stands_in_else_is_lost(self):
        text = tool_file('<architecture name="slc"><flags A="b"/>%s</architecture>')
        self.assertEqual(read_tool(text % '<else/><flags A="c"/>', {}).flags, {"A": ["c"]})
        self.assertEqual(self.check_tool(text % '<else/><flags A="c"/>')[0], 0)
        self.assertEqual(read_tool(text % '<else><flags A="c"/></else>', {}).flags, {})
        self.expect(text % '<else><flags A="c"/></else>', "<else> with contents")
        second = text % '<else/><flags A="c"/><else/><flags A="d"/>'
        self.assertEqual(read_tool(second, {}).flags, {"A": ["c"]})
        self.expect(second, "<else/> after an <else/>")
        text = tool_file('<architecture name="."><client><else/></client></architecture>')
        self.assertRaises(Crash, read_tool, text, {"SCRAM_ARCH": "el8"})
        self.expect(text, "<else/> outside a condition")

    def test_conditions_that_are_not_in_the_list_are_a_complaint(self):
        text = tool_file('<ifscram name="V3"><flags A="b"/></ifscram>')
        tool = read_tool(text, {"SCRAM_VERSION": "V3_00_77"})
        self.assertEqual((tool.flags, tool.complaints), ({"A": ["b"]}, ["Invalid tag ifscram"]))
        self.expect(text, "<ifscram> is not in scram's list of tags")

    def test_a_variable_needs_a_value(self):
        text = tool_file(client='<environment name="A" default=""/>')
        self.assertRaises(Crash, read_tool, text, {})
        self.expect(text, "the variable A has no value")

    def test_a_tool_that_uses_itself_stops_make(self):
        text = tool_file('<use name="T"/>')
        self.assertRaises(Crash, link_line, [], ["t"], {"t": read_tool(text, {})})
        self.expect(text, "a tool that uses itself")

    def test_nested_elements_have_a_limit(self):
        def nested(depth):
            return tool_file("<client>" * depth + "</client>" * depth)
        read_tool(nested(400), {})
        self.assertEqual(self.check_tool(nested(400))[0], 0)
        self.assertRaises(Crash, read_tool, nested(1100), {})
        for depth in (1100, 17000):
            self.expect(nested(depth), "elements nested more than 500 deep")

    def test_the_tool_self_is_scrams_own(self):
        self.expect(tool_file(attributes='name="self" version="1"'), "a tool cannot be called 'self'")

    def test_unknown_tags_are_a_complaint(self):
        text = tool_file("<library/>")
        self.assertEqual(read_tool(text, {}).complaints, ["Unknown tag library"])
        self.expect(text, "<library> is unknown")

    def test_names_become_lower_case(self):
        text = tool_file(attributes='name="T" version="1"')
        self.assertEqual(read_tool(text, {}).name, "t")
        self.expect(text, "the tool's name 'T' has capitals", exit_code=0)

    def test_variables_come_from_the_file_and_from_the_environment(self):
        tool = read_tool(tool_file('<flags A="$T_BASE/a ${OUTER}/b"/>'), {"OUTER": "/o"})
        self.assertEqual(tool.flags["A"], ["/t/a", "/o/b"])

    def test_an_undefined_variable_drops_the_whole_flag(self):
        text = tool_file('<flags LDFLAGS="-lm $NOWHERE/x.o"/>')
        tool = read_tool(text, {})
        self.assertEqual(tool.flags["LDFLAGS"], [])
        self.assertEqual(len(tool.complaints), 1)
        self.expect(text, "$NOWHERE is defined neither")

    def test_an_undefined_variable_in_a_variable_crashes(self):
        text = tool_file(client='<environment name="LIBDIR" default="$NOWHERE/lib"/>')
        self.assertRaises(Crash, read_tool, text, {})
        self.expect(text, "$NOWHERE is defined neither")

    def test_only_the_first_attribute_of_flags_counts(self):
        text = tool_file('<flags CXXFLAGS="-g" LDFLAGS="-lm"/>')
        self.assertEqual(read_tool(text, {}).flags, {"CXXFLAGS": ["-g"]})
        self.expect(text, "<flags> with a second attribute, 'LDFLAGS'")

    def test_flags_are_split_at_blanks(self):
        tool = read_tool(tool_file('<flags LDFLAGS="$T_BASE/a b/x.o"/>'), {})
        self.assertEqual(tool.flags["LDFLAGS"], ["/t/a", "b/x.o"])
        self.expect('<tool name="t" version="1"><client><environment name="T_BASE" default="/a b"/></client>'
                    '<flags LDFLAGS="$T_BASE/x.o"/></tool>', "the value of $T_BASE contains a space")

    def test_runtime_paths_must_exist(self):
        text = tool_file('<runtime name="A" value="$T_BASE/none" type="path"/>')
        self.assertRaises(Refusal, read_tool, text, {})
        self.expect(text, "no such path: /t/none")

    def test_other_paths_are_not_looked_at(self):
        text = tool_file('<flags LDFLAGS="$T_BASE/none.o"/>',
                         client='<environment name="LIBDIR" default="$T_BASE/none"/>')
        self.assertEqual(read_tool(text, {}).complaints, [])
        self.expect(text, "no such file: /t/none.o", exit_code=0)
        self.expect(text, "LIBDIR is missing: /t/none", exit_code=0)

    def test_only_the_first_products_tools_are_looked_at(self):
        """So docs/scram.md and 'compile --dev' say to write <use> at the top, where every product has it."""
        model = ["tfaot-model-t"]
        self.assertEqual(built_anew({"SubPkg": model, "program": model}, model), ["SubPkg", "program"])
        self.assertEqual(built_anew({"SubPkg": [], "program": model}, model), [])
        self.assertEqual(built_anew({"SubPkg": model, "program": []}, model), ["SubPkg", "program"])
        advice = (Path(__file__).parents[2] / "docs/scram.md").read_text()
        self.assertIn("**Write the `<use>` at the top of the BuildFile**", advice)

    def test_a_used_tool_that_is_not_set_up_is_a_warning(self):
        text = tool_file('<use name="tfaot-runtime"/>')
        complaints = []
        link_line([], ["t"], {"t": read_tool(text, {})}, complaints)
        self.assertEqual(complaints, ["Invalid tool tfaot-runtime"])
        self.expect(text, "the tool 'tfaot-runtime' is not set up", exit_code=0)

    def test_objects_come_before_libraries_and_keep_their_order(self):
        tools = {"t": read_tool(tool_file('<flags LDFLAGS="b.o a.o"/><use name="r"/>'), {}),
                 "r": read_tool('<tool name="r" version="1"><client><environment name="LIBDIR" default="/r"/>'
                                '</client><flags SKIP_TOOL_SYMLINKS="1"/><lib name="r"/></tool>', {})}
        self.assertEqual(link_line(["own.o"], ["t"], tools), ["own.o", "b.o", "a.o", "-L/r", "-lr"])

    def test_a_library_of_a_used_tools_flags_comes_before_the_objects(self):
        """Why the runtime is a <lib> and no LDFLAGS."""
        tools = {"t": read_tool(tool_file('<flags LDFLAGS="a.o"/><use name="r"/>'), {}),
                 "r": read_tool('<tool name="r" version="1"><flags LDFLAGS="libr.a"/></tool>', {})}
        self.assertEqual(link_line([], ["t"], tools), ["libr.a", "a.o"])
        self.expect(tool_file('<flags LDFLAGS="libr.a"/><flags LDFLAGS="a.o"/>'),
                    "an object after the library libr.a")

    def test_preprocessor_flags_come_before_include_folders(self):
        tools = {"t": read_tool(tool_file('<use name="r"/>', client='<environment name="INCLUDE" default="/t/i"/>'), {}),
                 "r": read_tool('<tool name="r" version="1"><client><environment name="INCLUDE" default="/r/i"/>'
                                '</client><flags CPPFLAGS="-I/r/i"/></tool>', {})}
        self.assertEqual(compile_flags(["t"], tools), ["-I/r/i", "-I/t/i", "-I/r/i"])

    def test_a_blank_in_a_folder_makes_several(self):
        text = tool_file(client='<environment name="INCLUDE" default="/tmp/with blank"/>')
        self.assertIn("-I/tmp/with blank", compile_flags(["t"], {"t": read_tool(text, {})}))  # make splits it
        self.expect(text, "a space in INCLUDE: /tmp/with blank")

    def test_library_folders_become_links_unless_told_otherwise(self):
        client = '<client><environment name="LIBDIR" default="/%s"/></client>'
        tools = {"open": read_tool('<tool name="open" version="1">' + client % "o" + '</tool>', {}),
                 "closed": read_tool('<tool name="closed" version="1">' + client % "c" +
                                     '<flags SKIP_TOOL_SYMLINKS="1"/></tool>', {})}
        self.assertEqual(external_links(tools), ["/o"])

    def test_dependents_inherit_tools_unless_told_otherwise(self):
        tools = {"open": read_tool('<tool name="open" version="1"/>', {}),
                 "closed": read_tool('<tool name="closed" version="1"><flags NO_RECURSIVE_EXPORT="1"/></tool>', {})}
        self.assertEqual(exported(["open", "closed"], tools), ["open"])


if __name__ == "__main__":
    unittest.main()
