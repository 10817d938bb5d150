# SPDX-License-Identifier: Apache-2.0
"""A package's sbom.cdx.json follows CycloneDX's own schema, from a pinned wheel of PyPI.

sbom_test.py SBOM WHEEL.txt: says "skipped" if PyPI cannot be reached.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import jsonschema

FOLDER = "cyclonedx/schema/_res/"


def schemas(requirements):
    with tempfile.TemporaryDirectory() as folder:
        download = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--quiet",
             "--no-deps", "--require-hashes", "--only-binary=:all:", "--dest", folder,
             "--requirement", requirements], capture_output=True, text=True)
        if download.returncode != 0:
            print("skipped: PyPI cannot be reached\n" + download.stderr)
            sys.exit(0)
        wheel = next(pathlib.Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as files:
            return {name: json.loads(files.read(f"{FOLDER}{name}.SNAPSHOT.schema.json"))
                    for name in ("bom-1.5", "spdx", "jsf-0.82")}


def validator(requirements):
    found = schemas(requirements)
    schema = found["bom-1.5"]
    # Files of the schema name each other by these.
    base = schema["$id"].rsplit("/", 1)[0]
    store = {f"{base}/{name}.{end}": found[name] for name in found
             for end in ("schema.json", "SNAPSHOT.schema.json")}
    resolver = jsonschema.RefResolver.from_schema(schema, store=store)
    return jsonschema.Draft7Validator(schema, resolver=resolver)


def main():
    check = validator(sys.argv[2])
    sbom = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    faults = [f"{list(fault.absolute_path)}: {fault.message}" for fault in check.iter_errors(sbom)]
    # The test could not fail otherwise.
    broken = json.loads(json.dumps(sbom))
    broken["components"][1]["licenses"][0]["license"]["id"] = "No licence of SPDX"
    if not list(check.iter_errors(broken)):
        faults.append("the schema accepts an unknown licence")
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
