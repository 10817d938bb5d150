# SPDX-License-Identifier: Apache-2.0
"""Differences between the pages as a repository shows them and as the site does.

The pages link to files of the repository that are not part of the site, such as examples/plugin: the site has the text without
the link. A link to a file that does not exist stays, and MkDocs reports it. In code in a table, "\\|" is a "|" for the repository;
Python-Markdown would show the backslash."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ["TFAOT_SOURCE"])
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")
CODE = re.compile(r"`[^`\n]+`")


def on_page_markdown(markdown, page, files, **_):
    def replaced(match):
        target = os.path.normpath(os.path.join(os.path.dirname(page.file.src_uri), match[2]))
        if target.startswith("..") or files.get_file_from_path(target) or not (SOURCE / target).exists():
            return match[0]
        return match[1]

    lines = LINK.sub(replaced, markdown).split("\n")
    return "\n".join(CODE.sub(lambda code: code[0].replace("\\|", "|"), line) if line.startswith("|") else line for line in lines)
