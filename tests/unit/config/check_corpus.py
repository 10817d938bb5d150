# SPDX-License-Identifier: Apache-2.0
"""Compares what the JSON Schema says of each config of the corpus with the folder it lies in.

good: the schema takes it. bad: it does not, or the file is not YAML. parser_only: the schema takes it although the
parser (corpus_test.cc) does not, because JSON Schema cannot express the rule.
"""
import json
import pathlib
import sys

import jsonschema
import yaml


def is_taken(validator, path):
    load = json.loads if path.suffix == ".json" else yaml.safe_load
    try:
        return validator.is_valid(load(path.read_text()))
    except (yaml.YAMLError, RecursionError):
        return False


def main(schema_path, corpus_path):
    schema = json.loads(pathlib.Path(schema_path).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    wrong = []
    for folder, expected in (("good", True), ("bad", False), ("parser_only", True)):
        paths = sorted(pathlib.Path(corpus_path, folder).iterdir())
        if not paths:
            wrong.append(f"{folder}: no configs")
        for path in paths:
            if is_taken(validator, path) != expected:
                wrong.append(f"{folder}/{path.name}: the schema {'refuses' if expected else 'takes'} it")
    print("\n".join(wrong) or "the schema agrees with the corpus")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
