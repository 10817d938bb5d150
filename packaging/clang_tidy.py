#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang_tidy.py BUILD_DIR FILES: clang-tidy over the sources of BUILD_DIR/compile_commands.json whose path matches the
regular expression FILES, as many at once as there are processors. A source that was clean is read again only when
something has changed that clang-tidy reads: the file itself, its headers, the command, the checks, clang-tidy."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TIDY = "clang-tidy-14"
CLANG = "clang++-14"
# clang does not know all of g++'s warnings, and stops at these options of g++.
EXTRA = ["-Wno-unknown-warning-option", "-Wno-unused-command-line-argument"]
ONLY_GCC = re.compile(r" -fno-gnu-unique\b")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tfaot" / "clang-tidy"


def preprocessed(entry):
    """What the compiler reads, including comments, because they may say NOLINT. Nothing if that fails."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if re.search(r"\+\+[^/]*$", word)) + 1:]  # after the launcher
    kept = []
    skip = False
    for word in words:
        if not skip and word not in ("-o", "-MF", "-MT", "-MD", "-c"):
            kept.append(word)
        skip = word in ("-o", "-MF", "-MT")
    result = subprocess.run([CLANG, *EXTRA, "-E", "-C", *kept], cwd=entry["directory"], capture_output=True, check=False)
    return result.stdout if result.returncode == 0 else None


def check(entry, text, commands, about):
    """clang-tidy's complaints, or nothing."""
    verdict = None
    if text is not None:
        verdict = CACHE / hashlib.sha256(about + entry["command"].encode() + b"\0" + text).hexdigest()
        if verdict.exists():
            verdict.touch()
            return ""
    result = subprocess.run([TIDY, "-quiet", "-p", commands, *("-extra-arg=" + extra for extra in EXTRA), entry["file"]],
                            capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return result.stdout + result.stderr
    if verdict is not None:
        verdict.touch()
    return ""


def main():
    build, files = sys.argv[1:]
    about = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    about += pathlib.Path(".clang-tidy").read_bytes()
    CACHE.mkdir(parents=True, exist_ok=True)
    entries = [entry | {"command": ONLY_GCC.sub("", entry["command"])}
               for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text())
               if re.search(files, entry["file"])]
    if not entries:
        sys.exit(f"clang_tidy.py: no source of {build} matches {files}")
    with tempfile.TemporaryDirectory() as commands, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pathlib.Path(commands, "compile_commands.json").write_text(json.dumps(entries))
        # The longest first: the engine, which is one source here, takes a good part of the time.
        longest_first = sorted(zip(entries, pool.map(preprocessed, entries)), key=lambda read: -len(read[1] or b""))
        complaints = "".join(pool.map(lambda read: check(*read, commands, about), longest_first))
    print(complaints, end="")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
