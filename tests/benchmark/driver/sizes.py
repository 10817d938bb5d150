# SPDX-License-Identifier: Apache-2.0
"""What a plugin must ship for an engine, in bytes: what the engine adds to a stripped program that does nothing, its shared
libraries, and the model's files."""
import pathlib
import subprocess
import tempfile


def bytes_of(path):
    path = pathlib.Path(path)
    if path.is_dir():
        return sum(bytes_of(entry) for entry in path.iterdir())
    return path.stat().st_size


def stripped_bytes(program):
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder) / "stripped"
        subprocess.run(["strip", "-o", stripped, program], check=True)
        return stripped.stat().st_size


def shipped_bytes(engine, empty_program):
    return stripped_bytes(engine.command[0]) - stripped_bytes(empty_program) + sum(map(bytes_of, engine.files))
