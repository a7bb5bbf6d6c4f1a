#pragma once
#include <string>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// Writes a whole file: other programs see the old content or the new one, never a part. An error
// (kNotFound, kPermissionDenied, kUnknown) names the path and says why, and leaves the old content.
GRAVEN_API Status write_file(const std::string& path, std::string_view content);
// The error that write_file would give now; writes nothing.
GRAVEN_API Status check_writable(const std::string& path);
// The content of a file; the same errors.
GRAVEN_API Result<std::string> read_file(const std::string& path);

}  // namespace graven::engine
