#include "graven/tensor/tensor.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graven/base/sanitizer.h"
#include "graven/tensor/allocator.h"
#include "graven/tensor/spare_memory.h"
#include "graven/tensor/symbol_table.h"

namespace graven::engine {
namespace {

TEST_CASE("every half reads back from its float, and floats round to the nearest even half") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half = Half::from_bits(static_cast<uint16_t>(bits));
    if ((bits & 0x7fff) > 0x7c00) {
      CHECK(std::isnan(static_cast<float>(half)));
    } else {
      REQUIRE(Half(static_cast<float>(half)).bits == bits);
    }
  }
  CHECK(static_cast<float>(Half(2049.0f)) == 2048.0f);
  CHECK(static_cast<float>(Half(2051.0f)) == 2052.0f);
  CHECK(static_cast<float>(Half(65519.0f)) == 65504.0f);
  CHECK(std::isinf(static_cast<float>(Half(65520.0f))));
  CHECK(static_cast<float>(Half(0x1p-25f)) == 0.0f);
  CHECK(static_cast<float>(Half(0x1.8p-25f)) == 0x1p-24f);
  CHECK(static_cast<float>(BFloat16(1.00390625f)) == 1.0f);
}

TEST_CASE("dtypes have TensorFlow's names, numbers and sizes") {
  CHECK(dtype_name(DType::kHalf) == "float16");
  CHECK(dtype_op_def_name(DType::kFloat64) == "double");
  CHECK(dtype_from_name("float") == DType::kFloat32);
  CHECK(!dtype_from_name("float1"));
  CHECK(dtype_size(DType::kComplex128) == 16);
}

TEST_CASE("dims that are equal by arithmetic are equal words") {
  SymbolTable t;
  Dim n = t.new_symbol("n"), m = t.new_symbol("m");
  CHECK(t.add(t.multiply(n, m), n) == t.multiply(n, t.add(m, 1)));
  CHECK(t.subtract(t.add(n, 3), 3) == n);
  CHECK(t.subtract(t.multiply(2, n), t.add(n, n)) == Dim(0));
  CHECK(t.to_text(t.add(t.multiply(2, t.multiply(n, m)), 3)) == "2*n*m + 3");
  CHECK(t.apply(SymbolTable::Function::kFloorDiv, t.multiply(6, n), 3) == t.multiply(2, n));
  CHECK(t.apply(SymbolTable::Function::kBroadcast, n, 1) == n);
  CHECK(t.apply(SymbolTable::Function::kBroadcast, n, m) ==
        t.apply(SymbolTable::Function::kBroadcast, m, n));
  CHECK(t.add(n, Dim::unknown()).is_unknown());
}

TEST_CASE("a term can be printed under other names, in an order of the names alone") {
  SymbolTable one, two;
  Dim n = one.new_symbol("n"), m = one.new_symbol("m");
  Dim m2 = two.new_symbol("m"), n2 = two.new_symbol("n");
  auto term = [](SymbolTable& t, Dim n, Dim m) {
    Dim larger = t.apply(SymbolTable::Function::kMax, n, m);
    return t.subtract(t.add(t.add(t.multiply(2, t.multiply(n, m)), t.add(larger, 7)), n), m);
  };
  auto text = [](SymbolTable& t, Dim dim) {
    return t.to_text(dim, [&](int64_t symbol) { return "a" + t.symbol_name(symbol); });
  };
  CHECK(text(one, term(one, n, m)) == "2*am*an - am + an + max(am, an) + 7");
  CHECK(text(two, term(two, n2, m2)) == "2*am*an - am + an + max(am, an) + 7");
  CHECK(one.dim_of(one.as_symbol(m)) == m);
  CHECK(one.is_function(one.as_symbol(one.apply(SymbolTable::Function::kMax, n, m))));
  CHECK(one.contains(n));
  CHECK(!one.contains(Dim::term(99)));
}

TEST_CASE("a term is computed and substituted") {
  SymbolTable t, outer;
  Dim n = t.new_symbol("n"), m = t.new_symbol("m");
  Dim half = t.apply(SymbolTable::Function::kCeilDiv, t.add(n, 1), 2);
  Dim term = t.subtract(t.multiply(half, m), 1);
  int64_t values[] = {4, 10};
  CHECK(t.evaluate(term, values) == 29);
  CHECK(t.evaluate(term, std::span(values, 1)) == -1);
  Dim k = outer.new_symbol("k");
  Dim moved = outer.substitute(t, term, [&](int64_t s) { return s == 0 ? Dim(5) : k; });
  CHECK(outer.to_text(moved) == "3*k - 1");
}

TEST_CASE("shapes print, compare and combine as TensorFlow's do") {
  Shape a{2, Dim::unknown()}, b{2, 3};
  CHECK(a.to_text() == "(2, None)");
  CHECK(Shape{3}.to_text() == "(3,)");
  CHECK(a.to_message() == "[2,?]");
  CHECK(Shape::unknown_rank().to_text() == "<unknown>");
  CHECK(is_subshape(b, a));
  CHECK(!is_subshape(a, b));
  CHECK(common_supershape(b, Shape{2, 4}) == a);
  CHECK(*merge_shapes(a, b) == b);
  CHECK(!merge_shapes(Shape{1}, Shape{2}).ok());
}

TEST_CASE("an element count that overflows is refused") {
  Shape huge{int64_t{1} << 40, int64_t{1} << 40};
  CHECK(!huge.checked_num_elements());
  CHECK(Tensor::allocate(DType::kFloat32, huge).status().code() == Code::kInvalidArgument);
  CHECK(*Shape{int64_t{1} << 40, int64_t{1} << 40, 0}.checked_num_elements() == 0);
}

TEST_CASE("an allocation beyond the limit is refused and says so") {
  int64_t limit = Allocator::host().limit();
  Allocator::host().set_limit(1 << 20);
  auto refused = Tensor::allocate(DType::kFloat32, Shape{1 << 20});
  Allocator::host().set_limit(limit);
  CHECK(refused.status().code() == Code::kResourceExhausted);
  CHECK(refused.status().message().find("4194304 bytes") != std::string::npos);
}

TEST_CASE("strings count towards the limit") {
  // They came from operator new, which ended the process where there was no memory.
  int64_t limit = Allocator::host().limit();
  Allocator::host().set_limit(1 << 20);
  auto refused = Tensor::allocate(DType::kString, Shape{1 << 20});
  auto made = Tensor::allocate(DType::kString, Shape{1 << 10});
  Allocator::host().set_limit(limit);
  CHECK(refused.status().code() == Code::kResourceExhausted);
  REQUIRE(made.ok());
  CHECK(made->data<std::string>()[1023].empty());
}

TEST_CASE("freed blocks are used again, so a steady loop asks the system for nothing") {
  for (int warm = 0; warm < 2; ++warm) {
    int64_t before = Allocator::host().stats().num_system_allocations;
    for (int i = 0; i < 50; ++i) {
      for (int64_t n : {10, 1000, 100000, 3000000}) {
        Tensor t = *Tensor::allocate(DType::kFloat32, Shape{n});
        CHECK(reinterpret_cast<uintptr_t>(t.raw_data()) % 16 == 0);
      }
    }
    if (warm) CHECK(Allocator::host().stats().num_system_allocations == before);
  }
}

#if defined(__SANITIZE_ADDRESS__)
TEST_CASE("the address sanitizer knows where a tensor ends, and when it is gone") {
  for (int64_t n : {20, 128, 1000, 3000000}) {
    const void* elements;
    {
      Tensor t = *Tensor::allocate(DType::kUInt8, Shape{n});
      elements = t.raw_data();
      CHECK(!__asan_address_is_poisoned(elements));
      CHECK(!__asan_address_is_poisoned(static_cast<const char*>(elements) + n - 1));
      CHECK(__asan_address_is_poisoned(static_cast<const char*>(elements) + n));
    }
    CHECK(__asan_address_is_poisoned(elements));
  }
}
#endif

TEST_CASE("small values live in the tensor, and views share the buffer of large ones") {
  Tensor small = Tensor::scalar(2.5f), large = *Tensor::allocate(DType::kInt32, Shape{4, 3});
  CHECK(small.item<float>() == 2.5f);
  CHECK(small.with_shape(Shape{1}).item<float>() == 2.5f);
  CHECK(small.owns_its_elements());
  Tensor view = large.with_shape(Shape{12});
  CHECK(view.raw_data() == large.raw_data());
  CHECK(!view.owns_its_elements());
  CHECK(Tensor::string_scalar("abc").data<std::string>()[0] == "abc");
}

TEST_CASE("a device is found by its full name and by those that tf.device takes") {
  const Device& host = Device::host();
  CHECK(host.name() == "/job:localhost/replica:0/task:0/device:CPU:0");
  for (const char* name : {"", "cpu", "CPU:0", "/cpu:0", "/device:CPU:0", host.name().c_str()}) {
    CHECK(Device::find(name) == &host);
  }
  CHECK(Device::find("/device:CPU:1") == nullptr);
  CHECK(Tensor::scalar(1.0f).device().is_host());
  CHECK(Tensor::allocate(DType::kInt32, Shape{100})->device().is_host());
}

}  // namespace
TEST_CASE("the memory of a tensor that is kept goes to the next one of its size") {
  const Shape shape{100}, turned{50, 2};
  auto made = [](const Shape& shape) { return *Tensor::allocate(DType::kFloat32, shape); };
  Tensor first = made(shape);
  SpareMemory::keep(first);  // nothing keeps it
  CHECK(!first);
  SpareMemory spare;
  first = made(shape);
  const void* data = first.raw_data();
  Tensor shared = first;
  SpareMemory::keep(first);  // it has another owner
  CHECK(made(shape).raw_data() != data);
  SpareMemory::keep(shared);
  Tensor again = made(turned);
  CHECK(again.raw_data() == data);
  CHECK(again.shape() == turned);
  SpareMemory::keep(again);
  {
    SpareMemory inner;
    Tensor within = made(turned);
    CHECK(within.raw_data() == data);
    SpareMemory::keep(within);
  }
  Tensor last = made(turned);
  CHECK(last.raw_data() == data);
  const uint64_t id = last.get()->id();  // someone remembers it
  SpareMemory::keep(last);
  CHECK(made(turned).get()->known_id() != id);
}

TEST_CASE("memory that is kept and not used is freed") {
  const auto in_use = [] { return Allocator::host().stats().in_use; };
  const int64_t before = in_use();
  SpareMemory spare;
  Tensor x = *Tensor::allocate(DType::kFloat32, Shape{1000});
  SpareMemory::keep(x);
  CHECK(in_use() > before);
  for (int i = 0; i < 3; ++i) spare.end_iteration();
  CHECK(in_use() == before);
  x = *Tensor::allocate(DType::kFloat32, Shape{1 << 20});
  SpareMemory::keep(x);  // too large
  CHECK(in_use() == before);
}

}  // namespace graven::engine
