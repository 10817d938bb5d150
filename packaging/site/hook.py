# SPDX-License-Identifier: Apache-2.0
"""The pages link to files of the repository, such as examples/plugin, which are no part of the site: there the text stays
and the link goes. A file that does not exist keeps its link, which MkDocs then reports."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ["TFAOT_SOURCE"])
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, files, **_):
    def replaced(match):
        target = os.path.normpath(os.path.join(os.path.dirname(page.file.src_uri), match[2]))
        if target.startswith("..") or files.get_file_from_path(target) or not (SOURCE / target).exists():
            return match[0]
        return match[1]

    return LINK.sub(replaced, markdown)
