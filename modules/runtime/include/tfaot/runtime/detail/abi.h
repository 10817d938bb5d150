// SPDX-License-Identifier: Apache-2.0
// The start of all headers of the runtime: checks the language, and names the namespace of this
// version. Two plugins in one process may be built with two versions of the runtime. Their inline
// functions then have different names, so neither plugin runs the other's.
#pragma once

#if __cplusplus < 201703L
#error "tfaot needs C++17: compile with -std=c++17 or newer"
#include "a compiler in C++17 mode"  // not there: the compiler stops here, without errors that follow
#endif

#ifdef _GLIBCXX_DEBUG
#error \
    "a package's library has std::vector of another layout than -D_GLIBCXX_DEBUG makes: use -D_GLIBCXX_ASSERTIONS"
#endif

// The version of the toolkit that these headers come from. The namespace has the same number.
#define TFAOT_RUNTIME_VERSION "0.3.0"
#define TFAOT_RUNTIME_NAMESPACE v0_3_0

// For symbols that a library must not share with others: without it, g++ makes each static member
// in a header one symbol for the whole process, and never unloads the library.
#define TFAOT_HIDDEN [[gnu::visibility("hidden")]]

// For the declaration of a model's code and weights. They belong to the library that they are
// linked into. TFAOT_SHARED_MODELS says that another library may contain them (docs/runtime.md).
#ifdef TFAOT_SHARED_MODELS
#define TFAOT_MODEL_SYMBOL [[gnu::visibility("default")]]
#else
#define TFAOT_MODEL_SYMBOL [[gnu::visibility("hidden")]]
#endif
