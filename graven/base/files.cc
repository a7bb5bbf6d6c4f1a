#include "graven/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "graven/base/strings.h"

namespace graven::engine {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case EISDIR:
    case ENOTDIR:
      return Code::kFailedPrecondition;
    case ENAMETOOLONG:
      return Code::kInvalidArgument;
    case ENOSPC:
      return Code::kResourceExhausted;
    default:
      return Code::kUnknown;
  }
}

Status file_error(std::string_view verb, const std::string& path, int error) {
  return Status(code_of(error), str_cat("cannot ", verb, " ", path, ": ", std::strerror(error)));
}

// 0, or errno.
int write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// A new file beside the one to be written. An open file, or the error.
Result<int> open_beside(const std::string& path, const std::string& temporary) {
  struct stat there;
  if (::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) {
    return file_error("write", path, EISDIR);
  }
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return file_error("write", path, errno);
  return file;
}

std::string temporary_name(const std::string& path) {
  return str_cat(path, ".", ::getpid(), ".new");
}

}  // namespace

Status write_file(const std::string& path, std::string_view content) {
  const std::string temporary = temporary_name(path);
  ASSIGN_OR_RETURN(const int file, open_beside(path, temporary));
  int error = write_all(file, content);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return file_error("write", path, error);
}

Status check_writable(const std::string& path) {
  const std::string temporary = temporary_name(path);
  ASSIGN_OR_RETURN(const int file, open_beside(path, temporary));
  ::close(file);
  ::unlink(temporary.c_str());
  return {};
}

Status write_in_place(const std::string& path, std::string_view content) {
  std::error_code failed;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (failed) return file_error("write", path, failed.value());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return file_error("write", path, errno);
  int error = write_all(file, content);
  if (::close(file) != 0 && error == 0) error = errno;
  return error == 0 ? Status() : file_error("write", path, error);
}

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file_error("read", path, errno);
  std::string content;
  char piece[16384];
  for (;;) {
    const ssize_t count = ::read(file, piece, sizeof(piece));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = count < 0 ? errno : 0;
      ::close(file);
      if (error) return file_error("read", path, error);
      return content;
    }
    if (static_cast<size_t>(count) > max_bytes - content.size()) {
      ::close(file);
      return Status(Code::kResourceExhausted,
                    str_cat("cannot read ", path, ": it has more than ", max_bytes, " bytes"));
    }
    content.append(piece, static_cast<size_t>(count));
  }
}

}  // namespace graven::engine
