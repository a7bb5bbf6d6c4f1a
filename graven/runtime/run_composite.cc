#include "graven/runtime/run_composite.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graven/base/hash.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/inline_vector.h"
#include "graven/base/mutex.h"
#include "graven/ir/body.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/parts_builder.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_op.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {
namespace {

// Attributes may be any numbers, so the number of keys has no bound: the one that was not called
// for the longest time is dropped.
constexpr size_t kMaxKeys = 256;

// The key of one Program. Sizes that are equal have the same number, in the order of their first
// appearance; sizes that are 1 have none.
struct CompositeKey {
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

Result<Ref<Body>> make_body(const CompositeKey& key, std::span<const Tensor> inputs) {
  auto graph = make_ref<Graph>(key.op->name());
  PartsBuilder builder(graph);
  Frame frame(&builder);
  frame.locations = nullptr;
  frame.device = key.device->name();
  Tensors placeholders;
  std::vector<Dim> dims;
  const int* types = key.types.data();
  for (const Tensor& input : inputs) {
    placeholders.push_back(add_input(builder, input, types + 2, dims));
    types += 2 + input.rank();
  }
  ASSIGN_OR_RETURN(Tensors outputs, expand_composite(builder, *key.op, placeholders, key.attrs));
  if (outputs.empty()) {
    return internal_error("the composite ", key.op->name(), " does not know its parts");
  }
  std::vector<OutputRef> returned;
  for (const Tensor& output : outputs) {
    ASSIGN_OR_RETURN(Tensor inner, builder.capture(output, "output"));
    returned.push_back(symbolic(inner).output());
  }
  graph->set_outputs(std::move(returned));
  return Body::create(key.op->name(), std::move(graph));
}

uint64_t hash_of(const Op& op, AttrsRef attrs, const Device& device, std::span<const int> types) {
  uint64_t h =
      hash_combine(static_cast<uint64_t>(op.index()), reinterpret_cast<uintptr_t>(&device));
  if (!attrs.type().fields.empty()) h = hash_combine(h, attrs.hash());
  for (int type : types) h = hash_combine(h, static_cast<uint64_t>(type));
  return h;
}

// The Programs of kinds that were called again, and which kinds were called once: an attribute that
// differs in each call makes no Programs.
class Composites {
 public:
  // The body of a key, or null if this is its first call.
  Result<Ref<Body>> find_or_make(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                                 const Device& device) {
    const InlineVector<int, 16> types = types_of(inputs);
    const uint64_t hash = hash_of(op, attrs, device, types);
    {
      MutexLock lock(mutex_);
      if (Ref<Body> known = find(hash, op, attrs, device, types)) return known;
      // Op by op nothing says on which device it runs.
      if (!was_called(hash) && !has_other_devices()) return Ref<Body>();
    }
    CompositeKey key{&op, Attrs(attrs), &device, types};
    ASSIGN_OR_RETURN(Ref<Body> made, make_body(key, inputs));
    Ref<Body> gone;  // under no lock
    MutexLock lock(mutex_);
    if (Ref<Body> known = find(hash, op, attrs, device, types)) return known;
    if (kept_.size() >= kMaxKeys) {
      auto least =
          std::ranges::min_element(kept_, {}, [](const auto& one) { return one.second.last_call; });
      gone = std::move(least->second.body);
      kept_.erase(least);
    }
    kept_.emplace(hash, Kept{std::move(key), made, ++calls_});
    return made;
  }

  int64_t bytes() {
    MutexLock lock(mutex_);
    int64_t total = heap_bytes(kept_);
    for (const auto& [hash, one] : kept_) {
      total += heap_bytes(one.key.types) + one.body->bytes();
    }
    return total;
  }

 private:
  struct Kept {
    CompositeKey key;
    Ref<Body> body;
    uint64_t last_call = 0;
  };

  Ref<Body> find(uint64_t hash, const Op& op, AttrsRef attrs, const Device& device,
                 std::span<const int> types) REQUIRES(mutex_) {
    const auto at = kept_.find(hash);
    if (at == kept_.end()) return {};
    const CompositeKey& key = at->second.key;
    const bool is_same = key.op == &op && key.device == &device &&
                         std::ranges::equal(key.types, types) && attrs == key.attrs;
    if (!is_same) return {};
    at->second.last_call = ++calls_;
    return at->second.body;
  }

  bool was_called(uint64_t hash) REQUIRES(mutex_) {
    uint64_t& place = called_[hash % std::size(called_)];
    return std::exchange(place, hash) == hash;
  }

  Mutex mutex_;
  std::unordered_map<uint64_t, Kept> kept_ GUARDED_BY(mutex_);
  uint64_t calls_ GUARDED_BY(mutex_) = 0;
  uint64_t called_[kMaxKeys] GUARDED_BY(mutex_) = {};
};

Composites& composites() {
  static auto* all = new Composites();
  return *all;
}

// The error of a part as that of the op that was called. An exception of the user stays one.
Status error_of(const Op& op, const Status& status) {
  const bool is_of_part =
      !status.payload() || dynamic_cast<const ExecutionError*>(status.payload().get()) != nullptr;
  if (!is_of_part) return status;
  std::string_view message = status.message();
  if (const size_t end = message.find("] "); message.starts_with('[') && end != message.npos) {
    message.remove_prefix(end + 2);
  }
  return with_op_name(op, Status(status.code(), std::string(message), status.kind()));
}

}  // namespace

Status run_composite(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                     const Device& device, Tensors& outputs) {
  ASSIGN_OR_RETURN(Ref<Body> body, composites().find_or_make(op, attrs, inputs, device));
  if (!body) {
    auto parts = expand_composite(eager_builder(), op, inputs, attrs);
    if (!parts.ok()) return error_of(op, parts.status());
    if (parts->empty()) return internal_error(op.name(), " does not know its parts");
    // As in a Program, an output that is an input, or is returned twice, becomes an object of its
    // own.
    for (Tensor& part : *parts) {
      const bool is_own = part.object()->is_unique();
      outputs.push_back(is_own ? std::move(part) : part.with_shape(part.shape()));
    }
    return {};
  }
  ASSIGN_OR_RETURN(Ref<Program> program, program_of(body));
  const Status status = program->run(inputs, outputs);
  return status.ok() ? status : error_of(op, status);
}

int64_t composite_bytes() { return composites().bytes(); }

}  // namespace graven::engine
