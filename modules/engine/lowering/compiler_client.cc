// SPDX-License-Identifier: Apache-2.0
#include "lowering/compiler_client.h"

#include "xla/client/client_library.h"
#include "xla/service/platform_util.h"

namespace tfaot::toolkit::engine {

Result<xla::CompileOnlyClient*> compiler_client() {
  const auto platform = xla::PlatformUtil::GetPlatform("Host");
  if (!platform.ok()) return fail(Error::internal(std::string(platform.status().message())));
  const auto client = xla::ClientLibrary::GetOrCreateCompileOnlyClient(*platform);
  if (!client.ok()) return fail(Error::internal(std::string(client.status().message())));
  return *client;
}

}  // namespace tfaot::toolkit::engine
