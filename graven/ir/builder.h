#pragma once
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The one way to apply an op. The caller does not know the kind of builder: the eager one (runtime)
// computes values at once, a graph's (graph_builder.h) adds a node, and a RecordingBuilder
// (frame.h) also tells tapes.
class GRAVEN_API Builder {
 public:
  virtual ~Builder() = default;

  // The outputs of the op on these inputs. `name` is the wished name of the node; empty means
  // the op's own. The attributes are borrowed for the call.
  virtual Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                                std::string_view name = {}) = 0;
  // The outputs of a call of the body, which fits these inputs. An eager builder runs the body and
  // makes no attributes for it; other builders apply a call op.
  virtual Result<Tensors> call(const Ref<Body>& body, std::span<const Tensor> inputs,
                               std::string_view name = {});
  // The graph that nodes go to, null when values are computed at once.
  virtual class Graph* graph() { return nullptr; }
  // The builder beneath that has no listeners; this one if it has none itself.
  virtual Builder& unrecorded() { return *this; }
};

}  // namespace graven::engine
