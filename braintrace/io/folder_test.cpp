// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/folder.h"

#include <fstream>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "braintrace/base/error.h"
#include "braintrace/base/temporary_folder.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

TEST(FolderLock, KeepsOthersOutWhileItIsHeld) {
  const TemporaryFolder     folder;
  std::optional<FolderLock> lock(folder.path.string());
  const std::string         said = error_of([&] { FolderLock other(folder.path.string()); });
  EXPECT_NE(said.find("another run uses this folder"), std::string::npos) << said;
  EXPECT_NE(said.find("process " + std::to_string(::getpid()) + " on "), std::string::npos) << said;
  lock.reset();
  FolderLock again(folder.path.string());
}

TEST(FolderLock, EndsWithItsProcess) {
  const TemporaryFolder folder;
  const pid_t           child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path.string());
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  FolderLock lock(folder.path.string());
}

TEST(FolderLock, WritesIntoNothingButItsFile) {
  const TemporaryFolder folder;
  const auto            precious = folder.path / "precious";
  std::ofstream(precious) << "text";
  std::filesystem::create_symlink(precious, folder.path / ".lock");
  EXPECT_NE(error_of([&] { FolderLock lock(folder.path.string()); }).find(".lock"), std::string::npos);
  std::string text;
  std::ifstream(precious) >> text;
  EXPECT_EQ(text, "text");
  std::filesystem::remove(folder.path / ".lock");
  std::filesystem::create_directory(folder.path / ".lock");
  EXPECT_NE(error_of([&] { FolderLock lock(folder.path.string()); }).find(".lock"), std::string::npos);
}

TEST(FileLock, IsOfTheFileAndNotOfItsFolder) {
  const TemporaryFolder folder;
  const std::string     path = (folder.path / "net").string(), link = (folder.path / "link").string();
  std::ofstream(path) << "text";
  std::filesystem::create_symlink(path, link);
  std::optional<FileLock> lock(path);
  for (const std::string& name : {path, link}) {
    const std::string said = error_of([&] { FileLock other(name); });
    EXPECT_NE(said.find(name + ": another process writes this file: process "), std::string::npos) << said;
  }
  FileLock neighbor((folder.path / "net2").string());
  lock.reset();
  FileLock again(link);
  FileLock device("/dev/null"), second("/dev/null");
  EXPECT_FALSE(std::filesystem::exists("/dev/.null.lock"));
}

}  // namespace
}  // namespace braintrace
