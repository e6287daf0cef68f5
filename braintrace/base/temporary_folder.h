// SPDX-License-Identifier: Apache-2.0
// A folder of this process's own among the system's temporary files, removed with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace braintrace {

struct TemporaryFolder {
  std::filesystem::path path;  // empty where none could be made

  TemporaryFolder() {
    std::error_code error;
    // mkdtemp puts letters of its own in place of the last six.
    std::string name = (std::filesystem::temp_directory_path(error) / "braintrace-XXXXXX").string();
    if (mkdtemp(name.data())) path = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path.empty()) std::filesystem::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder&)            = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace braintrace
