#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// Where memory is, and where kernels run. There is one, the host, unless code that brings another
// registers it; nothing that is installed does so today.
class GRAVEN_API Device {
 public:
  static const Device& host();
  // The registered devices; the host first. A device lives as long as the process.
  static std::vector<const Device*> all();
  // The device of this name, in full or as tf.device takes it ("/device:CPU:1", "cpu:1"); the host
  // for an empty name; null if there is none.
  static const Device* find(std::string_view name);
  // kAlreadyExists if there is one of the same name. Any thread.
  static Result<const Device*> add(std::unique_ptr<Device> device);

  virtual ~Device() = default;
  Device(const Device&) = delete;
  // TensorFlow's full name: "/job:localhost/replica:0/task:0/device:CPU:0".
  const std::string& name() const { return name_; }
  bool is_host() const { return this == &host(); }

  // At least `bytes` bytes of its memory, 64-byte aligned and not cleared; null if there are none.
  virtual void* allocate(size_t bytes) const = 0;
  virtual void free(void* block, size_t bytes) const = 0;  // `bytes`: the size given to allocate
  // Copies between its memory and the host's.
  virtual Status copy_from_host(const void* from, void* to, size_t bytes) const = 0;
  virtual Status copy_to_host(const void* from, void* to, size_t bytes) const = 0;

 protected:
  explicit Device(std::string name) : name_(std::move(name)) {}

 private:
  const std::string name_;
};

// A sequence of operations on a device, run in order; several queues run beside each other. A
// kernel gets the queue that it belongs to. Operations on the host's queue are done when the kernel
// returns.
class GRAVEN_API Queue {
 public:
  static Queue& host();
  explicit Queue(const Device& device) : device_(device) {}
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  const Device& device() const { return device_; }
  // Returns when all operations on it are done; returns their first error.
  virtual Status wait() { return {}; }

 private:
  const Device& device_;
};

}  // namespace graven::engine
