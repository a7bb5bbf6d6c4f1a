#pragma once
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graven/base/mutex.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/body.h"
#include "graven/ir/builder.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A body that computes tangents along with its values. Behind the inputs of the original it takes a
// tangent for each input in `takes`, and behind its outputs it gives one for each output in
// `gives`.
struct TangentBody {
  Ref<Body> body;
  std::vector<bool> takes, gives;
  // The error of an output whose tangent cannot be computed; such an output is not in `gives`.
  std::vector<Status> failed;
};

// The body with tangents for these inputs, made once and kept in a slot of the original, which owns
// it. `at_least`: outputs that have a tangent in any case, zeros if need be; empty: none. Any
// thread may call it. What it returns lives as long as the body.
//
// Nodes that run bodies run such bodies. A node with a gradient of the user's is what it computes:
// the values are differentiated, not the gradient.
Result<const TangentBody*> tangent_body(const Ref<Body>& body, const std::vector<bool>& takes,
                                        const std::vector<bool>& at_least = {});

// The bodies with tangents that were made of a body, in its slot kTangents. Any thread may use it.
class TangentBodies final : public RefCounted {
 public:
  Result<const TangentBody*> get(const Body& body, const std::vector<bool>& takes,
                                 const std::vector<bool>& at_least);
  int64_t bytes();

 private:
  using Key = std::pair<std::vector<bool>, std::vector<bool>>;  // takes, at_least
  const TangentBody* find(const Key& key);
  Mutex mutex_;
  std::map<Key, std::unique_ptr<const TangentBody>> bodies_ GUARDED_BY(mutex_);
};

// A node that runs bodies, made to compute tangents too: likewise for inputs and outputs of the
// node.
struct TangentNode {
  TangentNode(const Op& op, Attrs attrs) : op(&op), attrs(std::move(attrs)) {}
  const Op* op;
  Attrs attrs;
  std::vector<bool> takes, gives;
  std::vector<Status> failed;
};
Result<TangentNode> tangent_node(const Op& op, AttrsRef attrs, std::vector<bool> has_tangent);

// The inputs of the body or node: the original's and the tangents that it takes, zeros where there
// is none.
Result<std::vector<Tensor>> with_tangents(std::span<const Tensor> inputs,
                                          std::span<const Tensor> tangents,
                                          const std::vector<bool>& takes, Builder& builder);
// The tangents of the original's outputs, from all outputs; empty where there is none.
Tensors tangents_among(const Tensors& outputs, const std::vector<bool>& gives);

}  // namespace graven::engine
