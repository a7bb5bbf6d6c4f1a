#include "graven/tensor/logical_cpus.h"

#include <memory>
#include <string>
#include <utility>

#include "graven/base/strings.h"
#include "graven/tensor/device.h"

namespace graven::engine {
namespace {

class LogicalCpu final : public Device {
 public:
  explicit LogicalCpu(std::string name) : Device(std::move(name)) {}
  void* allocate(size_t bytes) const override { return host().allocate(bytes); }
  void free(void* block, size_t bytes) const override { host().free(block, bytes); }
  Status copy_from_host(const void* from, void* to, size_t bytes) const override {
    return host().copy_from_host(from, to, bytes);
  }
  Status copy_to_host(const void* from, void* to, size_t bytes) const override {
    return host().copy_to_host(from, to, bytes);
  }
};

}  // namespace

bool has_memory_of_host(const Device& device) {
  return device.is_host() || dynamic_cast<const LogicalCpu*>(&device);
}

void make_logical_cpus(int count) {
  std::string name = Device::host().name();
  name.pop_back();  // its number
  for (int i = 1; i < count; ++i) {
    // An error says that it is there.
    (void)Device::add(std::make_unique<LogicalCpu>(str_cat(name, i)));
  }
}

}  // namespace graven::engine
