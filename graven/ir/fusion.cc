#include "graven/ir/fusion.h"

#include <algorithm>

#include "graven/base/strings.h"

namespace graven::engine {
namespace {

bool equal_members(const FusionParts::Member& a, const FusionParts::Member& b) {
  return a.op == b.op && a.dtype == b.dtype && a.sources == b.sources &&
         AttrsRef(a.attrs) == AttrsRef(b.attrs);
}

}  // namespace

void add_ref_to(const Fusion* fusion) { fusion->add_ref(); }
void drop_ref_of(const Fusion* fusion) { fusion->drop_ref(); }

std::string fusion_dim_text(Dim dim) {
  if (dim.is_unknown()) return "?";
  return dim.is_number() ? str_cat(dim.number()) : str_cat("d", dim.term_index());
}

Result<Ref<const Fusion>> Fusion::create(FusionParts parts) {
  Ref<Fusion> fusion(new Fusion());
  fusion->parts_ = std::move(parts);
  RETURN_IF_ERROR(fusion->finish());
  return Ref<const Fusion>(std::move(fusion));
}

bool Fusion::is_reduced_input(int input) const {
  return std::ranges::none_of(
      parts_.reduced, [&](int axis) { return parts_.inputs[input].read.varies_with(axis); });
}

Status Fusion::finish() {
  const int rank = space().rank();
  if (!space().has_rank() || rank > FusionLimits::kMaxRank) {
    return invalid_argument("a fusion is over at most ", FusionLimits::kMaxRank, " axes");
  }
  for (size_t i = 0; i < parts_.reduced.size(); ++i) {
    if (parts_.reduced[i] < 0 || parts_.reduced[i] >= rank ||
        (i > 0 && parts_.reduced[i] <= parts_.reduced[i - 1])) {
      return invalid_argument("the reduced axes of a fusion must ascend within ", rank, " axes");
    }
  }
  hash_ = hash_of(AttrValue(space()));
  auto mix = [&](uint64_t word) { hash_ = hash_combine(hash_, word); };
  auto count_symbols = [&](const Shape& shape) -> Status {
    for (Dim dim : shape.dims()) {
      if (dim.is_unknown()) return invalid_argument("a fusion has no unknown sizes");
      if (!dim.is_term()) continue;
      if (dim.term_index() > num_symbols_) {
        return invalid_argument("the symbols of a fusion are numbered as they appear first");
      }
      num_symbols_ = std::max(num_symbols_, static_cast<int>(dim.term_index()) + 1);
    }
    return {};
  };
  RETURN_IF_ERROR(count_symbols(space()));
  for (const FusionParts::Input& input : parts_.inputs) {
    RETURN_IF_ERROR(count_symbols(input.shape));
    if (input.shape.rank() != static_cast<int>(input.read.axes.size())) {
      return invalid_argument("a fusion reads ", input.read.axes.size(), " axes of an input of ",
                              input.shape.rank());
    }
    for (const Read::Axis& axis : input.read.axes) {
      for (const Read::Term& term : axis.terms) {
        if (term.index < 0 || term.index >= rank) {
          return invalid_argument("there is no index i", term.index, " over ", rank, " axes");
        }
      }
    }
    if (input.value && (!is_integer(input.dtype) || input.shape.checked_num_elements() != 1)) {
      return invalid_argument("a known input of a fusion is one integer");
    }
    mix(static_cast<uint64_t>(input.dtype));
    if (input.value) mix(*input.value);
    mix(hash_of(AttrValue(input.shape)));
  }
  for (size_t m = 0; m < parts_.members.size(); ++m) {
    const FusionParts::Member& member = parts_.members[m];
    InlineVector<DType, 8> dtypes;
    bool is_reduced = true;
    for (FusionParts::Source source : member.sources) {
      const bool is_member = source.member >= 0;
      const size_t number = static_cast<size_t>(is_member ? source.member : source.index);
      if (source.member < -1 || source.index < 0 ||
          number >= (is_member ? m : parts_.inputs.size())) {
        return invalid_argument("member ", m, " of a fusion reads what is not there");
      }
      dtypes.push_back(is_member ? parts_.members[number].dtype : parts_.inputs[number].dtype);
      is_reduced &= is_member ? is_reduced_[number] : is_reduced_input(static_cast<int>(number));
      mix(hash_combine(static_cast<uint64_t>(source.member), static_cast<uint64_t>(source.index)));
    }
    const Op& op = *member.op;
    if (dtypes.empty()) return invalid_argument("[", op.name(), "] in a fusion reads nothing");
    const bool is_reduction = op.record().body.kind() == OpBody::Kind::kReduction;
    TypeBindings bindings;
    InlineVector<DType, 8> inputs = dtypes;
    if (is_reduction) inputs.push_back(DType::kInt32);  // the axes
    RETURN_IF_ERROR(op.bind_types(std::span<const DType>(inputs.data(), inputs.size()),
                                  member.attrs, /*eager=*/false, bindings));
    const OpBody::Kind kind = op.record().body.kind_for(dtypes.back(), member.attrs);
    if (kind != OpBody::Kind::kElementwise && kind != OpBody::Kind::kReduction &&
        kind != OpBody::Kind::kRows) {
      return invalid_argument("[", op.name(), "] is not computed element by element");
    }
    if (kind == OpBody::Kind::kRows && (is_reduced || parts_.reduced != std::vector{rank - 1})) {
      return invalid_argument("[", op.name(), "] in a fusion needs the last axis reduced");
    }
    ASSIGN_OR_RETURN(Ref<const RecordedBody> body,
                     RecordedBody::get(op, member.attrs, dtypes, member.dtype));
    is_reduced_.push_back(!parts_.reduced.empty() && (is_reduction || is_reduced));
    bodies_.push_back(std::move(body));
    mix(static_cast<uint64_t>(op.index()));
    mix(AttrsRef(member.attrs).hash());
  }
  if (parts_.outputs.empty()) return invalid_argument("a fusion returns nothing");
  for (int output : parts_.outputs) {
    if (output < 0 || output >= static_cast<int>(parts_.members.size())) {
      return invalid_argument("a fusion returns member ", output, ", which is not there");
    }
    mix(static_cast<uint64_t>(output));
  }
  if (!parts_.origins.empty() && parts_.origins.size() != parts_.members.size()) {
    return invalid_argument("a fusion has ", parts_.origins.size(), " origins of ",
                            parts_.members.size(), " members");
  }
  return {};
}

bool operator==(const Fusion& a, const Fusion& b) {
  const FusionParts &x = a.parts(), &y = b.parts();
  return a.hash() == b.hash() && x.space == y.space && x.reduced == y.reduced &&
         x.inputs == y.inputs && x.outputs == y.outputs &&
         std::ranges::equal(x.members, y.members, equal_members);
}

int64_t Fusion::bytes() const {
  size_t total = sizeof(Fusion) + parts_.outputs.size() * sizeof(int);
  for (const FusionParts::Input& input : parts_.inputs) {
    total += sizeof(input) + input.read.axes.size() * (sizeof(Read::Axis) + sizeof(Read::Term));
  }
  for (const FusionParts::Member& member : parts_.members) {
    total += sizeof(member) + AttrsRef(member.attrs).type().size +
             member.sources.size() * sizeof(FusionParts::Source) + sizeof(bodies_[0]);
  }
  for (const FusionParts::Origin& origin : parts_.origins) {
    total += sizeof(origin) + origin.node.size();
  }
  return static_cast<int64_t>(total);
}

}  // namespace graven::engine
