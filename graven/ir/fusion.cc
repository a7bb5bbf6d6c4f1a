#include "graven/ir/fusion.h"

#include <algorithm>

#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"

namespace graven::engine {
namespace {

bool equal_members(const FusionParts::Member& a, const FusionParts::Member& b) {
  return a.op == b.op && a.dtype == b.dtype && a.sources == b.sources &&
         AttrsRef(a.attrs) == AttrsRef(b.attrs);
}

// Where numbers alone tell it, an input is read within itself. The rest is known when it runs.
Status check_reads(const FusionParts::Input& input, const Shape& space) {
  for (int k = 0; k < static_cast<int>(input.read.axes.size()); ++k) {
    const Read::Axis& axis = input.read.axes[static_cast<size_t>(k)];
    auto last = last_index(axis, space, [](Dim dim) { return dim.number_or_minus_one(); });
    const bool is_known = input.shape[k].is_number() && last;
    if (is_known && !axis.broadcasts && *last >= input.shape[k].number()) {
      return invalid_argument("a fusion reads index ", *last, " of an axis of size ",
                              input.shape[k].number());
    }
  }
  return {};
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
  RETURN_IF_ERROR(count_symbols(space()));
  for (const FusionParts::Input& input : parts_.inputs) RETURN_IF_ERROR(check_input(input));
  for (size_t m = 0; m < parts_.members.size(); ++m) {
    RETURN_IF_ERROR(add_member(int(m)));
    if (is_reduction(int(m)) && parts_.reduced.empty()) {
      return invalid_argument("a fusion with a reduction has axes that are reduced");
    }
  }
  if (parts_.outputs.empty()) return invalid_argument("a fusion returns nothing");
  for (int output : parts_.outputs) {
    if (output < 0 || output >= static_cast<int>(parts_.members.size())) {
      return invalid_argument("a fusion returns member ", output, ", which is not there");
    }
    if (output == 0 && has_library()) {
      return invalid_argument("a fusion does not return its library member");
    }
    mix(static_cast<uint64_t>(output));
  }
  for (int i = 0; i < static_cast<int>(parts_.inputs.size()); ++i) {
    const auto& read = parts_.members[0].sources;
    if (parts_.inputs[i].whole && std::ranges::count(read, FusionParts::Source{-1, i}) == 0) {
      return invalid_argument("an input of a fusion that nobody reads is not read whole");
    }
  }
  if (!parts_.origins.empty() && parts_.origins.size() != parts_.members.size()) {
    return invalid_argument("a fusion has ", parts_.origins.size(), " origins of ",
                            parts_.members.size(), " members");
  }
  return {};
}

Status Fusion::count_symbols(const Shape& shape) {
  for (Dim dim : shape.dims()) {
    if (dim.is_unknown()) return invalid_argument("a fusion has no unknown sizes");
    if (!dim.is_term()) continue;
    if (dim.term_index() > num_symbols_) {
      return invalid_argument("the symbols of a fusion are numbered as they appear first");
    }
    num_symbols_ = std::max(num_symbols_, static_cast<int>(dim.term_index()) + 1);
  }
  return {};
}

Status Fusion::check_input(const FusionParts::Input& input) {
  RETURN_IF_ERROR(count_symbols(input.shape));
  const size_t rank = input.whole ? 0 : static_cast<size_t>(input.shape.rank());
  if (rank != input.read.axes.size()) {
    return invalid_argument("a fusion reads ", input.read.axes.size(), " axes of an input of ",
                            rank);
  }
  for (const Read::Axis& axis : input.read.axes) {
    RETURN_IF_ERROR(count_symbols({axis.offset}));
    for (const Read::Term& term : axis.terms) {
      if (term.index < 0 || term.index >= space().rank()) {
        return invalid_argument("there is no index i", term.index, " over ", space().rank(),
                                " axes");
      }
      RETURN_IF_ERROR(count_symbols({term.coefficient}));
      mix(hash_combine(static_cast<uint64_t>(term.index),
                       static_cast<uint64_t>(term.coefficient.word())));
    }
    const bool is_one_index =
        axis.terms.size() == 1 && axis.terms[0].coefficient == Dim(1) && axis.offset == Dim(0);
    if (axis.broadcasts && (!is_one_index || axis.backwards)) {
      return invalid_argument("an axis that broadcasts is read at an index of its own");
    }
    mix(hash_combine(static_cast<uint64_t>(axis.offset.word()), axis.backwards ? 1 : 0));
  }
  RETURN_IF_ERROR(check_reads(input, space()));
  if (input.value &&
      (input.whole || !is_integer(input.dtype) || input.shape.checked_num_elements() != 1)) {
    return invalid_argument("a known input of a fusion is one integer");
  }
  mix(static_cast<uint64_t>(input.dtype) + (input.whole ? 256 : 0));
  if (input.value) mix(*input.value);
  mix(hash_of(AttrValue(input.shape)));
  return {};
}

Status Fusion::add_member(int number) {
  const FusionParts::Member& member = parts_.members[number];
  const Op& op = *member.op;
  InlineVector<DType, 8> dtypes;
  bool is_reduced = true, reads_whole = false, reads_parts = false;
  for (FusionParts::Source source : member.sources) {
    const bool is_member = source.member >= 0;
    const int from = is_member ? source.member : source.index;
    if (source.member < -1 || source.index < 0 ||
        from >= (is_member ? number : static_cast<int>(parts_.inputs.size()))) {
      return invalid_argument("member ", number, " of a fusion reads what is not there");
    }
    dtypes.push_back(is_member ? parts_.members[from].dtype : parts_.inputs[from].dtype);
    is_reduced &= is_member ? is_reduced_[from] : is_reduced_input(from);
    (!is_member && parts_.inputs[from].whole ? reads_whole : reads_parts) = true;
    mix(hash_combine(static_cast<uint64_t>(source.member), static_cast<uint64_t>(source.index)));
  }
  mix(static_cast<uint64_t>(op.index()));
  mix(AttrsRef(member.attrs).hash());
  if (dtypes.empty()) return invalid_argument("[", op.name(), "] in a fusion reads nothing");
  if (reads_whole) {
    if (number != 0 || reads_parts) {
      return invalid_argument("[", op.name(), "] in a fusion reads an input whole, which only ",
                              "member 0 may do, of all its inputs");
    }
    return check_library_member(member, dtypes);
  }
  const bool is_reduction = op.record().body.kind() == OpBody::Kind::kReduction;
  TypeBindings bindings;
  InlineVector<DType, 8> inputs = dtypes;
  if (is_reduction && op.inputs().size() > 1) inputs.push_back(DType::kInt32);  // the axes
  if (is_reduction && op.inputs().size() == 1 &&
      static_cast<int>(parts_.reduced.size()) != space().rank()) {
    return invalid_argument("[", op.name(), "] in a fusion reduces all axes");
  }
  RETURN_IF_ERROR(op.bind_types(std::span<const DType>(inputs.data(), inputs.size()), member.attrs,
                                /*eager=*/false, bindings));
  const OpBody::Kind kind = op.record().body.kind_for(dtypes.back(), member.attrs);
  if (kind != OpBody::Kind::kElementwise && kind != OpBody::Kind::kReduction &&
      kind != OpBody::Kind::kRows) {
    return invalid_argument("[", op.name(), "] is not computed element by element");
  }
  if (kind == OpBody::Kind::kRows &&
      (is_reduced || parts_.reduced != std::vector{space().rank() - 1})) {
    return invalid_argument("[", op.name(), "] in a fusion needs the last axis reduced");
  }
  ASSIGN_OR_RETURN(Ref<const RecordedBody> body,
                   RecordedBody::get(op, member.attrs, dtypes, member.dtype));
  is_reduced_.push_back(!parts_.reduced.empty() && (is_reduction || is_reduced));
  bodies_.push_back(std::move(body));
  return {};
}

Status Fusion::check_library_member(const FusionParts::Member& member,
                                    std::span<const DType> dtypes) {
  const Op& op = *member.op;
  const OpBody::Kind kind = op.record().body.kind_for(dtypes.back(), member.attrs);
  if (!op.record().panels || kind != OpBody::Kind::kKernel) {
    return invalid_argument(
        "[", op.name(), "] does not tell of panels, so no fusion has it as its ", "library member");
  }
  if (!parts_.reduced.empty() || space().rank() == 0) {
    return invalid_argument("a fusion with a library member is over at least one axis and reduces ",
                            "none");
  }
  TypeBindings bindings;
  RETURN_IF_ERROR(op.bind_types(dtypes, member.attrs, /*eager=*/false, bindings));
  InlineVector<DType, 4> outputs;
  op.output_dtypes(bindings, member.attrs, static_cast<int>(dtypes.size()), outputs);
  if (outputs.size() != 1 || outputs[0] != member.dtype) {
    return invalid_argument("[", op.name(), "] in a fusion does not give one ",
                            dtype_name(member.dtype));
  }
  is_reduced_.push_back(false);
  bodies_.push_back(nullptr);
  return {};
}

bool operator==(const Fusion& a, const Fusion& b) {
  const FusionParts &x = a.parts(), &y = b.parts();
  return a.hash() == b.hash() && x.space == y.space && x.reduced == y.reduced &&
         x.inputs == y.inputs && x.outputs == y.outputs &&
         std::ranges::equal(x.members, y.members, equal_members);
}

int64_t Fusion::bytes() const {
  int64_t total = bytes_of_object<Fusion>() + heap_bytes(bodies_) + heap_bytes(is_reduced_) +
                  heap_bytes(parts_.reduced) + heap_bytes(parts_.inputs) +
                  heap_bytes(parts_.members) + heap_bytes(parts_.outputs) +
                  heap_bytes(parts_.origins);
  for (const FusionParts::Input& input : parts_.inputs) {
    total += heap_bytes(input.read.axes);
    for (const Read::Axis& axis : input.read.axes) total += heap_bytes(axis.terms);
  }
  for (const FusionParts::Member& member : parts_.members) {
    total += bytes_of_block(std::max<size_t>(AttrsRef(member.attrs).type().size, 1)) +
             heap_bytes(member.sources);
  }
  for (const FusionParts::Origin& origin : parts_.origins) total += heap_bytes(origin.node);
  return total;
}

}  // namespace graven::engine
