#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/body.h"
#include "graven/ir/fusion.h"
#include "graven/ir/graph_syntax.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/text.h"
#include "graven/ir/text_cursor.h"
#include "graven/ir/verify.h"

namespace graven::engine {
namespace {

using namespace graph_syntax;

// Texts come from files and users, so what they nest and multiply is bounded.
constexpr int kMaxNesting = 100;
constexpr int64_t kMaxFactor = int64_t{1} << 40;
constexpr int kMaxProducts = 1000;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), cursor_(text) {}

  Result<Ref<Graph>> parse() {
    RETURN_IF_ERROR(find_sections());
    ASSIGN_OR_RETURN(Ref<Graph> graph, this->graph());
    // Bodies that nobody mentions must be right too.
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
  // What belongs to the graph that is being read.
  struct Scope {
    Graph* graph;
    std::map<std::string, Dim, std::less<>> symbols;
  };

  // Sections begin lines, which nothing else that holds "body @" or "fusion @" does: a newline
  // within a string is escaped.
  Status find_sections() {
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
          return cursor_.error("the ", is_fusion ? "fusion" : "body", " @", name,
                               " is there twice");
        }
      }
      if (text_.find('\n', line) == std::string_view::npos) break;
    }
    cursor_.go_to(0);
    return {};
  }

  Result<Ref<Body>> body(const std::string& name) {
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

  // --- Fusions.

  Result<Ref<const Fusion>> fusion(const std::string& name) {
    auto at = fusions_.find(name);
    if (at == fusions_.end()) return cursor_.error("there is no fusion @", name);
    FusionSection& section = at->second;
    if (section.fusion) return section.fusion;
    size_t back = cursor_.at();
    cursor_.go_to(section.begin);
    FusionParts parts;
    RETURN_IF_ERROR(fusion_parts(parts));
    auto made = Fusion::create(std::move(parts));
    if (!made.ok()) return cursor_.error(made.status().message());
    section.fusion = std::move(*made);
    section.end = cursor_.at();
    cursor_.go_to(back);
    return section.fusion;
  }

  Status fusion_parts(FusionParts& parts) {
    if (!cursor_.accept_word("over")) return cursor_.expected("'over'");
    ASSIGN_OR_RETURN(parts.space, fusion_shape());
    if (cursor_.accept_word("reducing")) {
      RETURN_IF_ERROR(cursor_.expect("["));
      do {
        ASSIGN_OR_RETURN(parts.reduced.emplace_back(), cursor_.number<int>());
      } while (cursor_.accept(","));
      RETURN_IF_ERROR(cursor_.expect("]"));
    }
    RETURN_IF_ERROR(cursor_.expect("{"));
    while (!cursor_.accept_word("return")) {
      RETURN_IF_ERROR(cursor_.accept("%") ? fusion_member(parts) : fusion_input(parts));
    }
    do {
      ASSIGN_OR_RETURN(FusionParts::Source output, fusion_source());
      if (output.member < 0) return cursor_.error("a fusion returns members only");
      parts.outputs.push_back(output.member);
    } while (cursor_.accept(","));
    return cursor_.expect("}");
  }

  // "x1: float32[d0,3]", perhaps with "whole", "at [i0,0]" or, of an integer, "= 3" (its bits).
  Status fusion_input(FusionParts& parts) {
    ASSIGN_OR_RETURN(FusionParts::Source source, fusion_source());
    if (source.member >= 0 || source.index != static_cast<int>(parts.inputs.size())) {
      return cursor_.error("inputs of a fusion are numbered in order");
    }
    FusionParts::Input input;
    RETURN_IF_ERROR(cursor_.expect(":"));
    ASSIGN_OR_RETURN(input.dtype, dtype());
    ASSIGN_OR_RETURN(input.shape, fusion_shape());
    if (cursor_.accept_word("whole")) {
      input.whole = true;
    } else if (cursor_.accept_word("at")) {
      ASSIGN_OR_RETURN(input.read, read());
    } else {
      auto read = Read::broadcasting(input.shape, parts.space);
      if (!read) return cursor_.error("the input does not broadcast: say how it is read");
      input.read = std::move(*read);
    }
    if (cursor_.accept("=")) {
      ASSIGN_OR_RETURN(input.value, cursor_.number<uint64_t>());
    }
    parts.inputs.push_back(std::move(input));
    return {};
  }

  // "%1: float32 = AddV2(x0, %0) {attributes}", behind the %.
  Status fusion_member(FusionParts& parts) {
    ASSIGN_OR_RETURN(int number, cursor_.number<int>());
    if (number != static_cast<int>(parts.members.size())) {
      return cursor_.error("members of a fusion are numbered in order");
    }
    FusionParts::Member member;
    RETURN_IF_ERROR(cursor_.expect(":"));
    ASSIGN_OR_RETURN(member.dtype, dtype());
    RETURN_IF_ERROR(cursor_.expect("="));
    std::string_view op = cursor_.word();
    member.op = OpRegistry::global().find(op);
    RETURN_IF_ERROR(must_exist(member.op, op));
    RETURN_IF_ERROR(cursor_.expect("("));
    RETURN_IF_ERROR(list(")", [&]() -> Status {
      ASSIGN_OR_RETURN(member.sources.emplace_back(), fusion_source());
      return {};
    }));
    RETURN_IF_ERROR(cursor_.expect(")"));
    // Attributes of members hold no Dims of a graph.
    Graph none("");
    Scope scope{&none, {}};
    Draft draft;
    draft.op = member.op;
    draft.attrs.emplace(member.op->attrs_type());
    RETURN_IF_ERROR(attributes(scope, draft));
    member.attrs = *draft.attrs;
    parts.members.push_back(std::move(member));
    return {};
  }

  // "x3" or "%3".
  Result<FusionParts::Source> fusion_source() {
    const bool is_member = cursor_.accept("%");
    if (!is_member) RETURN_IF_ERROR(cursor_.expect("x"));
    ASSIGN_OR_RETURN(int number, cursor_.number<int>());
    if (number < 0) return cursor_.error("a number below 0");
    return is_member ? FusionParts::Source{number, 0} : FusionParts::Source{-1, number};
  }

  // Symbols are d0, d1, ...
  Result<Dim> fusion_dim() {
    const bool is_symbol = cursor_.accept("d");
    ASSIGN_OR_RETURN(int64_t number, cursor_.number<int64_t>());
    if (number < 0) return cursor_.error("a size or a symbol is below 0");
    return is_symbol ? Dim::term(number) : Dim(number);
  }
  Result<Shape> fusion_shape() {
    Shape shape;
    RETURN_IF_ERROR(cursor_.expect("["));
    RETURN_IF_ERROR(list("]", [&]() -> Status {
      ASSIGN_OR_RETURN(Dim dim, fusion_dim());
      shape.push_back(dim);
      return {};
    }));
    RETURN_IF_ERROR(cursor_.expect("]"));
    if (shape.rank() > kMaxRank) return cursor_.error("a shape has more than 254 dimensions");
    return shape;
  }

  // "[i0,2*i1 + 3,i2?,-1 - i3]"
  Result<Read> read() {
    Read read;
    RETURN_IF_ERROR(cursor_.expect("["));
    RETURN_IF_ERROR(list("]", [&]() -> Status {
      Read::Axis axis;
      axis.backwards = cursor_.accept("-");
      bool has_end = axis.backwards;  // the number that says the end itself comes next
      do {
        Dim factor(1);
        if (cursor_.peek() != 'i') {
          ASSIGN_OR_RETURN(factor, fusion_dim());
          if (!cursor_.accept("*")) {
            const bool is_end = std::exchange(has_end, false);
            if (is_end && (!factor.is_number() || factor == Dim(0))) {
              return cursor_.error("the last index is -1");
            }
            axis.offset = is_end ? Dim(factor.number() - 1) : factor;
            continue;
          }
        }
        if (has_end) return cursor_.error("the last index is -1");
        RETURN_IF_ERROR(cursor_.expect("i"));
        ASSIGN_OR_RETURN(int index, cursor_.number<int>());
        axis.terms.push_back({index, factor});
      } while (cursor_.accept(axis.backwards ? "-" : "+"));
      axis.broadcasts = cursor_.accept("?");
      read.axes.push_back(std::move(axis));
      return {};
    }));
    RETURN_IF_ERROR(cursor_.expect("]"));
    return read;
  }

  Result<Ref<Graph>> graph() {
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

  // --- Nodes.

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

  Status add(Scope& scope, Draft draft, bool is_input) {
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

  Status input(Scope& scope) {
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

  Status node(Scope& scope) {
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

  Status must_exist(const Op* op, std::string_view name) {
    return op ? Status() : cursor_.error("there is no op named ", name);
  }

  // The elements of a constant of the given type.
  Status constant(Draft& draft, const OutputType& type) {
    RETURN_IF_ERROR(must_exist(kConst.op, "Const"));
    draft.op = kConst.op;
    bool is_list = cursor_.accept("[");
    ASSIGN_OR_RETURN(Tensor value, elements(type.dtype, type.shape, is_list ? "]" : ""));
    if (is_list) RETURN_IF_ERROR(cursor_.expect("]"));
    draft.attrs = Attrs(AttrsRef(ConstAttrs{std::move(value), type.dtype}));
    return {};
  }

  Status device(Draft& draft) {
    if (!cursor_.accept_word("on")) return {};
    ASSIGN_OR_RETURN(draft.device, cursor_.string());
    return {};
  }

  Result<Node*> node_ref(Scope& scope) {
    (void)cursor_.accept("%");
    ASSIGN_OR_RETURN(std::string name, cursor_.name());
    Node* node = scope.graph->find(name);
    if (!node) return cursor_.error("there is no node '", name, "' above");
    return node;
  }
  Result<OutputRef> output_ref(Scope& scope) {
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
  Result<std::vector<Node*>> control_refs(Scope& scope) {
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

  // --- Types.

  Result<DType> dtype() {
    std::string_view name = cursor_.word();
    auto type = dtype_from_name(name);
    if (!type) return cursor_.error("'", name, "' is no dtype");
    return *type;
  }
  Result<OutputType> output_type(Scope& scope) {
    OutputType type;
    ASSIGN_OR_RETURN(type.dtype, dtype());
    ASSIGN_OR_RETURN(type.shape, shape(scope));
    type.is_promised = cursor_.accept("!");
    if (cursor_.accept("(")) {
      type.sizes = std::make_unique<SymbolicValue>();
      RETURN_IF_ERROR(dims(scope, ")", [&](Dim dim) { type.sizes->push_back(dim); }));
    }
    if (cursor_.accept("<")) {
      type.handle_data = std::make_unique<HandleData>();
      do {
        HeldType& held = type.handle_data->components.emplace_back();
        ASSIGN_OR_RETURN(held.dtype, dtype());
        ASSIGN_OR_RETURN(held.shape, shape(scope));
      } while (cursor_.accept(","));
      RETURN_IF_ERROR(cursor_.expect(">"));
    }
    return type;
  }
  Result<Shape> shape(Scope& scope) {
    RETURN_IF_ERROR(cursor_.expect("["));
    if (cursor_.accept("...")) {
      RETURN_IF_ERROR(cursor_.expect("]"));
      return Shape::unknown_rank();
    }
    Shape shape;
    RETURN_IF_ERROR(dims(scope, "]", [&](Dim dim) { shape.push_back(dim); }));
    if (shape.rank() > kMaxRank) return cursor_.error("a shape has more than 254 dimensions");
    return shape;
  }
  template <typename F>
  Status dims(Scope& scope, std::string_view end, F&& add) {
    if (cursor_.accept(end)) return {};
    do {
      if (cursor_.accept("?")) {
        add(Dim::unknown());
      } else {
        ASSIGN_OR_RETURN(Dim dim, sum(scope));
        add(dim);
      }
    } while (cursor_.accept(","));
    return cursor_.expect(end);
  }
  // A lone number may be any; within a term it is bounded, so that arithmetic cannot overflow.
  Result<Dim> sum(Scope& scope) {
    if (is_digit(cursor_.peek())) {
      size_t before = cursor_.at();
      ASSIGN_OR_RETURN(int64_t number, cursor_.number<int64_t>());
      if (char next = cursor_.peek(); next != '+' && next != '-' && next != '*') {
        return Dim(number);
      }
      cursor_.go_to(before);
    }
    SymbolTable& symbols = scope.graph->symbols();
    // What is subtracted is subtracted last: a Dim is not negative on the way.
    Dim added(0), subtracted(0);
    bool is_minus = cursor_.accept("-");
    for (int products = 1;; ++products) {
      if (products > kMaxProducts) return cursor_.error("a dimension has too many terms");
      ASSIGN_OR_RETURN(Dim term, product(scope));
      Dim& total = is_minus ? subtracted : added;
      total = symbols.add(total, term);
      if (cursor_.accept("+")) {
        is_minus = false;
      } else if (cursor_.accept("-")) {
        is_minus = true;
      } else {
        return symbols.subtract(added, subtracted);
      }
    }
  }
  Result<Dim> product(Scope& scope) {
    Dim product(1);
    if (is_digit(cursor_.peek())) {
      ASSIGN_OR_RETURN(int64_t number, cursor_.number<int64_t>());
      if (number > kMaxFactor) return cursor_.error("a factor of a dimension is too large");
      product = Dim(number);
      if (!cursor_.accept("*")) return product;
    }
    SymbolTable& symbols = scope.graph->symbols();
    for (int factors = 1;; ++factors) {
      if (factors > kMaxNesting) return cursor_.error("a dimension has too many factors");
      ASSIGN_OR_RETURN(Dim factor, symbol(scope));
      bool more = cursor_.accept("*");
      // A function that comes out as a number or a sum is no factor: factors would multiply.
      if (symbols.as_symbol(factor) < 0 && (more || !(product == Dim(1)))) {
        return cursor_.error("a factor of a dimension is not a symbol");
      }
      product = symbols.multiply(product, factor);
      if (!more) return product;
    }
  }
  // A symbol, or a function of Dims.
  Result<Dim> symbol(Scope& scope) {
    using Function = SymbolTable::Function;
    static constexpr std::pair<std::string_view, Function> kFunctions[] = {
        {"floordiv", Function::kFloorDiv},
        {"ceildiv", Function::kCeilDiv},
        {"max", Function::kMax},
        {"min", Function::kMin},
        {"broadcast", Function::kBroadcast},
        {"mod", Function::kMod}};
    if (!starts_symbol(cursor_.peek())) {
      return cursor_.expected("a dimension");
    }
    std::string_view name = cursor_.take_while(is_symbol_char);
    if (!cursor_.accept("(")) {
      auto at = scope.symbols.find(name);
      if (at == scope.symbols.end()) {
        Dim made = scope.graph->symbols().new_symbol(std::string(name));
        at = scope.symbols.emplace(std::string(name), made).first;
      }
      return at->second;
    }
    auto function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                 [&](const auto& entry) { return entry.first == name; });
    if (function == std::end(kFunctions)) {
      return cursor_.error("'", name, "' is no function of dimensions");
    }
    if (nesting_ >= kMaxNesting) return cursor_.error("dimensions are nested too deeply");
    ++nesting_;
    ASSIGN_OR_RETURN(Dim a, sum(scope));
    RETURN_IF_ERROR(cursor_.expect(","));
    ASSIGN_OR_RETURN(Dim b, sum(scope));
    RETURN_IF_ERROR(cursor_.expect(")"));
    --nesting_;
    Dim dim = scope.graph->symbols().apply(function->second, a, b);
    if (dim.is_number() && dim.number() > kMaxFactor) {
      return cursor_.error("a factor of a dimension is too large");
    }
    return dim;
  }

  // --- Values.

  // Elements up to `end`, which stays. An empty `end` means one element.
  Result<Tensor> elements(DType dtype, const Shape& shape, std::string_view end) {
    auto count = shape.checked_num_elements();
    if (!count) return cursor_.error("the shape of a constant is not known");
    if (dtype == DType::kString) {
      std::vector<std::string> values;
      RETURN_IF_ERROR(list(end, [&]() -> Status {
        ASSIGN_OR_RETURN(values.emplace_back(), cursor_.string());
        return {};
      }));
      RETURN_IF_ERROR(must_be(*count, values.size()));
      ASSIGN_OR_RETURN(Tensor value, Tensor::allocate(dtype, shape));
      std::copy(values.begin(), values.end(), value.mutable_data<std::string>().begin());
      return value;
    }
    if (!is_plain(dtype)) {
      return cursor_.error("a constant of dtype ", dtype_name(dtype), " has no text");
    }
    if (cursor_.accept_word("hex")) return bytes(dtype, shape, *count);
    Tensor value;
    RETURN_IF_ERROR(visit_plain(dtype, [&](auto zero) -> Status {
      using T = decltype(zero);
      std::vector<T> values;
      RETURN_IF_ERROR(list(end, [&]() -> Status {
        ASSIGN_OR_RETURN(T element, this->element<T>());
        values.push_back(element);
        return {};
      }));
      RETURN_IF_ERROR(must_be(*count, values.size()));
      ASSIGN_OR_RETURN(value, Tensor::allocate(dtype, shape));
      std::copy(values.begin(), values.end(), value.mutable_data<T>().begin());
      return {};
    }));
    return value;
  }
  Status must_be(int64_t expected, size_t got) {
    if (static_cast<size_t>(expected) == got) return {};
    return cursor_.error("the type has ", expected, " elements, got ", got);
  }
  Result<Tensor> bytes(DType dtype, const Shape& shape, int64_t count) {
    ASSIGN_OR_RETURN(std::string digits, cursor_.string());
    size_t size = dtype_size(dtype);
    if (digits.size() % (2 * size) != 0) return cursor_.error("hex digits are missing");
    RETURN_IF_ERROR(must_be(count, digits.size() / (2 * size)));
    ASSIGN_OR_RETURN(Tensor value, Tensor::allocate(dtype, shape));
    auto* out = static_cast<unsigned char*>(value.mutable_raw_data());
    for (size_t i = 0; i < digits.size() / 2; ++i) {
      ASSIGN_OR_RETURN(out[i], cursor_.hex_byte(std::string_view(digits).substr(2 * i, 2)));
      if (dtype == DType::kBool && out[i] > 1) return cursor_.error("a bool is 00 or 01");
    }
    return value;
  }
  template <typename F>
  Status list(std::string_view end, F&& one) {
    if (end.empty()) return one();
    if (cursor_.peek() == end[0]) return {};
    do {
      RETURN_IF_ERROR(one());
    } while (cursor_.accept(","));
    return {};
  }
  template <typename T>
  Result<T> element() {
    if constexpr (std::is_same_v<T, bool>) {
      if (cursor_.accept_word("true")) return true;
      if (cursor_.accept_word("false")) return false;
      return cursor_.expected("true or false");
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      ASSIGN_OR_RETURN(float value, cursor_.number<float>());
      return T(value);
    } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                         std::is_same_v<T, std::complex<double>>) {
      using Part = typename T::value_type;
      ASSIGN_OR_RETURN(Part real, cursor_.number<Part>());
      bool is_minus = cursor_.accept("-");
      if (!is_minus) RETURN_IF_ERROR(cursor_.expect("+"));
      ASSIGN_OR_RETURN(Part imaginary, cursor_.number<Part>());
      RETURN_IF_ERROR(cursor_.expect("i"));
      return T(real, is_minus ? -imaginary : imaginary);
    } else {
      return cursor_.number<T>();
    }
  }

  Status attributes(Scope& scope, Draft& draft) {
    if (!cursor_.accept("{")) return {};
    for (bool first = true; !cursor_.accept("}"); first = false) {
      if (!first) RETURN_IF_ERROR(cursor_.expect(","));
      ASSIGN_OR_RETURN(std::string name, cursor_.name());
      RETURN_IF_ERROR(cursor_.expect("="));
      const auto& fields = draft.op->attrs_type().fields;
      auto field = std::find_if(fields.begin(), fields.end(),
                                [&](const AttrField& f) { return f.name == name; });
      if (field != fields.end()) {
        ASSIGN_OR_RETURN(AttrValue value, attribute_value(scope, field->kind));
        if (Status status = draft.attrs->set(name, std::move(value)); !status.ok()) {
          return cursor_.error(status.message());
        }
      } else {
        ASSIGN_OR_RETURN(size_t kind, kind_of_value());
        ASSIGN_OR_RETURN(AttrValue value, attribute_value(scope, kind));
        draft.extra.emplace_back(std::move(name), std::move(value));
      }
    }
    return {};
  }

  template <typename T>
  static constexpr size_t kKindOf = attributes_internal::kind_of<T>();

  // The kind of value that stands here, by its word or its text.
  Result<size_t> kind_of_value() {
    std::string_view word = cursor_.peek_word();
    for (size_t kind = 0; kind < std::size(kKindWords); ++kind) {
      if (!word.empty() && kKindWords[kind] == word) {
        (void)cursor_.word();
        return kind;
      }
    }
    if (cursor_.peek() == '"') return kKindOf<std::string>;
    if (word == "true" || word == "false") return kKindOf<bool>;
    if (dtype_from_name(word)) return kKindOf<DType>;
    size_t before = cursor_.at();
    std::string_view number = cursor_.take_while(
        [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '+'; });
    cursor_.go_to(before);
    if (number.empty()) return cursor_.expected("a value");
    return number.find_first_of(".en") == std::string_view::npos ? kKindOf<int64_t>
                                                                 : kKindOf<double>;
  }

  Result<AttrValue> attribute_value(Scope& scope, size_t kind) {
    switch (kind) {
      case kKindOf<std::monostate>:
        return AttrValue();
      case kKindOf<bool>:
        return wrapped(element<bool>());
      case kKindOf<int64_t>:
        return wrapped(cursor_.number<int64_t>());
      case kKindOf<double>:
        return wrapped(double_value());
      case kKindOf<std::string>:
        return wrapped(cursor_.string());
      case kKindOf<DType>:
        return wrapped(dtype_value());
      case kKindOf<Shape>:
        return wrapped(shape(scope));
      case kKindOf<Tensor>:
        return wrapped(tensor_value(scope));
      case kKindOf<Ref<Body>>:
        return wrapped(body_value());
      case kKindOf<std::vector<int64_t>>:
        return list_value<int64_t>([&] { return cursor_.number<int64_t>(); });
      case kKindOf<std::vector<double>>:
        return list_value<double>([&] { return double_value(); });
      case kKindOf<std::vector<std::string>>:
        return list_value<std::string>([&] { return cursor_.string(); });
      case kKindOf<std::vector<DType>>:
        return list_value<DType>([&] { return dtype_value(); });
      case kKindOf<std::vector<Shape>>:
        return list_value<Shape>([&] { return shape(scope); });
      case kKindOf<std::vector<Ref<Body>>>:
        return list_value<Ref<Body>>([&] { return body_value(); });
      default:
        return wrapped(fusion_value());
    }
  }
  template <typename T>
  static Result<AttrValue> wrapped(Result<T> value) {
    if (!value.ok()) return value.status();
    return AttrValue(std::in_place_type<T>, std::move(*value));
  }
  template <typename T, typename F>
  Result<AttrValue> list_value(F&& one) {
    std::vector<T> values;
    RETURN_IF_ERROR(cursor_.expect("["));
    RETURN_IF_ERROR(list("]", [&]() -> Status {
      ASSIGN_OR_RETURN(T value, one());
      values.push_back(std::move(value));
      return {};
    }));
    RETURN_IF_ERROR(cursor_.expect("]"));
    return AttrValue(std::in_place_type<std::vector<T>>, std::move(values));
  }
  Result<double> double_value() {
    if (!cursor_.accept("nan(")) return cursor_.number<double>();
    ASSIGN_OR_RETURN(uint64_t bits, cursor_.number<uint64_t>());
    RETURN_IF_ERROR(cursor_.expect(")"));
    return std::bit_cast<double>(bits);
  }
  Result<DType> dtype_value() {
    if (cursor_.accept_word(dtype_name(DType::kInvalid))) return DType::kInvalid;
    return dtype();
  }
  Result<Tensor> tensor_value(Scope& scope) {
    if (cursor_.accept_word("none")) return Tensor();
    ASSIGN_OR_RETURN(DType type, dtype());
    ASSIGN_OR_RETURN(Shape shape, this->shape(scope));
    RETURN_IF_ERROR(cursor_.expect("("));
    ASSIGN_OR_RETURN(Tensor value, elements(type, shape, ")"));
    RETURN_IF_ERROR(cursor_.expect(")"));
    return value;
  }
  Result<Ref<Body>> body_value() {
    if (cursor_.accept_word("none")) return Ref<Body>();
    RETURN_IF_ERROR(cursor_.expect("@"));
    ASSIGN_OR_RETURN(std::string name, cursor_.name());
    return body(name);
  }

  Result<Ref<const Fusion>> fusion_value() {
    if (cursor_.accept_word("none")) return Ref<const Fusion>();
    RETURN_IF_ERROR(cursor_.expect("@"));
    ASSIGN_OR_RETURN(std::string name, cursor_.name());
    return fusion(name);
  }

  std::string_view text_;
  Cursor cursor_;
  std::map<std::string, BodySection> bodies_;
  std::map<std::string, FusionSection> fusions_;
  int nesting_ = 0;
};

}  // namespace

Result<Ref<Graph>> parse_graph(std::string_view text) { return Parser(text).parse(); }

}  // namespace graven::engine
