#pragma once
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "graven/api/tensor.h"
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

// Nodes that are made while it lives run after the nodes of these tensors
// (tf.control_dependencies). Effects keep the order of the program without it. Eagerly everything
// has run already.
class GRAVEN_API ControlDependencies {
 public:
  explicit ControlDependencies(const std::vector<Tensor>& control_inputs);
  ~ControlDependencies();
  ControlDependencies(const ControlDependencies&) = delete;

 private:
  uint64_t frame_ = 0;  // 0: none that builds a graph
  std::vector<engine::Node*> saved_;
};

// Asks for a device for the nodes that are made while it lives (tf.device): "/cpu:0", "GPU:1",
// "/job:worker/task:2". Parts that it does not name are those of the scope around it. A ValueError
// for another text. There is one logical device, CPU:0, and all run there.
class GRAVEN_API DeviceScope {
 public:
  explicit DeviceScope(std::string_view device_name,
                       std::source_location location = std::source_location::current());
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;

 private:
  uint64_t frame_;
  std::string saved_;
};

// False while a function is traced.
inline bool executing_eagerly() { return !engine::Frame::current().is_graph(); }
// True while a function is traced, also within an InitScope.
inline bool inside_function() { return engine::Frame::inside_function(); }

}  // namespace graven
