#include <utility>

#include "graven/ir/graph_parser.h"

namespace graven::engine::graph_syntax {

Result<Ref<const Fusion>> GraphParser::fusion(const std::string& name) {
  auto at = fusions_.find(name);
  if (at == fusions_.end()) return cursor_.error("there is no fusion @", name);
  FusionSection& section = at->second;
  if (section.fusion) return section.fusion;
  size_t back = cursor_.at();
  cursor_.go_to(section.begin);
  FusionParts parts;
  RETURN_IF_ERROR(fusion_parts(parts));
  auto made = Fusion::create(std::move(parts));
  if (!made.ok()) return cursor_.error(made.status().message());
  section.fusion = std::move(*made);
  section.end = cursor_.at();
  cursor_.go_to(back);
  return section.fusion;
}

Status GraphParser::fusion_parts(FusionParts& parts) {
  if (!cursor_.accept_word("over")) return cursor_.expected("'over'");
  ASSIGN_OR_RETURN(parts.space, fusion_shape());
  if (cursor_.accept_word("reducing")) {
    RETURN_IF_ERROR(cursor_.expect("["));
    do {
      ASSIGN_OR_RETURN(parts.reduced.emplace_back(), cursor_.number<int>());
    } while (cursor_.accept(","));
    RETURN_IF_ERROR(cursor_.expect("]"));
  }
  RETURN_IF_ERROR(cursor_.expect("{"));
  while (!cursor_.accept_word("return")) {
    RETURN_IF_ERROR(cursor_.accept("%") ? fusion_member(parts) : fusion_input(parts));
  }
  do {
    ASSIGN_OR_RETURN(FusionParts::Source output, fusion_source());
    if (output.member < 0) return cursor_.error("a fusion returns members only");
    parts.outputs.push_back(output.member);
  } while (cursor_.accept(","));
  return cursor_.expect("}");
}

// "x1: float32[d0,3]", perhaps with "whole", "at [i0,0]" or, of an integer, "= 3" (its bits).
Status GraphParser::fusion_input(FusionParts& parts) {
  ASSIGN_OR_RETURN(FusionParts::Source source, fusion_source());
  if (source.member >= 0 || source.index != static_cast<int>(parts.inputs.size())) {
    return cursor_.error("inputs of a fusion are numbered in order");
  }
  FusionParts::Input input;
  RETURN_IF_ERROR(cursor_.expect(":"));
  ASSIGN_OR_RETURN(input.dtype, dtype());
  ASSIGN_OR_RETURN(input.shape, fusion_shape());
  if (cursor_.accept_word("whole")) {
    input.whole = true;
  } else if (cursor_.accept_word("at")) {
    ASSIGN_OR_RETURN(input.read, read());
  } else {
    auto read = Read::broadcasting(input.shape, parts.space);
    if (!read) return cursor_.error("the input does not broadcast: say how it is read");
    input.read = std::move(*read);
  }
  if (cursor_.accept("=")) {
    ASSIGN_OR_RETURN(input.value, cursor_.number<uint64_t>());
  }
  parts.inputs.push_back(std::move(input));
  return {};
}

// "%1: float32 = AddV2(x0, %0) {attributes}", behind the %.
Status GraphParser::fusion_member(FusionParts& parts) {
  ASSIGN_OR_RETURN(int number, cursor_.number<int>());
  if (number != static_cast<int>(parts.members.size())) {
    return cursor_.error("members of a fusion are numbered in order");
  }
  FusionParts::Member member;
  RETURN_IF_ERROR(cursor_.expect(":"));
  ASSIGN_OR_RETURN(member.dtype, dtype());
  RETURN_IF_ERROR(cursor_.expect("="));
  std::string_view op = cursor_.word();
  member.op = OpRegistry::global().find(op);
  RETURN_IF_ERROR(must_exist(member.op, op));
  RETURN_IF_ERROR(cursor_.expect("("));
  RETURN_IF_ERROR(list(")", [&]() -> Status {
    ASSIGN_OR_RETURN(member.sources.emplace_back(), fusion_source());
    return {};
  }));
  RETURN_IF_ERROR(cursor_.expect(")"));
  // Attributes of members hold no Dims of a graph.
  Graph none("");
  Scope scope{&none, {}};
  Draft draft;
  draft.op = member.op;
  draft.attrs.emplace(member.op->attrs_type());
  RETURN_IF_ERROR(attributes(scope, draft));
  member.attrs = *draft.attrs;
  parts.members.push_back(std::move(member));
  return {};
}

// "x3" or "%3".
Result<FusionParts::Source> GraphParser::fusion_source() {
  const bool is_member = cursor_.accept("%");
  if (!is_member) RETURN_IF_ERROR(cursor_.expect("x"));
  ASSIGN_OR_RETURN(int number, cursor_.number<int>());
  if (number < 0) return cursor_.error("a number below 0");
  return is_member ? FusionParts::Source{number, 0} : FusionParts::Source{-1, number};
}

// Symbols are d0, d1, ...
Result<Dim> GraphParser::fusion_dim() {
  const bool is_symbol = cursor_.accept("d");
  ASSIGN_OR_RETURN(int64_t number, cursor_.number<int64_t>());
  if (number < 0) return cursor_.error("a size or a symbol is below 0");
  return is_symbol ? Dim::term(number) : Dim(number);
}

Result<Shape> GraphParser::fusion_shape() {
  Shape shape;
  RETURN_IF_ERROR(cursor_.expect("["));
  RETURN_IF_ERROR(list("]", [&]() -> Status {
    ASSIGN_OR_RETURN(Dim dim, fusion_dim());
    shape.push_back(dim);
    return {};
  }));
  RETURN_IF_ERROR(cursor_.expect("]"));
  if (shape.rank() > kMaxRank) return cursor_.error("a shape has more than 254 dimensions");
  return shape;
}

// "[i0,2*i1 + 3,i2?,-1 - i3]"
Result<Read> GraphParser::read() {
  Read read;
  RETURN_IF_ERROR(cursor_.expect("["));
  RETURN_IF_ERROR(list("]", [&]() -> Status {
    Read::Axis axis;
    axis.backwards = cursor_.accept("-");
    bool has_end = axis.backwards;  // the number that says the end itself comes next
    do {
      Dim factor(1);
      if (cursor_.peek() != 'i') {
        ASSIGN_OR_RETURN(factor, fusion_dim());
        if (!cursor_.accept("*")) {
          const bool is_end = std::exchange(has_end, false);
          if (is_end && (!factor.is_number() || factor == Dim(0))) {
            return cursor_.error("the last index is -1");
          }
          axis.offset = is_end ? Dim(factor.number() - 1) : factor;
          continue;
        }
      }
      if (has_end) return cursor_.error("the last index is -1");
      RETURN_IF_ERROR(cursor_.expect("i"));
      ASSIGN_OR_RETURN(int index, cursor_.number<int>());
      axis.terms.push_back({index, factor});
    } while (cursor_.accept(axis.backwards ? "-" : "+"));
    axis.broadcasts = cursor_.accept("?");
    read.axes.push_back(std::move(axis));
    return {};
  }));
  RETURN_IF_ERROR(cursor_.expect("]"));
  return read;
}

}  // namespace graven::engine::graph_syntax
