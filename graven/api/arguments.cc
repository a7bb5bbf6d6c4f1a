#include "graven/api/arguments.h"

#include "graven/api/error.h"

namespace graven {

Sizes::Sizes(const Shape& shape, Here location) {
  if (!shape.is_fully_known()) {
    throw_error(engine::value_error("The shape ", shape.to_text(),
                                    " is not fully known. graven::shape(x) gives the sizes that x "
                                    "has when the function runs"),
                location);
  }
  numbers.emplace();
  for (Dim dim : shape.dims()) numbers->push_back(dim.number());
}

}  // namespace graven
