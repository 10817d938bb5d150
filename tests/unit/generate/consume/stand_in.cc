// SPDX-License-Identifier: Apache-2.0
// Stands in for an object of a package: CODE names the entry and KERNEL the function that it calls,
// or WEIGHTS names the blob. Otherwise it is a KERNEL itself, in the runtime library.
#include <cstdint>

#if defined(CODE)
extern "C" int KERNEL();
extern "C" void CODE(void*, const void*, const void**, void**, void*, std::int64_t* sum) {
  *sum += KERNEL();
}
#elif defined(WEIGHTS)
extern "C" const unsigned char WEIGHTS[72];
const unsigned char WEIGHTS[72] = {42};
#else
extern "C" int KERNEL() { return VALUE; }
#endif
