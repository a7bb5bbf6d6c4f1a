// Counts the bytes of graphs: the nodes in their pieces, their contents, tables of names. Bodies
// that nodes hold are counted by Body::bytes_of.
#include "graven/base/heap_bytes.h"
#include "graven/ir/body.h"
#include "graven/ir/fusion.h"
#include "graven/ir/graph.h"
#include "graven/tensor/tensor_bytes.h"

namespace graven::engine {
namespace {

// A symbol with its name, and the terms in which it stands, each of them kept twice: measured.
constexpr int64_t kBytesOfSymbol = 512, kBytesOfSymbols = 160;

int64_t heap_bytes_of(const Shape& shape) {
  return shape.rank() > 6 ? bytes_of_block(static_cast<size_t>(shape.rank()) * sizeof(Dim)) : 0;
}

struct AttrBytes {
  ByteCount& count;
  int64_t operator()(const std::string& text) const { return heap_bytes(text); }
  int64_t operator()(const Shape& shape) const { return heap_bytes_of(shape); }
  int64_t operator()(const Tensor& tensor) const { return bytes_of_tensor(tensor, count); }
  int64_t operator()(const Ref<const Fusion>& fusion) const {
    return fusion && count.is_first(fusion.get()) ? fusion->bytes() : 0;
  }
  template <typename T>
  int64_t operator()(const std::vector<T>& list) const {
    int64_t total = bytes_of_block(list.size() * sizeof(T));
    if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) {
      for (const T& item : list) total += (*this)(item);
    }
    return total;
  }
  template <typename T>
  int64_t operator()(const T&) const {
    return 0;
  }
};

int64_t heap_bytes_of(AttrsRef attrs, ByteCount& count) {
  int64_t total = bytes_of_block(std::max<size_t>(attrs.type().size, 1));
  for (const AttrField& field : attrs.type().fields) {
    total += std::visit(AttrBytes{count}, field.get(attrs.data()));
  }
  return total;
}

int64_t heap_bytes_of(const OutputType& type) {
  int64_t total = heap_bytes_of(type.shape);
  if (type.sizes) total += bytes_of_object<SymbolicValue>() + heap_bytes(*type.sizes);
  if (type.handle_data) {
    total += bytes_of_object<HandleData>() + heap_bytes(type.handle_data->components);
    for (const HeldType& held : type.handle_data->components) total += heap_bytes_of(held.shape);
  }
  return total;
}

}  // namespace

int64_t Graph::bytes_without_bodies() const {
  ByteCount count;
  int64_t total = bytes_of_object<Graph>() + heap_bytes(name_) + heap_bytes(arena_) +
                  heap_bytes(nodes_) + heap_bytes(inputs_) + heap_bytes(control_outputs_) +
                  heap_bytes(outputs_) + heap_bytes(used_names_) + heap_bytes(by_name_) +
                  heap_bytes(capture_of_) + kBytesOfSymbols +
                  symbols_.num_symbols() * kBytesOfSymbol;
  for (const auto& [name, suffix] : used_names_) total += heap_bytes(name);
  for (const Node& node : arena_) {
    total += heap_bytes(node.name_) + heap_bytes(node.device_) + heap_bytes(node.inputs_) +
             heap_bytes(node.control_inputs_) + heap_bytes(node.outputs_) +
             heap_bytes(node.extra_attributes_) + heap_bytes_of(node.attrs(), count);
    for (const OutputType& type : node.outputs_) total += heap_bytes_of(type);
    for (const auto& [name, value] : node.extra_attributes_) {
      total += heap_bytes(name) + std::visit(AttrBytes{count}, value);
    }
  }
  return total;
}

}  // namespace graven::engine
