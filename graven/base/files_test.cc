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

}  // namespace
}  // namespace graven::engine
