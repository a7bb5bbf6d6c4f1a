#include "graven/ir/read.h"

#include <algorithm>

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

bool Read::only_broadcasts() const {
  return std::ranges::all_of(axes, [](const Axis& axis) {
    return axis.offset == Dim(0) &&
           (axis.terms.empty() || (axis.terms.size() == 1 && axis.terms[0].coefficient == Dim(1)));
  });
}

std::string Read::to_text() const {
  std::vector<std::string> texts;
  for (const Axis& axis : axes) {
    std::string text;
    for (const Term& term : axis.terms) {
      if (!text.empty()) text += " + ";
      if (!(term.coefficient == Dim(1))) text += fusion_dim_text(term.coefficient) + "*";
      text += str_cat("i", term.index);
    }
    if (text.empty() || !(axis.offset == Dim(0))) {
      text += str_cat(text.empty() ? "" : " + ", fusion_dim_text(axis.offset));
    }
    texts.push_back(text + (axis.broadcasts ? "?" : ""));
  }
  return str_cat("[", str_join(texts, ","), "]");
}

}  // namespace graven::engine
