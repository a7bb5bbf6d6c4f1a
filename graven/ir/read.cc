#include "graven/ir/read.h"

#include <algorithm>
#include <limits>

#include "graven/base/strings.h"
#include "graven/ir/fusion.h"

namespace graven::engine {

std::optional<Read> Read::broadcasting(const Shape& shape, const Shape& space) {
  const int missing = space.rank() - shape.rank();
  if (missing < 0) return std::nullopt;
  Read read;
  for (int i = 0; i < shape.rank(); ++i) {
    const Dim size = shape[i], all = space[i + missing];
    Axis axis;
    if (!(size == Dim(1))) {
      if (!(size == all)) {
        if (size.is_number() && all.is_number()) return std::nullopt;
        axis.broadcasts = true;
      }
      axis.terms.push_back({i + missing, 1});
    }
    read.axes.push_back(std::move(axis));
  }
  return read;
}

Read Read::of_leading_axes(int rank) {
  Read read;
  for (int i = 0; i < rank; ++i) read.axes.push_back({0, {{i, 1}}, false});
  return read;
}

bool Read::varies_with(int index) const {
  return std::ranges::any_of(axes, [&](const Axis& axis) {
    return std::ranges::any_of(axis.terms, [&](const Term& term) { return term.index == index; });
  });
}

bool Read::only_broadcasts(const Shape& shape, const Shape& space) const {
  int last = -1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    const Dim size = shape[static_cast<int>(i)];
    if (!(axis.offset == Dim(0)) || axis.backwards || axis.terms.size() > 1) return false;
    if (axis.terms.empty()) {
      if (!(size == Dim(1))) return false;
      continue;
    }
    const Term& term = axis.terms[0];
    const bool is_whole = axis.broadcasts || size == space[term.index];
    if (!(term.coefficient == Dim(1)) || term.index <= last || !is_whole) return false;
    last = term.index;
  }
  return true;
}

std::optional<int64_t> last_index(const Read::Axis& axis, const Shape& space,
                                  FunctionRef<int64_t(Dim)> value) {
  for (Dim dim : space.dims()) {
    if (value(dim) == 0) return std::nullopt;
  }
  int64_t last = value(axis.offset);
  if (last < 0) return std::nullopt;
  for (const Read::Term& term : axis.terms) {
    const int64_t size = value(space[term.index]), step = value(term.coefficient);
    int64_t most;
    if (size < 0 || step < 0) return std::nullopt;
    if (__builtin_mul_overflow(step, size - 1, &most) ||
        __builtin_add_overflow(last, most, &last)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return last;
}

std::string Read::to_text() const {
  std::vector<std::string> texts;
  for (const Axis& axis : axes) {
    std::string text;
    const std::string_view joint = axis.backwards ? " - " : " + ";
    if (axis.backwards) {
      const bool is_number = axis.offset.is_number();
      text = is_number ? str_cat("-", axis.offset.number() + 1)
                       : str_cat("-1 - ", fusion_dim_text(axis.offset));
    }
    for (const Term& term : axis.terms) {
      if (!text.empty()) text += joint;
      if (!(term.coefficient == Dim(1))) text += fusion_dim_text(term.coefficient) + "*";
      text += str_cat("i", term.index);
    }
    if (text.empty() || (!axis.backwards && !(axis.offset == Dim(0)))) {
      text += str_cat(text.empty() ? "" : joint, fusion_dim_text(axis.offset));
    }
    texts.push_back(text + (axis.broadcasts ? "?" : ""));
  }
  return str_cat("[", str_join(texts, ","), "]");
}

}  // namespace graven::engine
