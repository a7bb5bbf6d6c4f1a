#include "graven/ops/tensor_list_ops.h"

#include <doctest/doctest.h>

#include "graven/ir/structural_ops.h"
#include "graven/ir/text.h"
#include "graven/ops/testing.h"
#include "graven/runtime/program.h"
#include "graven/tensor/allocator.h"
#include "graven/tensor/resource_as.h"
#include "graven/tensor/tensor_list.h"

namespace graven::engine {
namespace {

const Tensor kAny = Tensor::scalar<int32_t>(-1);

Tensor number(int32_t x) { return Tensor::scalar(x); }
const TensorList& list_in(const Tensor& handle) {
  return **resource_as<TensorList>(handle, TensorList::kName);
}
Tensor list_of(const Tensor& rows) { return run(kTensorListFromTensor, {rows, kAny}); }
Tensor stacked(const Tensor& handle) {
  return run(kTensorListStack, {handle, kAny}, {.element_dtype = DType::kFloat32});
}
Tensor rows_of(int64_t n, int64_t size) {
  Tensor made = *Tensor::allocate(DType::kFloat32, {n, size});
  for (int64_t i = 0; i < n * size; ++i) made.mutable_data<float>()[i] = static_cast<float>(i);
  return made;
}

// The list that an op gives when the Program is given up its input 0, and whether it is the same.
struct Outcome {
  Tensor list;
  bool is_in_place;
};
template <typename A>
Outcome run_in_place(const OpHandle<A>& op, Tensor list, std::initializer_list<Tensor> others,
                     const std::type_identity_t<A>& attrs = {}) {
  Trace t;
  std::vector<Tensor> arguments, values(others);
  values.insert(values.begin(), std::move(list));
  for (const Tensor& x : values) arguments.push_back(t.placeholder(x.dtype(), x.shape()));
  Tensors outputs = t.emit.apply(*op.op, arguments, attrs);
  REQUIRE_MESSAGE(t.emit.status().ok(), t.emit.status().message());
  std::vector<OutputRef> refs;
  for (const Tensor& output : outputs) refs.push_back(symbolic(output).output());
  t.graph->set_outputs(refs);
  auto program = plan_program(t.graph);
  REQUIRE(program.ok());
  const Resource* before = values[0].resource().get();
  const auto given_up = std::make_unique<bool[]>(values.size());
  given_up[0] = true;
  Tensors results;
  Status status = (*program)->run(std::span<Tensor>(values),
                                  std::span<const bool>(given_up.get(), values.size()), results);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return {results[0], results[0].resource().get() == before};
}

TEST_CASE("ops that change a list work in place where nobody else holds it") {
  const Tensor row = vector_of<float>({7, 8});
  auto list = [] { return list_of(rows_of(3, 2)); };
  Outcome pushed = run_in_place(kTensorListPushBack, list(), {row});
  CHECK(pushed.is_in_place);
  CHECK(values_of<float>(stacked(pushed.list)) == std::vector<float>{0, 1, 2, 3, 4, 5, 7, 8});
  CHECK(run_in_place(kTensorListPopBack, list(), {kAny}, {DType::kFloat32}).is_in_place);
  Outcome set = run_in_place(kTensorListSetItem, list(), {number(1), row});
  CHECK(set.is_in_place);
  CHECK(values_of<float>(stacked(set.list)) == std::vector<float>{0, 1, 7, 8, 4, 5});
  CHECK(run_in_place(kTensorListResize, list(), {number(5)}).is_in_place);
  CHECK(run_in_place(kTensorListScatterIntoExistingList, list(),
                     {tensor_of<float>({1, 2}, {7, 8}), vector_of<int32_t>({0})})
            .is_in_place);
  Outcome sum = run_in_place(kAddN, list(), {list()});
  CHECK(sum.is_in_place);
  CHECK(values_of<float>(stacked(sum.list)) == std::vector<float>{0, 2, 4, 6, 8, 10});
  Tensor held = list();
  CHECK_FALSE(run_in_place(kTensorListPushBack, held, {row}).is_in_place);
  CHECK(list_in(held).length() == 3);
}

TEST_CASE("an eager op leaves the list that it was given as it is") {
  Tensor list = list_of(rows_of(2, 2));
  const Tensor row = vector_of<float>({7, 8});
  run(kTensorListSetItem, {list, number(0), row});
  run(kTensorListPushBack, {list, row});
  run_all(kTensorListPopBack, {list, kAny}, {DType::kFloat32});
  CHECK(values_of<float>(stacked(list)) == std::vector<float>{0, 1, 2, 3});
}

TEST_CASE("a list is made of a tensor, and stacked, without a copy") {
  Tensor rows = rows_of(100, 16);
  Tensor list = list_of(rows);
  CHECK(stacked(list).raw_data() == rows.raw_data());
}

TEST_CASE("graphs know the shapes of elements") {
  Trace t;
  Tensor shape = t.constant(vector_of<int32_t>({-1, 3}));
  Tensor any = t.constant(kAny), one = t.constant(number(1));
  Tensor list = t.emit(kTensorListReserve, {shape, one}, {DType::kFloat32});
  CHECK(print_graph(*t.graph).find("variant[]<float32[?,3]>") != std::string::npos);
  auto text_of = [&](const Tensor& x) { return x.shape().to_text(); };
  auto get = [&](const Tensor& handle, const Tensor& asked) {
    return t.emit(kTensorListGetItem, {handle, one, asked}, {DType::kFloat32});
  };
  CHECK(text_of(get(list, any)) == "(None, 3)");
  CHECK(text_of(get(list, t.constant(vector_of<int32_t>({2, -1})))) == "(2, 3)");
  Tensor x = t.placeholder(DType::kFloat32, {2, 3});
  for (const Tensor& changed :
       {t.emit(kTensorListSetItem, {list, one, x}), t.emit(kTensorListPushBack, {list, x}),
        t.emit(kTensorListResize, {list, one}), t.emit(kZerosLike, {list}),
        t.emit(kIdentity, {list})}) {
    CHECK(text_of(get(changed, any)) == "(None, 3)");
  }
  Tensors popped = t.emit.apply(kTensorListPopBack, {list, any}, {DType::kFloat32});
  CHECK(text_of(popped[1]) == "(None, 3)");
  CHECK(text_of(get(popped[0], any)) == "(None, 3)");
  CHECK(text_of(t.emit(kTensorListStack, {list, any}, {DType::kFloat32, 4})) == "(4, None, 3)");
  // Of a list for any elements the rows that it is made of say nothing: others may follow.
  CHECK(text_of(get(t.emit(kTensorListFromTensor, {x, any}), any)) == "<unknown>");
  Tensor three = t.constant(vector_of<int32_t>({3}));
  CHECK(text_of(get(t.emit(kTensorListFromTensor, {x, three}), any)) == "(3,)");
  Tensors joined = t.emit.apply(kTensorListConcatV2,
                                {list, any, t.constant(vector_of<int64_t>({}))}, {DType::kFloat32});
  CHECK(text_of(joined[0]) == "(None, 3)");
  Tensor parts = t.emit(kTensorListSplit, {x, shape, t.placeholder(DType::kInt64, {2})});
  CHECK(text_of(get(parts, any)) == "(None, 3)");
  CHECK(t.emit.status().ok());
}

TEST_CASE("a captured list tells a graph what its elements are") {
  Trace t;
  Tensor list = run(kTensorListReserve, {vector_of<int32_t>({2}), number(1)}, {DType::kFloat32});
  Tensor item = t.emit(kTensorListGetItem, {list, t.constant(number(0)), t.constant(kAny)},
                       {DType::kFloat32});
  CHECK(item.shape().to_text() == "(2,)");
}

TEST_CASE("sizes that are symbols stay symbols in a list") {
  Trace t;
  Tensor x = t.placeholder(DType::kFloat32, {Dim::unknown(), 3});
  Tensor list =
      t.emit(kTensorListReserve, {t.emit(kShape, {x}), t.constant(number(1))}, {DType::kFloat32});
  Tensor item = t.emit(kTensorListGetItem, {list, t.constant(number(0)), t.constant(kAny)},
                       {DType::kFloat32});
  CHECK(t.symbols(item) == "x.0 3 ");
}

TEST_CASE("while tracing, what cannot be an element is refused") {
  auto refused = [](auto&& apply) {
    Trace t;
    Tensor list =
        t.emit(kTensorListReserve, {t.constant(vector_of<int32_t>({3})), t.constant(number(2))},
               {DType::kFloat32});
    apply(t, list);
    return t.emit.status().message();
  };
  CHECK(refused([](Trace& t, const Tensor& list) {
          t.emit(kTensorListPushBack, {list, t.placeholder(DType::kFloat32, {2})});
        }).find("Op element shape: [2] list shape: [3]") != std::string::npos);
  CHECK(refused([](Trace& t, const Tensor& list) {
          t.emit(kTensorListSetItem,
                 {list, t.constant(number(0)), t.placeholder(DType::kFloat32, {2})});
        }).find("Item element shape: [2] list shape: [3]") != std::string::npos);
  CHECK(refused([](Trace& t, const Tensor& list) {
          t.emit(kTensorListStack, {list, t.constant(kAny)}, {.element_dtype = DType::kInt32});
        }).find("op elements int32 but list elements float") != std::string::npos);
  // The dtype of a write is checked when it runs, as in TensorFlow.
  CHECK(refused([](Trace& t, const Tensor& list) {
          t.emit(kTensorListSetItem,
                 {list, t.constant(number(0)), t.placeholder(DType::kInt32, {3})});
        }).empty());
}

TEST_CASE("elements that were never set are zeros where their shape is known") {
  auto reserve = [](const Tensor& shape) {
    return run(kTensorListReserve, {shape, number(2)}, {DType::kFloat32});
  };
  auto get = [](const Tensor& list, int32_t i, const Tensor& shape) {
    return run(kTensorListGetItem, {list, number(i), shape}, {DType::kFloat32});
  };
  const Tensor two = vector_of<int32_t>({2});
  CHECK(values_of<float>(get(reserve(two), 0, kAny)) == std::vector<float>{0, 0});
  CHECK(values_of<float>(get(reserve(kAny), 0, two)) == std::vector<float>{0, 0});
  CHECK(error_of(kTensorListGetItem, {reserve(kAny), number(0), kAny}, {DType::kFloat32}) ==
        "[TensorListGetItem] Trying to read an uninitialized tensor but element_shape is not fully "
        "defined: <unknown> and no list element is set");
  Tensor one = run(kTensorListSetItem, {reserve(kAny), number(1), vector_of<float>({1, 2})});
  CHECK(values_of<float>(get(one, 0, kAny)) == std::vector<float>{0, 0});
  CHECK(values_of<float>(stacked(one)) == std::vector<float>{0, 0, 1, 2});
  CHECK(error_of(kTensorListStack, {reserve(kAny), kAny}, {.element_dtype = DType::kFloat32})
            .find("only contains uninitialized tensors") != std::string::npos);
  Tensor none = run(kTensorListReserve, {kAny, number(0)}, {DType::kFloat32});
  CHECK(error_of(kTensorListStack, {none, kAny}, {.element_dtype = DType::kFloat32})
            .find("Tried to stack elements of an empty list") != std::string::npos);
  Tensor zeros = run_all(kTensorListPopBack, {reserve(two), kAny}, {DType::kFloat32})[1];
  CHECK(values_of<float>(zeros) == std::vector<float>{0, 0});
  CHECK(values_of<float>(run(kTensorListGather, {reserve(two), vector_of<int32_t>({1}), kAny},
                             {DType::kFloat32})) == std::vector<float>{0, 0});
}

TEST_CASE("elements that were never set are joined by the lengths that are given") {
  Tensor list =
      run(kTensorListReserve, {vector_of<int32_t>({-1, 2}), number(2)}, {DType::kFloat32});
  Tensors joined =
      run_all(kTensorListConcatV2, {list, kAny, vector_of<int64_t>({1, 2})}, {DType::kFloat32});
  CHECK(joined[0].shape() == Shape{3, 2});
  CHECK(values_of<int64_t>(joined[1]) == std::vector<int64_t>{1, 2});
  CHECK(error_of(kTensorListConcatV2, {list, kAny, vector_of<int64_t>({1})}, {DType::kFloat32})
            .find("List contains uninitialized tensor at index 1 but leading_dims has only 1") !=
        std::string::npos);
  Tensor none = run(kEmptyTensorList, {kAny, kAny}, {DType::kFloat32});
  CHECK(error_of(kTensorListConcatV2, {none, kAny, vector_of<int64_t>({})}, {DType::kFloat32})
            .find("All except the first dimension must be fully defined") != std::string::npos);
}

TEST_CASE("elements that were never set are joined as the others, if these have one length") {
  Tensor list = run(kTensorListReserve, {kAny, number(3)}, {DType::kFloat32});
  list = run(kTensorListSetItem, {list, number(1), vector_of<float>({1, 2})});
  const Tensor no_lengths = vector_of<int64_t>({});
  Tensors joined = run_all(kTensorListConcatV2, {list, kAny, no_lengths}, {DType::kFloat32});
  CHECK(values_of<float>(joined[0]) == std::vector<float>{0, 0, 1, 2, 0, 0});
  CHECK(values_of<int64_t>(joined[1]) == std::vector<int64_t>{2, 2, 2});
  joined =
      run_all(kTensorListConcatV2, {list, kAny, vector_of<int64_t>({1, 1, 0})}, {DType::kFloat32});
  CHECK(values_of<int64_t>(joined[1]) == std::vector<int64_t>{1, 2, 0});
  list = run(kTensorListSetItem, {list, number(0), vector_of<float>({3})});
  CHECK(error_of(kTensorListConcatV2, {list, kAny, no_lengths}, {DType::kFloat32})
            .find("List contains uninitialized tensor at index 2 but leading_dims has only 0") !=
        std::string::npos);
}

TEST_CASE("the index of what is written is a scalar") {
  Tensor list = run(kTensorListReserve, {kAny, number(1)}, {DType::kFloat32});
  CHECK(error_of(kTensorListSetItem, {list, vector_of<int32_t>({0}), Tensor::scalar(1.0f)}) ==
        "[TensorListSetItem] index must be a scalar, got shape [1]");
}

TEST_CASE("a full list takes no more") {
  Tensor list = run(kEmptyTensorList, {kAny, number(1)}, {DType::kFloat32});
  list = run(kTensorListPushBack, {list, Tensor::scalar(1.0f)});
  CHECK(error_of(kTensorListPushBack, {list, Tensor::scalar(1.0f)}) ==
        "[TensorListPushBack] Tried to push item into a full list list size: 1 max_num_elements: "
        "1");
}

TEST_CASE("rows for one index add up, and take little memory in a long list") {
  Tensor rows = tensor_of<float>({3, 1}, {1, 2, 4});
  Tensor list =
      run(kTensorListScatterAdd, {rows, vector_of<int32_t>({1, 0, 1}), kAny, number(1'000'000)});
  CHECK(list_in(list).get(0)->item<float>() == 2);
  CHECK(list_in(list).get(1)->item<float>() == 5);
  const int64_t before = Allocator::host().stats().in_use;
  list = run(kTensorListScatterAdd,
             {rows, vector_of<int32_t>({999'998, 999'997, 999'999}), kAny, number(1'000'000)});
  CHECK(Allocator::host().stats().in_use - before < 1000);
}

}  // namespace
}  // namespace graven::engine
