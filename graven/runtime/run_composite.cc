#include "graven/runtime/run_composite.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/base/inline_vector.h"
#include "graven/base/mutex.h"
#include "graven/ir/body.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

// Attributes may be any numbers, so there is no end of kinds: the oldest goes.
constexpr size_t kMaxKinds = 256;

// What one Program is for. Sizes that are equal have the same number, in the order of their first
// appearance; those that are 1 have none.
struct Kind {
  const Op* op = nullptr;
  Attrs attrs{attrs_type<NoAttrs>()};
  const Device* device = nullptr;
  InlineVector<int, 16> types;  // of each input: dtype, rank, the numbers of its sizes
};
constexpr int kOne = -1;

InlineVector<int, 16> types_of(std::span<const Tensor> inputs) {
  InlineVector<int, 16> types;
  InlineVector<int64_t, 8> sizes;
  for (const Tensor& input : inputs) {
    types.push_back(static_cast<int>(input.dtype()));
    types.push_back(input.rank());
    for (int i = 0; i < input.rank(); ++i) {
      const int64_t size = input.shape().size(i);
      const auto known = std::find(sizes.begin(), sizes.end(), size);
      types.push_back(size == 1 ? kOne : static_cast<int>(known - sizes.begin()));
      if (size != 1 && known == sizes.end()) sizes.push_back(size);
    }
  }
  return types;
}

// Eager tensors that a composite uses are constants of it, not captures.
class PartsBuilder final : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;
  Result<Tensor> capture(const Tensor& external, std::string_view name) override {
    return external.is_symbolic() ? GraphBuilder::capture(external, name) : add_constant(external);
  }
};

// An input of which no size is known, but which are equal.
Tensor add_input(PartsBuilder& builder, const Tensor& input, const int* sizes,
                 std::vector<Dim>& dims) {
  Shape shape;
  for (int i = 0; i < input.rank(); ++i) {
    shape.push_back(sizes[i] == kOne ? Dim(1) : Dim::unknown());
  }
  Node& node = symbolic(builder.add_placeholder(input.dtype(), shape, "x")).node();
  Shape& own = node.output(0).shape;
  for (int i = 0; i < input.rank(); ++i) {
    if (sizes[i] == kOne) continue;
    if (static_cast<size_t>(sizes[i]) == dims.size()) dims.push_back(own[i]);
    own.set(i, dims[static_cast<size_t>(sizes[i])]);
  }
  return symbolic_tensor(builder.graph_ref(), {&node, 0});
}

Result<Ref<Body>> make_body(const Kind& kind, std::span<const Tensor> inputs) {
  auto graph = make_ref<Graph>(kind.op->name());
  PartsBuilder builder(graph);
  Frame frame(&builder);
  frame.locations = nullptr;
  frame.device = kind.device->name();
  Tensors placeholders;
  std::vector<Dim> dims;
  const int* types = kind.types.data();
  for (const Tensor& input : inputs) {
    placeholders.push_back(add_input(builder, input, types + 2, dims));
    types += 2 + input.rank();
  }
  ASSIGN_OR_RETURN(Tensors outputs, expand_composite(builder, *kind.op, placeholders, kind.attrs));
  if (outputs.empty()) {
    return internal_error("the composite ", kind.op->name(), " does not know its parts");
  }
  std::vector<OutputRef> returned;
  for (const Tensor& output : outputs) {
    ASSIGN_OR_RETURN(Tensor inner, builder.capture(output, "output"));
    returned.push_back(symbolic(inner).output());
  }
  graph->set_outputs(std::move(returned));
  return Body::create(kind.op->name(), std::move(graph));
}

struct Kept {
  Kind kind;
  Ref<Body> body;
};
Mutex g_mutex;
// The newest first.
std::deque<Kept>& kept() REQUIRES(g_mutex) {
  static auto* all = new std::deque<Kept>();
  return *all;
}

Result<Ref<Body>> body_of(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                          const Device& device) {
  InlineVector<int, 16> types = types_of(inputs);
  auto find = [&]() REQUIRES(g_mutex) -> Ref<Body> {
    for (const Kept& one : kept()) {
      const Kind& kind = one.kind;
      if (kind.op == &op && kind.device == &device && std::ranges::equal(kind.types, types) &&
          attrs == kind.attrs) {
        return one.body;
      }
    }
    return {};
  };
  {
    MutexLock lock(g_mutex);
    if (Ref<Body> known = find()) return known;
  }
  Kind kind{&op, Attrs(attrs), &device, types};
  ASSIGN_OR_RETURN(Ref<Body> made, make_body(kind, inputs));
  Kept oldest;  // goes under no lock
  MutexLock lock(g_mutex);
  if (Ref<Body> known = find()) return known;
  if (kept().size() == kMaxKinds) {
    oldest = std::move(kept().back());
    kept().pop_back();
  }
  kept().push_front({std::move(kind), made});
  return made;
}

}  // namespace

Status run_composite(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                     const Device& device, Tensors& outputs) {
  ASSIGN_OR_RETURN(Ref<Body> body, body_of(op, attrs, inputs, device));
  ASSIGN_OR_RETURN(Ref<Program> program, program_of(body));
  const Status status = program->run(inputs, outputs);
  // The nodes are not the user's.
  return status.ok() ? status : status.with_payload(nullptr);
}

int64_t composite_bytes() {
  MutexLock lock(g_mutex);
  int64_t total = 0;
  for (const Kept& one : kept()) {
    total += bytes_of_block(sizeof(Kept)) + heap_bytes(one.kind.types) + one.body->bytes();
  }
  return total;
}

}  // namespace graven::engine
