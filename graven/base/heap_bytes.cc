#include "graven/base/heap_bytes.h"

namespace graven::engine {
namespace {

constinit thread_local ByteCount* t_outermost = nullptr;

}  // namespace

ByteCount::ByteCount() : outermost_(t_outermost) {
  if (!outermost_) t_outermost = outermost_ = this;
}

ByteCount::~ByteCount() {
  if (outermost_ == this) t_outermost = nullptr;
}

bool ByteCount::is_first(const void* object) { return outermost_->seen_.insert(object).second; }

}  // namespace graven::engine
