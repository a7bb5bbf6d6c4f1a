#pragma once
#include <string>

#include "graven/base/export.h"
#include "graven/ir/frame.h"

namespace graven {

// Puts "name/" in front of the names of nodes and variables that are made while it lives
// (tf.name_scope): `graven::NameScope scope("encoder");`
using engine::NameScope;

// While it lives ops compute at once, also while a function is traced (tf.init_scope).
class InitScope {
 public:
  InitScope() = default;
  InitScope(const InitScope&) = delete;

 private:
  engine::Frame frame_{nullptr};
};

// False while a function is traced.
inline bool executing_eagerly() { return !engine::Frame::current().is_graph(); }
// True while a function is traced, also within an InitScope.
inline bool inside_function() { return engine::Frame::inside_function(); }

}  // namespace graven
