// SPDX-License-Identifier: Apache-2.0
// Arguments and variables as exec wants them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tfaot::toolkit {

// "NAME=value" for each variable: the parent's, with those of `added` on top.
std::vector<std::string> environment_lines(const std::map<std::string, std::string>& added);

// The array of pointers, null at its end; `strings` must outlive it.
std::vector<char*> exec_pointers(std::vector<std::string>& strings);

}  // namespace tfaot::toolkit
