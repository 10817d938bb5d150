# SPDX-License-Identifier: Apache-2.0
"""Writes JAX functions as files that tfaot compiles, with any version of JAX from 0.5 on.

    import jax
    import tfaot_jax

    b, = jax.export.symbolic_shape("b")           # the batch: any number of rows
    x = jax.ShapeDtypeStruct((b, 16), "float32")
    tfaot_jax.export(predict, x, file="tagger.stablehlo")

or, for a file that Exported.serialize() wrote:

    python3 tfaot_jax.py tagger.jax tagger.stablehlo

The file is a portable artifact: StableHLO 1.7.0, which the TensorFlow of tfaot reads, without places
in Python code. It also holds the names of inputs and outputs, and those of symbolic sizes. Needs
JAX alone, and numpy as JAX does. See docs/stablehlo.md.
"""

import inspect
import os
import sys

import jax
import jax.export
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import chlo, stablehlo

__all__ = ["export", "write"]

_VERSION = "1.7.0"


def export(function, *arguments, file, inputs=None, outputs=None, **keywords):
    """Exports function(*arguments, **keywords) for CPUs and writes it to a file.

    The arguments are jax.ShapeDtypeStruct (or arrays), or trees of them. Arrays that the function
    uses besides, such as trained parameters, become the weights of the model. `inputs` and
    `outputs` are lists of names; by default those of arguments and of keys in dictionaries.
    """
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    exported = jax.export.export(jitted, platforms=["cpu"])(*arguments, **keywords)
    write(exported, file=file, inputs=inputs or _argument_names(function, arguments, keywords), outputs=outputs)


def write(exported, *, file, inputs=None, outputs=None):
    """Writes what jax.export.export() made, as export() does."""
    if "cpu" not in exported.platforms or len(exported.platforms) != 1:
        raise ValueError(f"exported for {', '.join(exported.platforms)}; use platforms=['cpu']")
    names = inputs or _names(jax.tree_util.tree_unflatten(exported.in_tree, exported.in_avals), "input")
    if len(names) != len(exported.in_avals):
        raise ValueError(f"{len(names)} names for {len(exported.in_avals)} inputs")
    kept = exported.module_kept_var_idx
    arguments = [(names[i], ",".join(str(size) for size in exported.in_avals[i].shape)) for i in kept]
    outputs = outputs or _names(jax.tree_util.tree_unflatten(exported.out_tree, exported.out_avals), "output")
    if len(outputs) != len(exported.out_avals):
        raise ValueError(f"{len(outputs)} names for {len(exported.out_avals)} outputs")
    artifact = _artifact(exported.mlir_module_serialized, arguments, [(name, None) for name in outputs])
    aside = f"{file}.tmp{os.getpid()}"
    with open(aside, "wb") as stream:
        stream.write(artifact)
    os.replace(aside, file)


def _artifact(module, arguments, results):
    """The same module in another version, with names and sizes as attributes of its tensors."""
    with ir.Context() as context, ir.Location.unknown():
        chlo.register_dialect(context)
        stablehlo.register_dialect(context)
        whole = stablehlo.deserialize_portable_artifact(context, module)
        # Compositions, such as top k, become calls of what they are composed of.
        stablehlo.register_stablehlo_passes()
        passmanager.PassManager.parse("builtin.module(func.func(stablehlo-legalize-composite-to-call))").run(whole.operation)
        plain = ir.Module.parse(whole.operation.get_asm(enable_debug_info=False))
        main = next(one for one in plain.body.operations if getattr(one, "name", None) is not None
                    and one.name.value == "main")
        main.attributes["arg_attrs"] = _with_names(main.attributes, "arg_attrs", arguments)
        main.attributes["res_attrs"] = _with_names(main.attributes, "res_attrs", results)
        text = plain.operation.get_asm(enable_debug_info=False)
    try:
        return stablehlo.serialize_portable_artifact_str(text, _VERSION)
    except Exception as error:
        raise ValueError(f"the function uses an operation that StableHLO {_VERSION} does not have: {error}") from None


def _with_names(attributes, key, tensors):
    old = attributes[key] if key in attributes else [{}] * len(tensors)
    made = []
    for before, (name, sizes) in zip(old, tensors, strict=True):
        entry = {one.name: one.attr for one in before}
        entry["tfaot.name"] = ir.StringAttr.get(name)
        if sizes:
            entry["tfaot.sizes"] = ir.StringAttr.get(sizes)
        made.append(ir.DictAttr.get(entry))
    return ir.ArrayAttr.get(made)


def _argument_names(function, arguments, keywords):
    try:
        parameters = [one.name for one in inspect.signature(function).parameters.values()
                      if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        parameters = []
    parameters += [f"input_{i}" for i in range(len(parameters), len(arguments))]
    return _names((arguments, keywords), "input", parameters)


def _names(tree, kind, parameters=()):
    """Keys of dictionaries and fields; else the parameter; else the place."""
    short, long = [], []
    for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]:
        parts = [str(getattr(one, "key", getattr(one, "name", getattr(one, "idx", "")))) for one in path]
        if parameters and parts[0] == "0":
            parts = [parameters[int(parts[1])]] + parts[2:]
            path = path[1:]
        elif kind == "input":
            parts, path = parts[1:], path[1:]
        has_key = [not isinstance(one, jax.tree_util.SequenceKey) for one in path]
        first = next((i for i, is_key in enumerate(has_key) if is_key), 0)
        parts = [_word(part) for part in parts]
        short.append("_".join(parts[first:]))
        long.append("_".join(parts))
    places = [f"{kind}_{i}" for i in range(len(short))]
    for names in (short, long):
        if len(set(names)) == len(names) and all(name[:1].isalpha() for name in names):
            return names
    return places


def _word(text):
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: tfaot_jax.py EXPORTED FILE")
    with open(sys.argv[1], "rb") as exported_file:
        write(jax.export.deserialize(bytearray(exported_file.read())), file=sys.argv[2])
