#include <algorithm>

#include "graven/ir/graph_parser.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/text.h"
#include "graven/ir/verify.h"

namespace graven::engine {
namespace graph_syntax {

Result<Ref<Graph>> GraphParser::parse() {
  RETURN_IF_ERROR(find_sections());
  ASSIGN_OR_RETURN(Ref<Graph> graph, this->graph());
  // Bodies that no node mentions must be right too.
  while (!cursor_.at_end()) {
    const bool is_fusion = cursor_.accept_word("fusion");
    if ((!is_fusion && !cursor_.accept("body")) || !cursor_.accept("@")) {
      return cursor_.expected("'body @', 'fusion @' or the end of the text");
    }
    ASSIGN_OR_RETURN(std::string name, cursor_.name());
    size_t end = 0;
    if (is_fusion) {
      RETURN_IF_ERROR(fusion(name).status());
      end = fusions_.at(name).end;
    } else {
      RETURN_IF_ERROR(body(name).status());
      end = bodies_.at(name).end;
    }
    if (end <= cursor_.at()) {
      return cursor_.error("the ", is_fusion ? "fusion" : "body", " @", name, " is there twice");
    }
    cursor_.go_to(end);
  }
  return graph;
}

// Sections begin lines, which nothing else that holds "body @" or "fusion @" does: a newline
// within a string is escaped.
Status GraphParser::find_sections() {
  for (size_t line = 0; line < text_.size(); line = text_.find('\n', line) + 1) {
    const bool is_fusion = text_.substr(line).starts_with("fusion @");
    if (is_fusion || text_.substr(line).starts_with("body @")) {
      cursor_.go_to(line + (is_fusion ? 8 : 6));
      ASSIGN_OR_RETURN(std::string name, cursor_.name());
      RETURN_IF_ERROR(cursor_.expect("="));
      const bool is_new =
          is_fusion ? fusions_.try_emplace(name, FusionSection{cursor_.at(), 0, {}}).second
                    : bodies_.try_emplace(name, BodySection{cursor_.at(), 0, false, {}}).second;
      if (!is_new) {
        return cursor_.error("the ", is_fusion ? "fusion" : "body", " @", name, " is there twice");
      }
    }
    if (text_.find('\n', line) == std::string_view::npos) break;
  }
  cursor_.go_to(0);
  return {};
}

Result<Ref<Body>> GraphParser::body(const std::string& name) {
  auto at = bodies_.find(name);
  if (at == bodies_.end()) return cursor_.error("there is no body @", name);
  BodySection& section = at->second;
  if (section.body) return section.body;
  if (section.is_open) return cursor_.error("the body @", name, " holds itself");
  if (nesting_ >= kMaxNesting) return cursor_.error("bodies are nested too deeply");
  section.is_open = true;
  ++nesting_;
  size_t back = cursor_.at();
  cursor_.go_to(section.begin);
  ASSIGN_OR_RETURN(Ref<Graph> graph, this->graph());
  section.end = cursor_.at();
  cursor_.go_to(back);
  --nesting_;
  section.is_open = false;
  section.body = Body::create(name, std::move(graph));
  return section.body;
}

Result<Ref<Graph>> GraphParser::graph() {
  if (!cursor_.accept_word("graph")) {
    return cursor_.expected("'graph'");
  }
  ASSIGN_OR_RETURN(std::string name, cursor_.name());
  auto graph = make_ref<Graph>(std::move(name));
  Scope scope{graph.get(), {}};
  RETURN_IF_ERROR(cursor_.expect("("));
  while (!cursor_.accept(")")) {
    if (!graph->inputs().empty()) RETURN_IF_ERROR(cursor_.expect(","));
    RETURN_IF_ERROR(input(scope));
  }
  RETURN_IF_ERROR(cursor_.expect("{"));
  while (cursor_.accept("%")) RETURN_IF_ERROR(node(scope));
  if (cursor_.accept_word("return")) {
    std::vector<OutputRef> outputs;
    if (cursor_.peek() != '^' && cursor_.peek() != '}') {
      do {
        ASSIGN_OR_RETURN(outputs.emplace_back(), output_ref(scope));
      } while (cursor_.accept(","));
    }
    graph->set_outputs(std::move(outputs));
    ASSIGN_OR_RETURN(std::vector<Node*> controls, control_refs(scope));
    graph->set_control_outputs(std::move(controls));
  }
  RETURN_IF_ERROR(cursor_.expect("}"));
  return graph;
}

Status GraphParser::add(Scope& scope, Draft draft, bool is_input) {
  if (scope.graph->unique_name(draft.name) != draft.name) {
    return cursor_.error("there is another node of the name '", draft.name, "'");
  }
  Node* node = scope.graph->add({.op = draft.op,
                                 .attrs = *draft.attrs,
                                 .name = std::move(draft.name),
                                 .inputs = draft.inputs,
                                 .outputs = std::move(draft.outputs),
                                 .control_inputs = std::move(draft.controls),
                                 .device = std::move(draft.device)});
  for (auto& [name, value] : draft.extra) scope.graph->set_attribute(node, name, value);
  if (is_input) scope.graph->add_input(node);
  if (Status status = verify_node(*node); !status.ok()) return cursor_.error(status.message());
  return {};
}

Status GraphParser::input(Scope& scope) {
  Draft draft;
  ASSIGN_OR_RETURN(draft.name, cursor_.name());
  RETURN_IF_ERROR(cursor_.expect(":"));
  ASSIGN_OR_RETURN(OutputType type, output_type(scope));
  if (cursor_.accept("=")) {
    RETURN_IF_ERROR(constant(draft, type));
  } else {
    RETURN_IF_ERROR(must_exist(kPlaceholder.op, "Placeholder"));
    draft.op = kPlaceholder.op;
    PlaceholderAttrs attrs{type.dtype, type.shape};
    for (int i = 0; i < attrs.shape.rank(); ++i) {
      if (!attrs.shape[i].is_number()) attrs.shape.set(i, Dim::unknown());
    }
    draft.attrs = Attrs(AttrsRef(attrs));
  }
  draft.outputs.push_back(std::move(type));
  RETURN_IF_ERROR(attributes(scope, draft));
  RETURN_IF_ERROR(device(draft));
  return add(scope, std::move(draft), /*is_input=*/true);
}

Status GraphParser::node(Scope& scope) {
  Draft draft;
  ASSIGN_OR_RETURN(draft.name, cursor_.name());
  if (cursor_.accept(":")) {
    do {
      ASSIGN_OR_RETURN(draft.outputs.emplace_back(), output_type(scope));
    } while (cursor_.accept(","));
  }
  RETURN_IF_ERROR(cursor_.expect("="));
  size_t before = cursor_.at();
  std::string_view op = cursor_.word();
  if (op.empty() || !cursor_.accept("(")) {
    cursor_.go_to(before);
    if (draft.outputs.size() != 1) return cursor_.expected("an op");
    RETURN_IF_ERROR(constant(draft, draft.outputs[0]));
  } else {
    draft.op = OpRegistry::global().find(op);
    RETURN_IF_ERROR(must_exist(draft.op, op));
    draft.attrs.emplace(draft.op->attrs_type());
    while (!cursor_.accept(")")) {
      if (!draft.inputs.empty()) RETURN_IF_ERROR(cursor_.expect(","));
      ASSIGN_OR_RETURN(draft.inputs.emplace_back(), output_ref(scope));
    }
  }
  RETURN_IF_ERROR(attributes(scope, draft));
  ASSIGN_OR_RETURN(draft.controls, control_refs(scope));
  RETURN_IF_ERROR(device(draft));
  return add(scope, std::move(draft), /*is_input=*/false);
}

Status GraphParser::must_exist(const Op* op, std::string_view name) {
  return op ? Status() : cursor_.error("there is no op named ", name);
}

// The elements of a constant of the given type.
Status GraphParser::constant(Draft& draft, const OutputType& type) {
  RETURN_IF_ERROR(must_exist(kConst.op, "Const"));
  draft.op = kConst.op;
  bool is_list = cursor_.accept("[");
  ASSIGN_OR_RETURN(Tensor value, elements(type.dtype, type.shape, is_list ? "]" : ""));
  if (is_list) RETURN_IF_ERROR(cursor_.expect("]"));
  draft.attrs = Attrs(AttrsRef(ConstAttrs{std::move(value), type.dtype}));
  return {};
}

Status GraphParser::device(Draft& draft) {
  if (!cursor_.accept_word("on")) return {};
  ASSIGN_OR_RETURN(draft.device, cursor_.string());
  return {};
}

Result<Node*> GraphParser::node_ref(Scope& scope) {
  (void)cursor_.accept("%");
  ASSIGN_OR_RETURN(std::string name, cursor_.name());
  Node* node = scope.graph->find(name);
  if (!node) return cursor_.error("there is no node '", name, "' above");
  return node;
}

Result<OutputRef> GraphParser::output_ref(Scope& scope) {
  ASSIGN_OR_RETURN(Node * node, node_ref(scope));
  int index = 0;
  if (cursor_.accept(":")) {
    ASSIGN_OR_RETURN(index, cursor_.number<int>());
  }
  if (index < 0 || index >= node->num_outputs()) {
    return cursor_.error("node '", node->name(), "' has no output ", index);
  }
  return OutputRef{node, index};
}

Result<std::vector<Node*>> GraphParser::control_refs(Scope& scope) {
  std::vector<Node*> nodes;
  while (cursor_.accept("^")) {
    ASSIGN_OR_RETURN(Node * node, node_ref(scope));
    if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
      return cursor_.error("^", node->name(), " stands twice");
    }
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace graph_syntax

Result<Ref<Graph>> parse_graph(std::string_view text) {
  return graph_syntax::GraphParser(text).parse();
}

}  // namespace graven::engine
