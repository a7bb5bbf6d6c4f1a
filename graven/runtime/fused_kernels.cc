#include "graven/runtime/fused_kernels.h"

#include <algorithm>
#include <cassert>

#include "graven/base/heap_bytes.h"
#include "graven/expr/fuse.h"

namespace graven::engine {

FusionOperands::FusionOperands(const Fusion& fusion)
    : has_symbols_(fusion.num_symbols() > 0),
      space_(fusion.space()),
      inputs_(fusion.inputs().begin(), fusion.inputs().end()) {
  for (const FusionParts::Input& input : inputs_) {
    auto usual = Read::broadcasting(input.shape, space_);
    is_strided_.push_back(!input.whole && (!usual || !(*usual == input.read)));
  }
  if (has_symbols_) return;
  // The Fusion has checked its reads.
  const Status filled = fill({}, sizes_);
  assert(filled.ok());
  inputs_.clear();
}

Status FusionOperands::find(const Kernel::Arguments& arguments, Found& found) const {
  found.sizes = has_symbols_ ? &found.made : &sizes_;
  if (has_symbols_) RETURN_IF_ERROR(fill(arguments.symbols, found.made));
  size_t strided = 0;
  for (size_t i = 0; i < arguments.inputs.size(); ++i) {
    StridedInput operand{arguments.inputs[i], &found.sizes->inputs[i]};
    if (is_strided_[i]) {
      const Steps& steps = found.sizes->steps[strided++];
      operand.data = static_cast<const std::byte*>(operand.data) + steps.first;
      operand.strides = steps.strides.data();
    }
    found.operands.push_back(operand);
  }
  return {};
}

Status FusionOperands::fill(std::span<const int64_t> symbols, Sizes& sizes) const {
  auto value = [&](Dim dim) { return fusion_size(dim, symbols); };
  auto with_sizes = [&](const Shape& shape) {
    Shape known;
    for (Dim dim : shape.dims()) known.push_back(value(dim));
    return known;
  };
  sizes.space = with_sizes(space_);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const FusionParts::Input& input = inputs_[i];
    const Shape& shape = sizes.inputs.emplace_back(with_sizes(input.shape));
    if (!is_strided_[i]) continue;
    Steps& steps = sizes.steps.emplace_back();
    steps.strides.resize(static_cast<size_t>(space_.rank()), 0);
    int64_t step = 1;  // of an axis of the input
    for (int k = shape.rank() - 1; k >= 0; step *= shape.size(k), --k) {
      const Read::Axis& axis = input.read.axes[k];
      if (axis.broadcasts && shape.size(k) == 1) continue;
      const auto last = last_index(axis, space_, value);
      if (last && *last >= shape.size(k)) {
        return internal_error("index ", *last, " of an axis of size ", shape.size(k),
                              " would be read");
      }
      const int64_t offset = value(axis.offset), sign = axis.backwards ? -1 : 1;
      if (last) steps.first += step * (axis.backwards ? shape.size(k) - 1 - offset : offset);
      for (const Read::Term& term : axis.terms) {
        steps.strides[term.index] += sign * step * value(term.coefficient);
      }
    }
    steps.first *= static_cast<int64_t>(dtype_size(input.dtype));
  }
  return {};
}

uint64_t FusionOperands::overwritable_by(const Fusion& fusion, int member) const {
  const size_t size = dtype_size(fusion.members()[member].dtype);
  uint64_t overwritable = 0;
  for (size_t i = 0; i < std::min<size_t>(fusion.inputs().size(), 64); ++i) {
    const FusionParts::Input& input = fusion.inputs()[i];
    const bool is_in_place = !input.whole && !is_strided(i) && input.shape == fusion.space();
    if (is_in_place && dtype_size(input.dtype) == size) overwritable |= uint64_t{1} << i;
  }
  return overwritable;
}

int64_t FusionOperands::bytes() const {
  int64_t total = heap_bytes(inputs_) + heap_bytes(is_strided_) + heap_bytes(sizes_.inputs) +
                  heap_bytes(sizes_.steps);
  for (const Steps& steps : sizes_.steps) total += heap_bytes(steps.strides);
  return total;
}

Status must_broadcast(const Fusion& fusion) {
  for (const FusionParts::Input& input : fusion.inputs()) {
    if (input.whole) continue;
    auto usual = Read::broadcasting(input.shape, fusion.space());
    if (usual && *usual == input.read) continue;
    return unimplemented("panels of a library member are not read at ", input.read.to_text());
  }
  return {};
}

std::vector<bool> needed_members(const Fusion& fusion, std::span<const int> outputs) {
  const int size = static_cast<int>(fusion.members().size());
  std::vector<bool> is_needed(static_cast<size_t>(size), false);
  for (int output : outputs) is_needed[static_cast<size_t>(output)] = true;
  for (int m = size; m-- > 0;) {
    if (!is_needed[static_cast<size_t>(m)]) continue;
    for (FusionParts::Source source : fusion.members()[m].sources) {
      if (source.member >= 0) is_needed[static_cast<size_t>(source.member)] = true;
    }
  }
  return is_needed;
}

Expression fused_expression(const Fusion& fusion, std::span<const int> outputs) {
  return fused_expression(fusion, outputs, std::vector<bool>(fusion.members().size(), true),
                          nullptr);
}

Expression fused_expression(const Fusion& fusion, std::span<const int> outputs,
                            const std::vector<bool>& is_member, InlineVector<int, 8>* reads) {
  const int first = fusion.has_library() ? 1 : 0;  // of the members that are expressions
  const int size = static_cast<int>(fusion.members().size());
  std::vector<bool> is_read(fusion.inputs().size(), reads == nullptr);
  for (int m = first; m < size; ++m) {
    for (FusionParts::Source source : fusion.members()[m].sources) {
      const bool is_needed = is_member[static_cast<size_t>(m)] && source.member < 0;
      if (is_needed) is_read[static_cast<size_t>(source.index)] = true;
    }
  }
  std::vector<DType> inputs;
  std::vector<KnownInput> known;
  std::vector<int> number_of;  // of each input of the fusion, among `inputs`
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    const FusionParts::Input& input = fusion.inputs()[i];
    const int number = static_cast<int>(inputs.size());
    number_of.push_back(number);
    if (input.whole || !is_read[i]) continue;
    if (reads) reads->push_back(static_cast<int>(i));
    if (input.value) known.push_back({number, *input.value});
    inputs.push_back(input.dtype);
  }
  const int result = static_cast<int>(inputs.size());
  if (first > 0) inputs.push_back(fusion.members()[0].dtype);
  std::vector<FusionMember> members;
  std::vector<int> place(fusion.members().size(), -1);  // among `members`
  for (int m = first; m < size; ++m) {
    if (!is_member[static_cast<size_t>(m)]) continue;
    FusionMember member{&fusion.body(m).per_element(), {}, m};
    for (FusionParts::Source source : fusion.members()[m].sources) {
      if (source.member >= first) {
        member.sources.push_back({place[static_cast<size_t>(source.member)], 0});
      } else {
        member.sources.push_back({-1, source.member < 0 ? number_of[source.index] : result});
      }
    }
    place[static_cast<size_t>(m)] = static_cast<int>(members.size());
    members.push_back(std::move(member));
  }
  std::vector<FusionMember::Source> results;
  for (int output : outputs) results.push_back({place[static_cast<size_t>(output)], 0});
  return fuse_expressions(inputs, members, results, known);
}

}  // namespace graven::engine
