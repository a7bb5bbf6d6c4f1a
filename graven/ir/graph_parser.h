#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/ir/body.h"
#include "graven/ir/fusion.h"
#include "graven/ir/graph.h"
#include "graven/ir/text_cursor.h"

namespace graven::engine::graph_syntax {

// Texts come from files and users, so nesting and sizes are bounded.
inline constexpr int kMaxNesting = 100;

// Reads the output of print_graph (text.h). One text, one parser; a file for each part of the
// grammar.
class GraphParser {
 public:
  explicit GraphParser(std::string_view text) : text_(text), cursor_(text) {}

  Result<Ref<Graph>> parse();

 private:
  struct BodySection {
    size_t begin = 0, end = 0;  // of its graph
    bool is_open = false;
    Ref<Body> body;
  };
  struct FusionSection {
    size_t begin = 0, end = 0;
    Ref<const Fusion> fusion;
  };
  // The state for the graph that is being read.
  struct Scope {
    Graph* graph;
    std::map<std::string, Dim, std::less<>> symbols;
  };
  // A node that was read but not added yet.
  struct Draft {
    const Op* op = nullptr;
    std::string name, device;
    std::optional<Attrs> attrs;
    std::vector<OutputRef> inputs;
    std::vector<OutputType> outputs;
    std::vector<Node*> controls;
    std::vector<std::pair<std::string, AttrValue>> extra;
  };

  // --- Sections, graphs and nodes: parse_graph.cc.

  Status find_sections();
  Result<Ref<Body>> body(const std::string& name);
  Result<Ref<Graph>> graph();
  Status add(Scope& scope, Draft draft, bool is_input);
  Status input(Scope& scope);
  Status node(Scope& scope);
  Status must_exist(const Op* op, std::string_view name);
  Status constant(Draft& draft, const OutputType& type);
  Status device(Draft& draft);
  Result<Node*> node_ref(Scope& scope);
  Result<OutputRef> output_ref(Scope& scope);
  Result<std::vector<Node*>> control_refs(Scope& scope);

  // --- Fusions: parse_fusion.cc.

  Result<Ref<const Fusion>> fusion(const std::string& name);
  Status fusion_parts(FusionParts& parts);
  Status fusion_input(FusionParts& parts);
  Status fusion_member(FusionParts& parts);
  Result<FusionParts::Source> fusion_source();
  Result<Dim> fusion_dim();
  Result<Shape> fusion_shape();
  Result<Read> read();

  // --- Types and dimensions: parse_types.cc.

  Result<DType> dtype();
  Result<OutputType> output_type(Scope& scope);
  Result<Shape> shape(Scope& scope);
  template <typename F>
  Status dims(Scope& scope, std::string_view end, F&& add);
  Result<Dim> sum(Scope& scope);
  Result<Dim> product(Scope& scope);
  Result<Dim> symbol(Scope& scope);

  // --- Elements and attributes: parse_values.cc.

  Result<Tensor> elements(DType dtype, const Shape& shape, std::string_view end);
  Status must_be(int64_t expected, size_t got);
  Result<Tensor> bytes(DType dtype, const Shape& shape, int64_t count);
  template <typename T>
  Result<T> element();
  Status attributes(Scope& scope, Draft& draft);
  Result<size_t> kind_of_value();
  Result<AttrValue> attribute_value(Scope& scope, size_t kind);
  template <typename T, typename F>
  Result<AttrValue> list_value(F&& one);
  Result<double> double_value();
  Result<DType> dtype_value();
  Result<Tensor> tensor_value(Scope& scope);
  Result<Ref<Body>> body_value();
  Result<Ref<const Fusion>> fusion_value();

  // Reads items with `one`, separated by commas, up to `end`, which is not consumed. An empty `end`
  // means one item.
  template <typename F>
  Status list(std::string_view end, F&& one) {
    if (end.empty()) return one();
    if (cursor_.peek() == end[0]) return {};
    do {
      RETURN_IF_ERROR(one());
    } while (cursor_.accept(","));
    return {};
  }

  std::string_view text_;
  Cursor cursor_;
  std::map<std::string, BodySection> bodies_;
  std::map<std::string, FusionSection> fusions_;
  int nesting_ = 0;
};

}  // namespace graven::engine::graph_syntax
