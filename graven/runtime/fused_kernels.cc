#include "graven/runtime/fused_kernels.h"

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

int64_t FusionShapes::bytes() const {
  return static_cast<int64_t>(shapes_.inputs.size() * sizeof(Shape));
}

Expression fused_expression(const Fusion& fusion, std::span<const int> outputs) {
  std::vector<DType> inputs;
  std::vector<KnownInput> known;
  for (const FusionParts::Input& input : fusion.inputs()) {
    if (input.value) known.push_back({static_cast<int>(inputs.size()), *input.value});
    inputs.push_back(input.dtype);
  }
  std::vector<FusionMember> members;
  for (size_t m = 0; m < fusion.members().size(); ++m) {
    FusionMember member{&fusion.body(static_cast<int>(m)).per_element(), {}};
    for (FusionParts::Source source : fusion.members()[m].sources) {
      member.sources.push_back({source.member, source.member < 0 ? source.index : 0});
    }
    members.push_back(std::move(member));
  }
  std::vector<FusionMember::Source> results;
  for (int output : outputs) results.push_back({output, 0});
  return fuse_expressions(inputs, members, results, known);
}

}  // namespace graven::engine
