// SPDX-License-Identifier: Apache-2.0
// What a written file replaces, and what it does not.
#include "braintrace/io/file.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "braintrace/base/temporary_folder.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  std::string file(const char* name) const { return (folder_.path / name).string(); }
  mode_t      mode(const char* name) const {
         struct stat s {};
         return ::stat(file(name).c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_.path), fs::directory_iterator()));
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(WriteFile, keeps_the_mode_of_what_was_there) {
  write_text(file("a"), "one");
  ASSERT_EQ(::chmod(file("a").c_str(), 0600), 0);
  write_text(file("a"), "two");
  EXPECT_EQ(mode("a"), 0600u);
  EXPECT_EQ(read_text(file("a")), "two");
  ASSERT_EQ(::chmod(file("a").c_str(), 0664), 0);
  write_text(file("a"), "three");
  EXPECT_EQ(mode("a"), 0664u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteFile, follows_symbolic_links) {
  write_text(file("a"), "one");
  fs::create_symlink("a", file("link"));
  fs::create_symlink("link", file("far"));
  write_text(file("far"), "two");
  EXPECT_TRUE(fs::is_symlink(file("far")) && fs::is_symlink(file("link")));
  EXPECT_EQ(read_text(file("a")), "two");
  fs::create_symlink("new", file("to_nothing"));
  write_text(file("to_nothing"), "three");
  EXPECT_TRUE(fs::is_symlink(file("to_nothing")));
  EXPECT_EQ(read_text(file("new")), "three");
  fs::create_symlink("circle", file("circle"));
  EXPECT_NE(error_of([&] { write_text(file("circle"), ""); }).find("form a cycle"), std::string::npos);
  const std::string zero = file("a") + std::string(1, '\0') + "b";
  for (const auto& error : {error_of([&] { write_text(zero, ""); }), error_of([&] { read_text(zero); })})
    EXPECT_NE(error.find("a: the name of a file cannot contain a zero byte"), std::string::npos);
  EXPECT_EQ(read_text(file("a")), "two");
}

TEST_F(WriteFile, goes_into_a_pipe) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", file("link"));
  std::string got;
  std::thread reader([&] {
    const int fd = ::open(file("pipe").c_str(), O_RDONLY);
    char      bytes[100];
    for (ssize_t n; (n = ::read(fd, bytes, sizeof bytes)) > 0;) got.append(bytes, static_cast<size_t>(n));
    ::close(fd);
  });
  write_text(file("link"), "through");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(file("pipe")));
  EXPECT_EQ(files(), 2u);
}

TEST_F(WriteFile, a_check_leaves_nothing) {
  check_writable(file("a"));
  EXPECT_EQ(files(), 0u);
  EXPECT_NE(error_of([&] { check_writable(file("no/folder")); }), "");
  EXPECT_NE(error_of([&] { check_writable(file(".")); }).find("this is a folder"), std::string::npos);
}

}  // namespace
}  // namespace braintrace
