#include "graven/base/files.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "graven/base/strings.h"

namespace graven::engine {
namespace {

// A folder that goes with the test.
class Folder {
 public:
  Folder() { std::filesystem::create_directory(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return str_cat(path_.string(), "/", name); }
  size_t num_files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                             std::filesystem::directory_iterator()));
  }

 private:
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / str_cat("graven_files_", ::getpid());
};

TEST_CASE("a file is written as a whole, in the place of the old one") {
  const Folder folder;
  for (const std::string& content :
       {std::string("old"), std::string(100'000, 'x'), std::string()}) {
    REQUIRE(write_file(folder / "f", content).ok());
    auto read = read_file(folder / "f");
    REQUIRE(read.ok());
    CHECK(*read == content);
  }
  CHECK(folder.num_files() == 1);
}

TEST_CASE("a file that cannot be written is an error that names it") {
  const Folder folder;
  const std::string missing = folder / "missing/f";
  CHECK(write_file(missing, "").code() == Code::kNotFound);
  CHECK(write_file(missing, "").message() ==
        str_cat("cannot write ", missing, ": No such file or directory"));
  CHECK(check_writable(missing).code() == Code::kNotFound);
  CHECK(write_file(folder / "", "").message().ends_with("Is a directory"));
  CHECK(read_file(folder / "f").status().code() == Code::kNotFound);
  CHECK(check_writable(folder / "f").ok());
  CHECK(folder.num_files() == 0);
}

TEST_CASE("a file that is written in place may lie in new folders, and is as long as its content") {
  const Folder folder;
  const std::string path = folder / "new/folders/f";
  for (const std::string& content : {std::string("long content"), std::string("short")}) {
    REQUIRE(write_in_place(path, content).ok());
    CHECK(*read_file(path) == content);
  }
  CHECK(write_in_place("/dev/null", "gone").ok());
  CHECK(!std::filesystem::is_regular_file("/dev/null"));
}

TEST_CASE("what is no file, or lies in none, is a failed precondition") {
  const Folder folder;
  REQUIRE(write_in_place(folder / "f", "").ok());
  CHECK(read_file(folder / "").status().code() == Code::kFailedPrecondition);
  CHECK(read_file(folder / "f/g").status().code() == Code::kFailedPrecondition);
  CHECK(write_in_place(folder / "", "").code() == Code::kFailedPrecondition);
  CHECK(write_in_place(folder / "f/g", "").code() == Code::kFailedPrecondition);
  CHECK(read_file(std::string(5000, 'a')).status().code() == Code::kInvalidArgument);
}

TEST_CASE("no more of a file is read than asked for") {
  const Folder folder;
  REQUIRE(write_in_place(folder / "f", "12345").ok());
  CHECK(*read_file(folder / "f", 5) == "12345");
  const Status status = read_file(folder / "f", 4).status();
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(status.message().ends_with("it has more than 4 bytes"));
  CHECK(read_file("/dev/zero", 1 << 20).status().code() == Code::kResourceExhausted);
}

}  // namespace
}  // namespace graven::engine
