// SPDX-License-Identifier: Apache-2.0
// What tfaot.py calls: plain C, so that Python needs nothing but ctypes. Texts are UTF-8. Nothing
// throws. Safe from many threads, also tfaot_run() of one model: each call has memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#define TFAOT_C_FUNCTION extern "C" [[gnu::visibility("default")]]

// A loaded model.
struct tfaot_model;

// Raised with every change of this header; tfaot.py takes only its own.
TFAOT_C_FUNCTION int tfaot_interface();

// Loads a package. `request` is JSON: package, working_directory, machine, cpu_level, batch_rules
// and variables, as LoadRequest, PredictorOptions and Environment have them. Null: `error` has the
// text, which tfaot_free() frees.
TFAOT_C_FUNCTION tfaot_model* tfaot_open(const char* request, char** error);

// JSON that lives as long as the model: name, version, cpu_level, batch_sizes, rows, inputs and
// outputs, each with name, dtype and row_shape.
TFAOT_C_FUNCTION const char* tfaot_describe(const tfaot_model* model);

// inputs[i] and outputs[i] point to `rows` rows each, row-major, in the order of the signature.
// Null, or the text of the error, which tfaot_free() frees.
TFAOT_C_FUNCTION char* tfaot_run(tfaot_model* model, std::uint64_t rows, const void* const* inputs,
                                 void* const* outputs);

// REQUIRES: no call runs the model.
TFAOT_C_FUNCTION void tfaot_close(tfaot_model* model);

TFAOT_C_FUNCTION void tfaot_free(char* text);
