#include "graven/tensor/device.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>

#include "graven/base/mutex.h"
#include "graven/base/strings.h"
#include "graven/tensor/allocator.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {
namespace {

constexpr std::string_view kHere = "/job:localhost/replica:0/task:0";

class Host final : public Device {
 public:
  Host() : Device(str_cat(kHere, "/device:CPU:0")) {}
  void* allocate(size_t bytes) const override { return Allocator::host().allocate(bytes); }
  void free(void* block, size_t bytes) const override { Allocator::host().free(block, bytes); }
  Status copy_from_host(const void* from, void* to, size_t bytes) const override {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return {};
  }
  Status copy_to_host(const void* from, void* to, size_t bytes) const override {
    return copy_from_host(from, to, bytes);
  }
};

struct Devices {
  Mutex mutex;
  std::vector<std::unique_ptr<Device>> added GUARDED_BY(mutex);
  std::map<const Device*, std::unique_ptr<Queue>> queues GUARDED_BY(mutex);
  static Devices& global() {
    static auto* devices = new Devices();
    return *devices;
  }
};

// "CPU:1" of a full name, of "/device:cpu:1", "/CPU:1" or "cpu:1"; "CPU:0" where no number is said.
std::string kind_and_number(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash != name.npos) name.remove_prefix(slash + 1);
  constexpr std::string_view kPrefix = "device:";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  std::string result;
  for (char c : name) result += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result.find(':') == result.npos ? result + ":0" : result;
}

}  // namespace

const Device& Device::host() {
  static const Device* host = new Host();
  return *host;
}

std::vector<const Device*> Device::all() {
  std::vector<const Device*> devices = {&host()};
  Devices& known = Devices::global();
  MutexLock lock(known.mutex);
  for (const auto& device : known.added) devices.push_back(device.get());
  return devices;
}

const Device* Device::find(std::string_view name) {
  if (name.empty()) return &host();
  const std::string wanted = kind_and_number(name);
  for (const Device* device : all()) {
    if (kind_and_number(device->name()) == wanted) return device;
  }
  return nullptr;
}

Result<const Device*> Device::add(std::unique_ptr<Device> device) {
  if (find(device->name())) {
    return Status(Code::kAlreadyExists,
                  str_cat("There is a device '", device->name(), "' already"));
  }
  Devices& known = Devices::global();
  MutexLock lock(known.mutex);
  known.added.push_back(std::move(device));
  internal::g_has_other_devices.store(true, std::memory_order_relaxed);
  return known.added.back().get();
}

Queue& Queue::host() {
  static auto* host = new Queue(Device::host());
  return *host;
}

std::atomic<bool> internal::g_has_other_devices{false};

Queue& queue_of(const Device& device) {
  if (device.is_host()) return Queue::host();
  Devices& known = Devices::global();
  MutexLock lock(known.mutex);
  std::unique_ptr<Queue>& queue = known.queues[&device];
  if (!queue) queue = std::make_unique<Queue>(device);
  return *queue;
}

Result<Tensor> on_device(const Tensor& tensor, const Device& device) {
  const Device& from = tensor.device();
  if (&from == &device || !is_plain(tensor.dtype())) return tensor;
  RETURN_IF_ERROR(queue_of(from).wait());
  if (!from.is_host() && !device.is_host()) {
    ASSIGN_OR_RETURN(Tensor on_host, on_device(tensor, Device::host()));
    return on_device(on_host, device);
  }
  ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.shape(), device));
  const void* elements = tensor.raw_data();
  RETURN_IF_ERROR(from.is_host()
                      ? device.copy_from_host(elements, copy.mutable_raw_data(), tensor.bytes())
                      : from.copy_to_host(elements, copy.mutable_raw_data(), tensor.bytes()));
  return copy;
}

}  // namespace graven::engine
