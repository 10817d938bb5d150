// SPDX-License-Identifier: Apache-2.0
// Puts the TensorFlow that compiling needs where the engine finds it: out of the wheel
// tfaot-compiler, or into the user's cache, which is what `tfaot setup` does. A kill leaves all of
// it or nothing.
#pragma once

#include <functional>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What was found or done.
struct TensorflowSetup {
  bool was_ready = false;  ///< the engine already found its TensorFlow; nothing was done
  std::string wheel;       ///< "tensorflow-cpu 2.18.1"
  Path folder;             ///< where the wheel is unpacked
};

/// Unpacks TensorFlow next to `program`, the engine or a runner, if tfaot-compiler is installed
/// there and this was not done yet. Wheels cannot do it themselves, and pip's own compression is
/// twice as large. Error: the folder cannot be written, or the archive is damaged.
Status unpack_tensorflow(const Context& context, const Path& program);

/// `on_line` is called with each line that the fetching script prints, in the calling thread.
/// Error: it fails, or the engine still does not find TensorFlow.
Result<TensorflowSetup> set_up_tensorflow(const Context& context,
                                          const std::function<void(const std::string&)>& on_line);

}  // namespace tfaot::toolkit
