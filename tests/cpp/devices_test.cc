#include <string>

#include "graven/ir/frame.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_op.h"
#include "graven/runtime/testing.h"
#include "graven/tensor/allocator.h"
#include "graven/tensor/device_queues.h"
#include "tests/cpp/fused_program.h"

namespace graven::engine {
namespace {

constexpr char kName[] = "/job:localhost/replica:0/task:0/device:CPU:1";

int copies_in = 0, copies_out = 0, in_use = 0;

// Of the host's kind, with memory of its own.
class SecondHost final : public Device {
 public:
  SecondHost() : Device(kName) {}
  void* allocate(size_t bytes) const override {
    if (bytes > (size_t{1} << 30)) return nullptr;
    ++in_use;
    return Allocator::host().allocate(bytes);
  }
  void free(void* block, size_t bytes) const override {
    --in_use;
    Allocator::host().free(block, bytes);
  }
  Status copy_from_host(const void* from, void* to, size_t bytes) const override {
    ++copies_in;
    if (bytes > 0) std::memcpy(to, from, bytes);
    return {};
  }
  Status copy_to_host(const void* from, void* to, size_t bytes) const override {
    ++copies_out;
    if (bytes > 0) std::memcpy(to, from, bytes);
    return {};
  }
};

const Device& second() {
  static const Device* device = *Device::add(std::make_unique<SecondHost>());
  return *device;
}

// "CPU:1" instead of the full names.
std::string with_short_names(std::string text) {
  constexpr std::string_view kHere = "/job:localhost/replica:0/task:0/device:";
  for (size_t at; (at = text.find(kHere)) != text.npos;) text.erase(at, kHere.size());
  return text;
}

// What is applied meanwhile is asked to run on the device.
struct OnDevice {
  explicit OnDevice(std::string_view name) { Frame::current().device = name; }
  ~OnDevice() { Frame::current().device.clear(); }
};

TEST_CASE("a device joins once, and is found by its names") {
  CHECK(Device::find("/cpu:1") == &second());
  CHECK(Device::find(kName) == &second());
  CHECK(Device::all().size() == 2);
  auto again = Device::add(std::make_unique<SecondHost>());
  CHECK(again.status().code() == Code::kAlreadyExists);
}

TEST_CASE("tensors go to a device and come back; strings and handles stay") {
  Tensor x = floats({1, 2, 3, 4, 5, 6});
  auto there = on_device(x, second());
  REQUIRE(there.ok());
  CHECK(&there->device() == &second());
  CHECK(*on_device(*there, second()) == *there);
  CHECK(same_bits(*on_device(*there, Device::host()), x));
  // A scalar has memory of the device too.
  CHECK(&on_device(Tensor::scalar(1.5f), second())->device() == &second());
  Tensor text = Tensor::string_scalar("abc");
  CHECK(*on_device(text, second()) == text);
  auto refused = Tensor::allocate(DType::kString, Shape{2}, second());
  CHECK(refused.status().code() == Code::kInvalidArgument);
  auto too_large = Tensor::allocate(DType::kFloat32, Shape{int64_t{1} << 29}, second());
  CHECK(too_large.status().code() == Code::kResourceExhausted);
  CHECK(too_large.status().message().find(kName) != std::string::npos);
}

TEST_CASE("an eager op runs where it is asked to, on copies of what is elsewhere") {
  second();
  Tensor x = floats({1, 4, 9, 16, 25, 36}), y;
  {
    OnDevice scope("/device:CPU:1");
    y = run(eager_builder(), kSqrt, {x});
    CHECK(&y.device() == &second());
    copies_in = 0;
    y = run(eager_builder(), kAddV2, {y, x});
    CHECK(copies_in == 1);
    // Axes are read by the host.
    Tensor sum = run(eager_builder(), kSum, {y, ints({0})});
    CHECK(&sum.device() == &second());
    CHECK(values_of(*on_device(sum, Device::host())) == std::vector<float>{112});
  }
  Tensor z = run(eager_builder(), kAddV2, {y, x});
  CHECK(z.device().is_host());
  CHECK(values_of(z) == std::vector<float>{3, 10, 21, 36, 55, 78});
  // A device that is not there is no error: soft placement.
  OnDevice scope("/device:GPU:0");
  CHECK(run(eager_builder(), kSqrt, {x}).device().is_host());
}

TEST_CASE("a Program copies what a step needs from another device, once") {
  second();
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {6}, "x");
  Tensor sum = run(g.builder, kAddV2, {x, x}), a, b, gathered;
  {
    OnDevice scope("/device:CPU:1");
    a = run(g.builder, kMul, {sum, x});
    b = run(g.builder, kSum, {run(g.builder, kTanh, {a}), g.constant(ints({0}))});
  }
  Tensor last = run(g.builder, kMul, {a, b});
  g.returns({last, b});
  Ref<Program> program = plan(g);
  CHECK(with_short_names(program->to_text()) ==
        "step 0: AddV2 %0 %0 -> %2\n"
        "step 1: Copy to CPU:1 %2 -> %3, waits for 0\n"
        "step 2: Copy to CPU:1 %0 -> %4, waits for 0\n"
        "step 3: Mul %3 %4 -> %5, waits for 0 1 2\n"
        "step 4: Tanh %5 -> %6, waits for 3\n"
        "step 5: Sum %6 %1 -> %7, waits for 4\n"
        "step 6: Copy to CPU:0 %5 -> %8, waits for 3 4\n"
        "step 7: Copy to CPU:0 %7 -> %9, waits for 5\n"
        "step 8: Mul %8 %9 -> %10, waits for 3 5 6 7\n"
        "return %10 %7\n");
  for (const auto& step : program->steps()) {
    const bool is_there = &step->queue->device() == &second();
    CHECK(is_there == (step->queue == &queue_of(second())));
  }
  Tensors outputs;
  Tensor given = floats({1, 2, 3, 4, 5, 6});
  REQUIRE(program->run({&given, 1}, outputs).ok());
  CHECK(outputs[0].device().is_host());
  CHECK(&outputs[1].device() == &second());
  // An argument that is on the other device is copied.
  Tensor there = *on_device(given, second());
  Tensors again;
  REQUIRE(program->run({&there, 1}, again).ok());
  CHECK(same_bits(outputs[0], again[0]));
}

TEST_CASE("nodes of several devices do not share a kernel, those of one do") {
  second();
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {6}, "x"), y;
  {
    OnDevice scope("/device:CPU:1");
    y = run(g.builder, kTanh, {run(g.builder, kSqrt, {x})});
  }
  Tensor z = run(g.builder, kMul, {y, y});
  {
    OnDevice scope("/device:CPU:0");
    z = run(g.builder, kAddV2, {z, x});
  }
  g.returns({z});
  Ref<Program> program = fused_program(g);
  CHECK(with_short_names(program->to_text()) ==
        "step 0: Copy to CPU:1 %0 -> %1\n"
        "step 1: [Sqrt Tanh] %1 -> %2, waits for 0\n"
        "step 2: Copy to CPU:0 %2 -> %3, waits for 1\n"
        "step 3: [Mul AddV2] %3 %0 -> %4, waits for 0 1 2\n"
        "return %4\n");
  Tensor given = floats({1, 4, 9, 16, 25, 36});
  Tensors outputs;
  REQUIRE(program->run({&given, 1}, outputs).ok());
  CHECK(outputs[0].device().is_host());
}

TEST_CASE("the memory of a device goes back to it") {
  const int before = in_use;
  {
    Tensor there = *on_device(floats({1, 2, 3, 4, 5, 6}), second());
    CHECK(in_use == before + 1);
  }
  CHECK(in_use == before);
}

// Where assertions are on, as in the builds with sanitizers.
#ifndef NDEBUG
TEST_CASE("a kernel that would read a buffer of another device is refused") {
  Tensor there = *on_device(floats({1, 2, 3, 4, 5, 6}), second());
  Tensor inputs[] = {there};
  Tensors outputs;
  TypeBindings bindings;
  const DType dtype = DType::kFloat32;
  REQUIRE(kSqrt.op->bind_types(std::span<const Tensor>(inputs), {}, true, bindings).ok());
  Status status =
      run_typed_op(Queue::host(), *kSqrt, {}, inputs, {bindings, {&dtype, 1}}, 0, nullptr, outputs);
  CHECK(status.code() == Code::kInternal);
  CHECK(status.message().find(kName) != std::string::npos);
}
#endif

}  // namespace
}  // namespace graven::engine
