#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Whole files. A path may begin with "file://"; there are no other file systems.
GRAVEN_API inline OpHandle<NoAttrs> kReadFile;   // filename -> contents
GRAVEN_API inline OpHandle<NoAttrs> kWriteFile;  // filename, contents

}  // namespace graven::engine
