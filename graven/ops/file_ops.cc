#include "graven/ops/file_ops.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "graven/base/files.h"
#include "graven/base/strings.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/register_ops.h"
#include "graven/tensor/allocator.h"

namespace graven::engine {
namespace {

Status check_scalar(const InferContext& c, int input, std::string_view what) {
  const Shape& shape = c.shape(input);
  if (!shape.has_rank() || shape.rank() == 0) return {};
  return invalid_argument(what, " must be scalar, but had shape: ", shape.to_message());
}

bool is_scheme_letter(char letter) {
  return ('a' <= letter && letter <= 'z') || ('A' <= letter && letter <= 'Z') ||
         ('0' <= letter && letter <= '9') || letter == '+' || letter == '.' || letter == '-';
}

// The path of a name, which may be a URL of a file.
Result<std::string> path_of(const std::string& name) {
  if (name.find('\0') != std::string::npos) {
    return invalid_argument("a path has no byte of value 0, but got \"", name, "\"");
  }
  const size_t end = name.find("://");
  if (end == std::string::npos || end == 0) return name;
  const std::string scheme = name.substr(0, end);
  if (!std::ranges::all_of(scheme, is_scheme_letter)) return name;
  if (scheme == "file") return name.substr(end + 3);
  return Status(Code::kUnimplemented,
                str_cat("File system scheme '", scheme, "' not implemented (file: '", name, "')"));
}

// --- ReadFile. In the order of the program with what writes; a read that nobody uses may be left
// out.

Effects reading_effects(const Op&, AttrsRef) {
  return {.stateful = true, .ordered = true, .may_block = true, .reads = {}, .writes = {}};
}

void define_read_file(OpRegistry& ops) {
  kReadFile = ops.define<NoAttrs>({
      .name = "ReadFile",
      .python = "io.read_file",
      .summary = "The bytes of a file, read each time that it runs.",
      .details = "Raises:\n"
                 "  NotFoundError: There is no such file.\n"
                 "  FailedPreconditionError: It is a folder.\n"
                 "  UnimplementedError: The name is a URL of something else than a file.",
      .inputs = {"filename: string"},
      .outputs = {"contents: string"},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_scalar(c, 0, "Input filename tensor"));
        c.set_shape(0, Shape());
        return {};
      },
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(const std::string path, path_of(c.in<std::string>(0)[0]));
        const auto limit = static_cast<size_t>(Allocator::host().limit());
        ASSIGN_OR_RETURN(c.out<std::string>(0)[0], read_file(path, limit));
        return {};
      }),
      .effects = reading_effects,
  });
}

// --- WriteFile.

void define_write_file(OpRegistry& ops) {
  kWriteFile = ops.define<NoAttrs>({
      .name = "WriteFile",
      .python = "io.write_file",
      .summary = "Writes a file, each time that it runs; makes the folders above it.",
      .details = "Raises:\n"
                 "  PermissionDeniedError: It may not be written.\n"
                 "  FailedPreconditionError: It is a folder.\n"
                 "  UnimplementedError: The name is a URL of something else than a file.",
      .inputs = {"filename: string", "contents: string"},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_scalar(c, 0, "Input filename tensor"));
        return check_scalar(c, 1, "Contents tensor");
      },
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(const std::string path, path_of(c.in<std::string>(0)[0]));
        return write_in_place(path, c.in<std::string>(1)[0]);
      }),
      .effects = blocking_effects,
  });
}

}  // namespace

void define_file_ops(OpRegistry& ops) {
  define_read_file(ops);
  define_write_file(ops);
}

}  // namespace graven::engine
