# SPDX-License-Identifier: Apache-2.0
"""Verbs of the tool `tfaot`, as functions. Keywords are its options, with '_' for '-':
batch_sizes=[1, 16] is --batch-sizes 1,16, and dimensions={"n": 50, "m": (1, 128)} is
--dimension n=50 --dimension m=1..128."""

from __future__ import annotations

import contextlib
import hashlib
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Match, Optional, Sequence, Union

from tfaot import _build
from tfaot._library import FOLDER, Error

File = Union[str, "os.PathLike[str]"]
Option = Union[None, bool, int, float, str, "os.PathLike[str]", Sequence[Any], Mapping[str, Any]]

_PREFIX: str = os.path.normpath(FOLDER / _build.PREFIX)
_CACHE_LIMIT = 2_000_000_000  # bytes of packages that compile() keeps
_DAY = 86400
_REPEATED = {"batch_rule", "dimension", "library", "peer", "plot"}  # a list gives them several times
_OPTIONS = {"dimensions": "dimension"}  # other names of options
# They change how a package is made, not what is in it.
_RUN_OPTIONS = {"cache", "cache_limit", "jobs", "launcher", "memory", "no_cache", "timeout"}


def program() -> str:
    """The tool that belongs to this module."""
    file: str = os.path.join(_PREFIX, _build.TOOL)
    if not os.path.exists(file):
        raise Error(f"the tool that belongs to this module is missing: {file}\n  reinstall tfaot")
    return file


def compile(model: File, output: Optional[File] = None, **options: Option) -> pathlib.Path:  # noqa: A001
    """Compiles a model and returns its package, which tfaot.Model() takes.

    `model` is an ONNX file, a SavedModel's folder, a file with StableHLO, or a config; options are
    those of `tfaot compile`. The package tree is in `output`. Without that it is kept in the cache,
    by the contents of the model's files, the options and the tool, so that the next call finds it.
    Raises Error with the text of the tool. Ctrl-C leaves nothing half-written.
    """
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"compile() takes the path of a model, got {type(model).__name__}")
    if output is not None:
        _run(["compile", model, "--output-directory", output, "--quiet", *_words(options)])
        return pathlib.Path(output)
    return _Cache(model, options).package()


class Report:
    """What a verb found: a page in a notebook, text in a terminal.

    good   False: the model does not compile, or its predictions are wrong
    text   what the verb prints
    html   the whole page
    data   the numbers of the page, as --json prints them
    """

    def __init__(self, good: bool, text: str, html_page: str) -> None:  # noqa: D107
        self.good = good
        self.text = text
        self.html = html_page

    @property
    def data(self) -> Any:
        element = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', self.html, re.DOTALL)
        return json.loads(element.group(1)) if element else None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        # A page of its own: its styles and those of the notebook do not meet.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%; height:40em; border:0"></iframe>'
        )


def check(model: File, **options: Option) -> Report:
    """Says whether a model compiles, and if not, why: `tfaot check`."""
    return _page("check", model, options)


def validate(package: File, **options: Option) -> Report:
    """Compares a package's predictions with those of model=: `tfaot validate`."""
    return _page("validate", package, options)


def profile(package: File, **options: Option) -> Report:
    """Measures times and memory, also of other engines: `tfaot profile`."""
    return _page("profile", package, options)


def report(model: File, **options: Option) -> Report:
    """Is it supported and right, how large and how fast? One page: `tfaot report`."""
    return _page("report", model, options)


def _page(verb: str, subject: File, options: Mapping[str, Option]) -> Report:
    with tempfile.TemporaryDirectory(prefix="tfaot-") as folder:
        file = os.path.join(folder, "page.html")
        name = os.fsdecode(subject)
        if name.startswith("-"):  # else it is an option
            name = os.path.join(os.curdir, name)
        done = _run([verb, name, "--html", file, "--quiet", *_words(options)], failures=(1,))
        if not os.path.exists(file):
            raise Error(_text_of(done.stderr))
        with open(file, encoding="utf-8") as page:
            return Report(done.returncode == 0, done.stdout + done.stderr, page.read())


def _words(options: Mapping[str, Option]) -> Iterator[str]:
    for name, value in options.items():
        option = "--" + _OPTIONS.get(name, name).replace("_", "-")
        if value is True:
            yield option
        elif isinstance(value, Mapping):
            yield from (f"{option}={key}={_range(one)}" for key, one in value.items())
        elif isinstance(value, (list, tuple)) and _OPTIONS.get(name, name) in _REPEATED:
            yield from (f"{option}={os.fspath(one)}" for one in value)
        elif isinstance(value, (list, tuple)):
            yield f"{option}={','.join(map(str, value))}"
        elif value is not None and value is not False:
            yield f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}"


def _range(value: Any) -> str:
    """(1, 128) as the tool takes it: 1..128."""
    return f"{value[0]}..{value[1]}" if isinstance(value, (list, tuple)) and len(value) == 2 else str(value)


def _run(arguments: Sequence[File], failures: Sequence[int] = ()) -> subprocess.CompletedProcess[str]:
    """Runs the tool. Raises Error with its text if it fails with another exit code than these."""
    command = [program(), *(os.fspath(one) for one in arguments)]
    with subprocess.Popen(
        command,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            stdout, stderr = process.communicate()
        except BaseException:  # such as the KeyboardInterrupt of a notebook, which the tool does not see
            process.terminate()  # it stops its engines and removes what it wrote
            process.communicate()
            raise
    if process.returncode < 0:
        raise Error(f"tfaot {arguments[0]} was ended by signal {-process.returncode}\n{stderr}".strip())
    if process.returncode != 0 and process.returncode not in failures:
        raise Error(_text_of(stderr))
    if process.returncode == 0:
        sys.stderr.write(stderr)  # warnings
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def _environment() -> Dict[str, str]:
    """The tool looks for onnxruntime in the packages of python3: let that be this Python, also if it
    is that of an environment which is not active."""
    path = os.environ.get("PATH", os.defpath)
    folder = os.path.dirname(sys.executable or "")
    ours = os.path.join(folder, "python3")
    if os.path.exists(ours) and shutil.which("python3") != ours:
        path = folder + os.pathsep + path
    return {**os.environ, "PATH": path}


def _text_of(stderr: str) -> str:
    """Without the words that the type of the exception says already."""
    start = "tfaot: error: "
    text = stderr.strip()
    return text[len(start) :] if text.startswith(start) else text


def _cache_folder() -> pathlib.Path:
    """The same rule as in workflow/tool_layout.cc."""
    ours = os.environ.get("TFAOT_CACHE_DIR")
    if ours:
        return pathlib.Path(ours)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "tfaot"


class _Cache:
    """The packages that compile() keeps: folders KEY-FILES in CACHE/compiled. KEY is a hash of the
    options, the tool and what the user named. FILES is one of all files that were read; they are
    listed in the folder's files.json, beside the package tree."""

    def __init__(self, model: File, options: Mapping[str, Option]) -> None:
        self.model = os.path.abspath(model)
        self.words = list(_words(options))
        self.kept = list(_words({name: one for name, one in options.items() if name not in _RUN_OPTIONS}))
        self.folder = _cache_folder() / "compiled"
        self.states: Dict[str, str] = {}  # by file

    def package(self) -> pathlib.Path:
        key = self.key()
        for entry in sorted(self.folder.glob(key + "-*")):
            if self.is_right(entry):
                try:
                    os.utime(entry)  # remove_old() removes what was used long ago
                except OSError:  # a cache of somebody else
                    pass
                return self.tree(entry)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            staging = pathlib.Path(tempfile.mkdtemp(prefix=".staging-", dir=self.folder))
        except OSError as error:
            raise Error(f"{error}\n  the cache cannot be written; TFAOT_CACHE_DIR names another one") from None
        try:
            return self.compiled(key, staging)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def key(self) -> str:
        named = [self.model]
        if os.path.isdir(self.model):
            named = [os.path.join(folder, file) for folder, _, files in os.walk(self.model) for file in files]
        states = json.dumps(self.states_of(sorted(named)))
        name = os.path.basename(self.model)
        return _hash([_build.VERSION, _state(program(), is_hashed=False), *sorted(self.kept), name, states])

    def tree(self, entry: pathlib.Path) -> pathlib.Path:
        return entry / pathlib.Path(self.model).stem

    def is_right(self, entry: pathlib.Path) -> bool:
        try:
            with open(entry / "files.json", encoding="utf-8") as file:
                states: Dict[str, str] = json.load(file)
        except (OSError, ValueError):
            return False
        files = [os.path.join(os.path.dirname(self.model), name) for name in states]
        return (self.tree(entry) / "manifest.json").exists() and states == self.states_of(files)

    def states_of(self, files: Iterable[str]) -> Dict[str, str]:
        """By the paths of the files, those in the model's folder from there."""
        folder = os.path.dirname(self.model) + os.sep
        found = {}
        for file in files:
            is_models = file.startswith(folder)
            if file not in self.states:  # the tool's own files are large, and not changed in place
                self.states[file] = _state(file, is_models or not file.startswith(_PREFIX + os.sep))
            found[os.path.relpath(file, folder) if is_models else file] = self.states[file]
        return found

    def compiled(self, key: str, staging: pathlib.Path) -> pathlib.Path:
        depfile = staging / ".read"
        output = self.tree(staging)
        _run(["compile", self.model, "--output-directory", output, "--depfile", depfile, "--quiet", *self.words])
        self.states.clear()
        if self.key() != key:
            raise Error(f"{self.model}: changed while it was compiled; compile it again")
        text = json.dumps(self.states_of(_files_of(depfile)))
        (staging / "files.json").write_text(text, encoding="utf-8")
        entry = self.folder / f"{key}-{_hash([text])}"
        try:
            os.rename(staging, entry)
        except OSError:  # another process was faster; its package is as good
            if not self.is_right(entry):
                shutil.rmtree(entry)
                os.rename(staging, entry)
        self.remove_old(entry)
        return self.tree(entry)

    def remove_old(self, new: pathlib.Path) -> None:
        size = 0
        now = time.time()
        for used, entry in sorted(((_used(entry), entry) for entry in self.folder.iterdir()), reverse=True):
            with contextlib.suppress(OSError):  # another process removes it
                size += sum(file.stat().st_size for file in entry.rglob("*") if file.is_file())
                is_left_over = entry.name.startswith(".")  # by a killed run
                if entry != new and now - used > _DAY and (is_left_over or size > _CACHE_LIMIT):
                    # Under another name first: who looks for it finds all of it or nothing.
                    aside = self.folder / f".old-{entry.name}"
                    os.rename(entry, aside)
                    shutil.rmtree(aside, ignore_errors=True)


def _used(entry: pathlib.Path) -> float:
    """When package() returned it last."""
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0


def _files_of(depfile: pathlib.Path) -> List[str]:
    """As workflow/src/build_lists.cc writes them."""
    lines = depfile.read_text(encoding="utf-8").split(" \\\n  ")[1:]

    def plain(found: Match[str]) -> str:
        return "\\" * (len(found.group(1)) // 2) + found.group(2)

    return [re.sub(r"(\\+)([ #])", plain, line.rstrip("\n").replace("$$", "$")) for line in lines]


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _state(file: str, is_hashed: bool = True) -> str:
    """A hash of a file, or its size and time."""
    try:
        if not is_hashed:
            found = os.stat(file)
            return f"{found.st_size} {found.st_mtime_ns}"
        digest = hashlib.sha256()
        with open(file, "rb") as stream:
            for block in iter(lambda: stream.read(1 << 20), b""):
                digest.update(block)
        return digest.hexdigest()
    except OSError:
        return "missing"
