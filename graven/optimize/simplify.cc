#include "graven/optimize/simplify.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "graven/ir/structural_ops.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

// Larger ones are hardly ever all ones or zeros.
constexpr int64_t kMaxElements = 4096;

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

// True if all elements have the bits of the number. A zero of an integer has no sign.
bool all_elements_are(const Tensor& value, double number) {
  if (!is_plain(value.dtype()) || is_complex(value.dtype()) || value.dtype() == DType::kBool ||
      value.num_elements() > kMaxElements || value.num_elements() == 0) {
    return false;
  }
  return visit_plain(value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>> || std::is_same_v<T, bool>) {
      return false;
    } else {
      T expected;
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        expected = T(static_cast<float>(number));
      } else {
        expected = static_cast<T>(number);
      }
      auto elements = value.data<T>();
      return std::all_of(elements.begin(), elements.end(), [&](const T& element) {
        return std::memcmp(&element, &expected, sizeof(T)) == 0;
      });
    }
  });
}

// The input that the node gives back, or none.
OutputRef given_back(const Rewriter& rewriter, const Node& node) {
  const OpRecord& record = node.op().record();
  auto has_type_of_output = [&](OutputRef x) {
    return type_of(x).dtype == node.output(0).dtype &&
           surely_equal(type_of(x).shape, node.output(0).shape);
  };
  if (record.identity_on_right && node.inputs().size() == 2) {
    auto is_identity = [&](OutputRef e) {
      return &e.node->op() == kConst.op && !rewriter.is_input(e.node) &&
             all_elements_are(e.node->attrs().as<ConstAttrs>().value, *record.identity_on_right);
    };
    // A scalar never changes the shape; others might broadcast.
    auto keeps_shape = [&](OutputRef x, OutputRef e) {
      return type_of(x).dtype == node.output(0).dtype &&
             (type_of(e).shape == Shape() || has_type_of_output(x));
    };
    OutputRef x = node.inputs()[0], y = node.inputs()[1];
    if (is_identity(y) && keeps_shape(x, y)) return x;
    if (record.commutative && is_identity(x) && keeps_shape(y, x)) return y;
    return {};
  }
  if (record.passes_on) {
    InlineVector<DType, 4> dtypes;
    for (OutputRef input : node.inputs()) dtypes.push_back(type_of(input).dtype);
    const int passed = record.passes_on(dtypes, node.attrs());
    if (passed >= 0) return node.inputs()[static_cast<size_t>(passed)];
  }
  if (record.view_of >= 0) {
    OutputRef x = node.inputs()[static_cast<size_t>(record.view_of)];
    return has_type_of_output(x) ? x : OutputRef();
  }
  return {};
}

// The value that `value` is a view of, through nodes without control inputs; `value` itself if it
// is no view. Skips only views that fail, if at all, where a later view in any shape fails too.
OutputRef viewed(const Rewriter& rewriter, OutputRef value) {
  for (;;) {
    const Node& node = *value.node;
    const OpRecord& record = node.op().record();
    if (!record.views_any_shape || value.index != 0 || !node.control_inputs().empty() ||
        rewriter.is_input(&node) || !is_pure(node)) {
      return value;
    }
    value = node.inputs()[static_cast<size_t>(record.view_of)];
  }
}

}  // namespace

bool simplify(Graph& graph) {
  Rewriter rewriter(graph);
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    if (node->num_outputs() != 1 || node->inputs().empty() || !is_pure(*node)) continue;
    if (const OpRecord& record = node->op().record(); record.views_any_shape) {
      OutputRef x = node->inputs()[static_cast<size_t>(record.view_of)];
      OutputRef whole = viewed(rewriter, x);
      if (!(whole == x)) {
        graph.set_input_of(node, record.view_of, whole);
        rewriter.set_changed();
      }
    }
    if (!node->control_inputs().empty()) continue;
    OutputRef x = given_back(rewriter, *node);
    if (!x) continue;
    rewriter.replace({node, 0}, x);
    rewriter.replace_control(node, {x.node});
    rewriter.remove(node);
  }
  return rewriter.finish();
}

}  // namespace graven::engine
