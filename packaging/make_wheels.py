#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheels of the toolkit, made by Debian's python3-wheel. The same input gives the same bytes.

    make_wheels.py tools TREE OUT            tfaot: what the tarball of release.sh holds, unpacked in TREE
    make_wheels.py compiler MADE OUT         tfaot-compiler: what compiler_archive.sh made in MADE

pip puts a wheel's data into the environment itself: bin/, lib/, libexec/ and share/ are as in the tarball, so the
programs find each other and find_package(tfaot) works. Only the Python module is in the wheel's root, site-packages.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from wheel.wheelfile import WheelFile

source = pathlib.Path(__file__).resolve().parent.parent
tools_version = (source / "packaging/VERSION").read_text().strip()
tensorflow = dict(re.findall(r"^(\w+)=(.*)$", (source / "packaging/tensorflow_wheel.txt").read_text(), re.MULTILINE))
python_module = "lib/tfaot/python/"
not_packed = "share/doc/tfaot/docs/"  # 1.2 MB of the wheel's 14, most of it pictures
newest_stdcxx = (3, 4, 30)  # GCC 12's: each distribution with glibc 2.36 has it

tools_text = f"""\
Compiles trained TensorFlow, ONNX and JAX models ahead of time into object files for C++ programs.

    pip install tfaot tfaot-compiler
    tfaot compile net.onnx -o model
    tfaot run model --inputs random

`tfaot` holds the tools, the CMake package `find_package(tfaot)` and the module `import tfaot`. The tools are programs
and need no Python. `tfaot-compiler=={tensorflow["version"]}` holds TensorFlow's compiler, which only `tfaot compile`
needs. To run a model without a plugin, tfaot needs the linker `ld` (Debian: binutils).
"""
compiler_text = f"""\
The two libraries of {tensorflow["project"]} {tensorflow["version"]} that the compiler of tfaot links, without their
symbol tables, and nothing else of TensorFlow. tfaot unpacks them the first time that it compiles a model; pip
removes them.
"""


def metadata(name, version, summary, text, more):
    head = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        f"Summary: {summary}",
        "License: Apache-2.0",
        "Classifier: License :: OSI Approved :: Apache Software License",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: C++",
        "Requires-Python: >=3.9",
        *more,
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + text


def platform_of(root):
    """The platform of the programs below root: the newest glibc of which one needs a symbol."""
    glibc = (2, 17)
    for file in sorted(root.rglob("*")):
        if not file.is_file() or file.read_bytes()[:4] != b"\x7fELF" or file.suffix in (".a", ".o"):
            continue
        symbols = subprocess.run(["objdump", "-T", file], check=True, capture_output=True, text=True).stdout
        for library, number in re.findall(r"\b(GLIBC|GLIBCXX)_([0-9.]+)", symbols):
            needed = tuple(map(int, number.split(".")))
            if library == "GLIBC":
                glibc = max(glibc, needed)
            elif needed > newest_stdcxx:
                sys.exit(f"error: {file.name} needs the C++ library of a compiler newer than GCC 12")
    return f"manylinux_{glibc[0]}_{glibc[1]}_x86_64"


def pack(root, file_name, platform, texts, out):
    """The wheel of the folder root, with these texts beside its WHEEL file."""
    tag = f"py3-none-{platform}"
    info = root / f"{file_name}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: tfaot {tools_version}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    for path, text in {**texts, "WHEEL": wheel}.items():
        (info / path).parent.mkdir(parents=True, exist_ok=True)
        (info / path).write_text(text)
    for file in root.rglob("*"):
        file.chmod(0o755 if file.is_dir() or file.stat().st_mode & 0o100 else 0o644)
    os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800")  # the oldest time that a zip can hold
    out.mkdir(parents=True, exist_ok=True)
    done = out / f"{file_name}-{tag}.whl"
    with WheelFile(str(done), "w") as archive:
        archive.write_files(str(root))
    print(f"{done.name}: {done.stat().st_size / 1e6:.1f} MB")


def make_tools(tree, out, root):
    for file in sorted(tree.rglob("*")):
        path = file.relative_to(tree).as_posix()
        if not file.is_file() or path.startswith(not_packed):
            continue
        if path.startswith(python_module):
            place = root / path[len(python_module) :]
        elif path.startswith("bin/"):
            place = root / f"tfaot-{tools_version}.data/scripts" / path[len("bin/") :]
        else:
            place = root / f"tfaot-{tools_version}.data/data" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)  # what a link leads to: wheels have no links
    more = [
        "Requires-Dist: numpy>=1.21",
        "Provides-Extra: compiler",
        f"Requires-Dist: tfaot-compiler=={tensorflow['version']}; extra == 'compiler'",
    ]
    summary = "Trained models as ahead-of-time compiled, versioned, distributable C++ packages"
    docs = tree / "share/doc/tfaot"
    licences = [docs / "LICENSE", docs / "NOTICE", docs / "NOTICE.runtime", *sorted((docs / "libraries").iterdir())]
    texts = {f"licenses/{file.name}": file.read_text() for file in licences}
    texts["METADATA"] = metadata("tfaot", tools_version, summary, tools_text, more)
    pack(root, f"tfaot-{tools_version}", platform_of(root), texts, out)


def make_compiler(made, out, root):
    version = tensorflow["version"]
    folder = made / tensorflow["folder"]
    libexec = root / f"tfaot_compiler-{version}.data/data/libexec/tfaot"
    # An empty file for each that tfaot will unpack, so that pip removes those with the wheel.
    for file in folder.rglob("*"):
        place = libexec / file.relative_to(made)
        if file.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    # The one compression of wheels, deflate, would make 150 MB of it.
    shutil.copy(made / (folder.name + ".tar.xz"), libexec)
    summary = f"The part of {tensorflow['project']} {version} that the compiler of tfaot links"
    texts = {
        "licenses/LICENSE": (source / "LICENSE").read_text(),
        "licenses/THIRD_PARTY_NOTICES.txt": (folder / "tensorflow/THIRD_PARTY_NOTICES.txt").read_text(),
        "METADATA": metadata("tfaot-compiler", version, summary, compiler_text, []),
    }
    pack(root, f"tfaot_compiler-{version}", platform_of(folder), texts, out)


def main():
    makers = {"tools": make_tools, "compiler": make_compiler}
    if len(sys.argv) != 4 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as root:
        makers[sys.argv[1]](pathlib.Path(sys.argv[2]), out, pathlib.Path(root))


main()
