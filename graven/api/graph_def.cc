#include "graven/api/graph_def.h"

#include <utility>
#include <variant>

#include "graven/api/error.h"
#include "graven/api/location.h"
#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/ir/import_graph_def.h"
#include "graven/runtime/eager_builder.h"

namespace graven {

GraphDef as_graph_def(const ConcreteFunction& function, bool add_shapes) {
  return engine::graph_def_of(function.graph(), add_shapes);
}

std::vector<Tensor> import_graph_def(const GraphDef& graph_def,
                                     const ImportGraphDefOptions& options,
                                     std::source_location location) {
  internal::LineScope line(location);
  const engine::NameScope scope(options.name);
  engine::ImportOptions wanted{.prefix = engine::Frame::current().name_scope,
                               .input_map = {options.input_map.begin(), options.input_map.end()},
                               .return_elements = options.return_elements};
  while (wanted.prefix.ends_with('/')) wanted.prefix.pop_back();
  std::vector<Tensor> tensors;
  for (const auto& element : value_or_throw(
           engine::import_graph_def(graph_def, wanted, engine::current_builder()), location)) {
    if (const auto* tensor = std::get_if<engine::Tensor>(&element)) {
      tensors.emplace_back(*tensor);
      continue;
    }
    throw_error(
        engine::value_error("Each of `return_elements` must be the name of a tensor, such ",
                            "as \"y:0\", got '", options.return_elements[tensors.size()], "'"),
        location);
  }
  return tensors;
}

}  // namespace graven
