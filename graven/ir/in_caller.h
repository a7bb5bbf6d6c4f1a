#pragma once
#include <string>
#include <unordered_map>
#include <utility>

#include "graven/ir/graph.h"
#include "graven/ir/infer_context.h"

namespace graven::engine {

// Dims of a body in terms of its caller.
class InCaller {
 public:
  // The inputs of the body are those of the node from `first` on.
  InCaller(InferContext& c, const Graph& graph, const std::string& name, int first = 0)
      : c_(c), graph_(graph), name_(name) {
    for (int i = first; i < c.num_inputs(); ++i) {
      const OutputType& inner = graph.inputs()[static_cast<size_t>(i - first)]->output(0);
      const Shape& given = c.shape(i);
      if (inner.shape.has_rank() && given.has_rank() && inner.shape.rank() == given.rank()) {
        bind(inner.shape.dims(), given.dims());
      }
      if (!inner.sizes) continue;
      auto sizes = c.sizes(i);
      if (sizes && sizes->size() == inner.sizes->size()) {
        bind({inner.sizes->data(), inner.sizes->size()}, {sizes->data(), sizes->size()});
      }
    }
  }

  // A size that only running the body finds is a new symbol.
  Dim operator()(Dim dim) {
    return c_.substitute(graph_.symbols(), dim, [&](int64_t symbol) {
      auto [at, is_new] = of_symbol_.try_emplace(symbol);
      if (is_new) at->second = c_.new_symbol(name_);
      return at->second;
    });
  }
  Shape operator()(Shape shape) {
    for (int d = 0; d < shape.rank(); ++d) shape.set(d, (*this)(shape[d]));
    return shape;
  }
  // True if the caller can say the size.
  bool is_known(Dim dim) const {
    bool all = !dim.is_unknown();
    c_.substitute(graph_.symbols(), dim, [&](int64_t symbol) {
      auto at = of_symbol_.find(symbol);
      all &= at != of_symbol_.end();
      return at == of_symbol_.end() ? Dim::unknown() : at->second;
    });
    return all;
  }

 private:
  void bind(std::span<const Dim> inner, std::span<const Dim> given) {
    for (size_t d = 0; d < inner.size(); ++d) {
      const int64_t symbol = graph_.symbols().as_symbol(inner[d]);
      if (symbol >= 0 && !given[d].is_unknown()) of_symbol_.try_emplace(symbol, given[d]);
    }
  }
  InferContext& c_;
  const Graph& graph_;
  const std::string& name_;
  std::unordered_map<int64_t, Dim> of_symbol_;
};

}  // namespace graven::engine
