#include <doctest/doctest.h>
#include <graven/graven.h>

using graven::DeviceScope;
using graven::Tensor;
using graven::engine::Frame;

TEST_CASE("device scopes merge, and end") {
  {
    DeviceScope outer("/job:worker/cpu:0");
    CHECK(Frame::current().device == "/job:worker/device:CPU:0");
    DeviceScope inner("GPU:1");
    CHECK(Frame::current().device == "/job:worker/device:GPU:1");
    CHECK((Tensor(1) + 1).item<int32_t>() == 2);
  }
  CHECK(Frame::current().device.empty());
  DeviceScope any("/task:2/device:TPU");
  CHECK(Frame::current().device == "/task:2/device:TPU:*");
}

TEST_CASE("what is no device is a ValueError, and changes nothing") {
  for (const char* text : {"nonsense", "/job:", "/task:x", "cpu:one", "disk:0"}) {
    CHECK_THROWS_WITH_AS(DeviceScope scope(text), doctest::Contains("parsing the device spec"),
                         graven::Error);
  }
  CHECK(Frame::current().device.empty());
}

TEST_CASE("control dependencies keep a node that nothing reads") {
  auto f = graven::function([](const Tensor& x) {
    Tensor checked = graven::debugging::check_numerics(x, "bad");
    graven::ControlDependencies after({checked});
    return graven::identity(x);
  });
  CHECK(f(Tensor(1.0)).item<float>() == 1);
  CHECK_THROWS_WITH_AS(f(Tensor(0.0) / 0.0), doctest::Contains("bad"), graven::Error);
  graven::ControlDependencies eagerly({Tensor(1)});
  CHECK(graven::identity(2).item<int32_t>() == 2);
}
