// SPDX-License-Identifier: Apache-2.0
// What all headers of the runtime start with: the language they need, and the namespace of this
// version. Two plugins of one process may be built with two versions of the runtime. Their inline
// functions have other names then, so no plugin runs the other's.
#pragma once

#if __cplusplus < 201703L
#error "tfaot needs C++17: compile with -std=c++17 or newer"
#include "a compiler in C++17 mode"  // not there: the compiler stops here, without errors that follow
#endif

#ifdef _GLIBCXX_DEBUG
#error \
    "a package's library has std::vector of another layout than -D_GLIBCXX_DEBUG makes: use -D_GLIBCXX_ASSERTIONS"
#endif

// Of the toolkit these headers are from. The namespace has the same number.
#define TFAOT_RUNTIME_VERSION "0.3.0"
#define TFAOT_RUNTIME_NAMESPACE v0_3_0

// Before what a library must not share with others: without it g++ makes one symbol for the whole
// process of every static member of a header, and never unloads the library.
#define TFAOT_HIDDEN [[gnu::visibility("hidden")]]

// Before the declaration of a model's code and weights. They belong to the library that they are
// linked into. TFAOT_SHARED_MODELS says that another library may have them (docs/runtime.md).
#ifdef TFAOT_SHARED_MODELS
#define TFAOT_MODEL_SYMBOL [[gnu::visibility("default")]]
#else
#define TFAOT_MODEL_SYMBOL [[gnu::visibility("hidden")]]
#endif
