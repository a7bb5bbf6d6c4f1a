#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// Writes a whole file: other programs see the old content or the new one, never a part. An error
// (kNotFound, kPermissionDenied, kFailedPrecondition where a folder is in the place of a file or a
// file in that of a folder, ...) names the path and says why, and leaves the old content.
GRAVEN_API Status write_file(const std::string& path, std::string_view content);
// The error that write_file would give now; writes nothing.
GRAVEN_API Status check_writable(const std::string& path);
// Writes into the file itself, which may be a device or a link; folders that are missing are made.
// The same errors, but part of the new content may be there.
GRAVEN_API Status write_in_place(const std::string& path, std::string_view content);
// The content of a file; the same errors, and kResourceExhausted if it has more bytes than that.
GRAVEN_API Result<std::string> read_file(const std::string& path, size_t max_bytes = SIZE_MAX);

}  // namespace graven::engine
