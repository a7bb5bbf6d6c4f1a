#include "graven/runtime/fused_kernels.h"

#include "graven/base/heap_bytes.h"
#include "graven/expr/fuse.h"

namespace graven::engine {

FusionShapes::FusionShapes(const Fusion& fusion) : has_symbols_(fusion.num_symbols() > 0) {
  for (const FusionParts::Input& input : fusion.inputs()) shapes_.inputs.push_back(input.shape);
  shapes_.space = fusion.space();
}

const FusionShapes::Found& FusionShapes::at(std::span<const int64_t> symbols, Found& found) const {
  if (!has_symbols_) return shapes_;
  auto with_sizes = [&](const Shape& shape) {
    Shape sizes;
    for (Dim dim : shape.dims()) sizes.push_back(fusion_size(dim, symbols));
    return sizes;
  };
  for (const Shape& shape : shapes_.inputs) found.inputs.push_back(with_sizes(shape));
  found.space = with_sizes(shapes_.space);
  return found;
}

int64_t FusionShapes::bytes() const { return heap_bytes(shapes_.inputs); }

Status must_broadcast(const Fusion& fusion) {
  for (const FusionParts::Input& input : fusion.inputs()) {
    if (input.whole) continue;
    auto usual = Read::broadcasting(input.shape, fusion.space());
    if (usual && *usual == input.read) continue;
    return unimplemented("block programs read inputs as they broadcast, not at ",
                         input.read.to_text());
  }
  return {};
}

Expression fused_expression(const Fusion& fusion, std::span<const int> outputs) {
  std::vector<DType> inputs;
  std::vector<KnownInput> known;
  std::vector<int> number_of;  // of each input of the fusion, among `inputs`
  for (const FusionParts::Input& input : fusion.inputs()) {
    const int number = static_cast<int>(inputs.size());
    number_of.push_back(number);
    if (input.whole) continue;
    if (input.value) known.push_back({number, *input.value});
    inputs.push_back(input.dtype);
  }
  const int first = fusion.has_library() ? 1 : 0;  // of the members that are expressions
  const int result = static_cast<int>(inputs.size());
  if (first > 0) inputs.push_back(fusion.members()[0].dtype);
  std::vector<FusionMember> members;
  for (int m = first; m < static_cast<int>(fusion.members().size()); ++m) {
    FusionMember member{&fusion.body(m).per_element(), {}, m};
    for (FusionParts::Source source : fusion.members()[m].sources) {
      if (source.member >= first) {
        member.sources.push_back({source.member - first, 0});
      } else {
        member.sources.push_back({-1, source.member < 0 ? number_of[source.index] : result});
      }
    }
    members.push_back(std::move(member));
  }
  std::vector<FusionMember::Source> results;
  for (int output : outputs) results.push_back({output - first, 0});
  return fuse_expressions(inputs, members, results, known);
}

}  // namespace graven::engine
