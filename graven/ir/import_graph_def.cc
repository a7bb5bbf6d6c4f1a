#include "graven/ir/import_graph_def.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "graven/base/stack.h"
#include "graven/base/strings.h"
#include "graven/ir/body.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/node_from_def.h"
#include "graven/ir/output_names.h"

namespace graven::engine {
namespace {

// Where an input comes from.
struct Source {
  std::optional<Tensor> given;   // from elsewhere: a mapped tensor, an argument
  int node = -1;                 // or from a node of the same list: this tensor of its outputs,
  std::string_view output = {};  // or of the output of this name
  int index = 0;
  bool is_control = false;
};

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

bool is_node_name(std::string_view name) {
  const auto is_alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || !(is_alnum(name[0]) || name[0] == '.')) return false;
  return std::ranges::all_of(name, [&](char c) {
    return is_alnum(c) || std::string_view("_.\\/>-").find(c) != std::string_view::npos;
  });
}

// A list of NodeDefs on their way into a graph.
class NodeList {
 public:
  // Reads the name of an input, of a graph or of a function.
  using Parse = std::function<std::optional<Source>(const NodeList&, std::string_view)>;
  NodeList(std::span<const NodeDef> defs, FunctionLibrary& library)
      : defs_(defs), library_(library) {}

  Status index_names() {
    for (size_t i = 0; i < defs_.size(); ++i) {
      if (!index_.emplace(defs_[i].name, static_cast<int>(i)).second) {
        return value_error("Node '", defs_[i].name, "' is not unique");
      }
    }
    return {};
  }
  // -1 if there is none.
  int find(std::string_view name) const {
    auto at = index_.find(name);
    return at == index_.end() ? -1 : at->second;
  }

  Status read_inputs(const Parse& parse) {
    for (const NodeDef& def : defs_) {
      auto& sources = sources_.emplace_back();
      for (const std::string& input : def.inputs) {
        std::optional<Source> source = parse(*this, input);
        if (!source || (!source->given && source->node < 0)) {
          return value_error("Node '", def.name, "': Unknown input node '", input, "'");
        }
        if (!source->is_control && !sources.empty() && sources.back().is_control) {
          return value_error("Node '", def.name,
                             "': Control dependencies must come after regular dependencies");
        }
        sources.push_back(*std::move(source));
      }
    }
    return {};
  }

  // Adds the nodes, the first first that has all its inputs.
  Status add(const std::string& prefix, Builder& builder) {
    std::vector<int> missing(defs_.size());
    std::vector<std::vector<int>> users(defs_.size());
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t i = 0; i < defs_.size(); ++i) {
      for (const Source& source : sources_[i]) {
        if (source.node < 0) continue;
        ++missing[i];
        users[source.node].push_back(static_cast<int>(i));
      }
      if (missing[i] == 0) ready.push(static_cast<int>(i));
    }
    made_.resize(defs_.size());
    size_t num_made = 0;
    for (; !ready.empty(); ++num_made) {
      const int i = ready.top();
      ready.pop();
      RETURN_IF_ERROR(add(i, prefix, builder));
      for (int user : users[i]) {
        if (--missing[user] == 0) ready.push(user);
      }
    }
    if (num_made == defs_.size()) return {};
    auto waits = std::ranges::find_if(missing, [](int count) { return count > 0; });
    return value_error(defs_.size() - num_made, " nodes in a cycle, or behind one; the first is '",
                       defs_[waits - missing.begin()].name, "'");
  }

  const MadeNode& made(int node) const { return made_[node]; }
  // The tensor of a source; none if its node has no such output.
  std::optional<Tensor> tensor(const Source& source) const {
    if (source.given) return source.given;
    const MadeNode& made = made_[source.node];
    std::optional<int> flat = source.index;
    if (!source.output.empty()) flat = output_index(*made.node, source.output, source.index);
    if (!flat || *flat >= static_cast<int>(made.outputs.size())) return std::nullopt;
    return made.outputs[*flat];
  }

 private:
  Status add(int i, const std::string& prefix, Builder& builder) {
    const NodeDef& def = defs_[i];
    Tensors inputs;
    std::vector<Node*> controls;
    for (size_t k = 0; k < def.inputs.size(); ++k) {
      const Source& source = sources_[i][k];
      if (source.is_control) {
        Node* before =
            source.given ? (source.given->is_symbolic() ? &symbolic(*source.given).node() : nullptr)
                         : made_[source.node].node;
        // What other graphs or Python have computed is there already.
        if (before && &before->graph() == builder.graph()) controls.push_back(before);
        continue;
      }
      std::optional<Tensor> input = tensor(source);
      if (!input) {
        return value_error("Node '", def.name, "': Connecting to invalid output ",
                           source.output.empty() ? str_cat(source.index)
                                                 : str_cat(source.output, ":", source.index),
                           " of source node ", defs_[source.node].name, " which has ",
                           made_[source.node].outputs.size(), " outputs.");
      }
      inputs.push_back(*std::move(input));
    }
    std::string name = prefix.empty() ? def.name : str_cat(prefix, "/", def.name);
    ASSIGN_OR_RETURN(made_[i], add_node(def, std::move(name), {inputs.data(), inputs.size()},
                                        controls, library_, builder));
    return {};
  }

  std::span<const NodeDef> defs_;
  FunctionLibrary& library_;
  std::map<std::string_view, int> index_;
  std::vector<std::vector<Source>> sources_;
  std::vector<MadeNode> made_;
};

// "a", "a:1" or "^a".
std::optional<Source> source_in_graph(const NodeList& nodes, std::string_view text) {
  Source source;
  source.is_control = text.starts_with('^');
  if (source.is_control) text.remove_prefix(1);
  const size_t colon = source.is_control ? std::string_view::npos : text.rfind(':');
  if (colon != std::string_view::npos) {
    const auto index = number_of(text.substr(colon + 1));
    if (!index) return std::nullopt;
    source.index = *index;
    text = text.substr(0, colon);
  }
  source.node = nodes.find(text);
  return source;
}

// "x" for an argument, "a:z:0" or "^a".
std::optional<Source> source_in_function(
    const NodeList& nodes, const std::map<std::string, Tensor, std::less<>>& arguments,
    std::string_view text) {
  Source source;
  if (text.starts_with('^')) {
    source.is_control = true;
    source.node = nodes.find(text.substr(1));
    return source;
  }
  const size_t first = text.find(':');
  if (first == std::string_view::npos) {
    auto argument = arguments.find(text);
    if (argument == arguments.end()) return std::nullopt;
    source.given = argument->second;
    return source;
  }
  source.node = nodes.find(text.substr(0, first));
  text.remove_prefix(first + 1);
  const size_t second = text.find(':');
  source.output = text.substr(0, second);
  if (source.output.empty()) return std::nullopt;
  if (second == std::string_view::npos) return source;
  const auto index = number_of(text.substr(second + 1));
  if (!index) return std::nullopt;
  source.index = *index;
  return source;
}

// The state of the frame that an import changes.
class FrameState {
 public:
  FrameState(Frame& frame, GraphBuilder& builder)
      : frame_(frame),
        builder_(builder),
        scope_(std::exchange(frame.name_scope, {})),
        device_(frame.device),
        controls_(builder.control_inputs) {}
  ~FrameState() {
    frame_.name_scope = std::move(scope_);
    frame_.device = std::move(device_);
    builder_.control_inputs = std::move(controls_);
  }
  FrameState(const FrameState&) = delete;

 private:
  Frame& frame_;
  GraphBuilder& builder_;
  std::string scope_, device_;
  std::vector<Node*> controls_;
};

// The tensors of the input map by the source that they replace.
class InputMap {
 public:
  explicit InputMap(const std::map<std::string, Tensor>& tensors) {
    for (const auto& [key, tensor] : tensors) {
      std::string_view name = key;
      const bool is_control = name.starts_with('^');
      if (is_control) name.remove_prefix(1);
      int index = is_control ? -1 : 0;
      const size_t colon = name.rfind(':');
      if (const auto number = colon == name.npos ? std::nullopt : number_of(name.substr(colon + 1));
          number && !is_control) {
        index = *number;
        name = name.substr(0, colon);
      }
      entries_.push_back({name, index, tensor});
    }
  }
  void replace(Source& source, std::string_view name) {
    for (Entry& entry : entries_) {
      if (entry.name != name || entry.index != (source.is_control ? -1 : source.index)) continue;
      entry.is_used = true;
      source.given = entry.tensor;
      source.node = -1;
    }
  }
  // An error for keys that nothing has read and that are no output of the nodes.
  Status check(const NodeList& nodes) const {
    std::vector<std::string> unknown;
    for (const Entry& entry : entries_) {
      const int node = nodes.find(entry.name);
      const bool is_there =
          node >= 0 && entry.index < static_cast<int>(nodes.made(node).outputs.size());
      if (entry.is_used || is_there) continue;
      unknown.push_back(entry.index < 0 ? str_cat("^", entry.name)
                                        : str_cat(entry.name, ":", entry.index));
    }
    if (unknown.empty()) return {};
    return value_error("Attempted to map inputs that were not found in graph_def: [",
                       str_join(unknown, ", "), "]");
  }

 private:
  struct Entry {
    std::string_view name;  // into the caller's map
    int index;              // -1 for a control input
    Tensor tensor;
    bool is_used = false;
  };
  std::vector<Entry> entries_;
};

Result<ImportedElement> element(const std::string& text, const NodeList& nodes, InputMap& map) {
  const size_t colon = text.rfind(':');
  const int node = nodes.find(std::string_view(text).substr(0, colon));
  if (colon == std::string::npos) {
    if (node >= 0) return ImportedElement(nodes.made(node).node);
    return value_error("Requested return node '", text, "' not found in graph def");
  }
  const auto index = number_of(std::string_view(text).substr(colon + 1));
  if (!index) {
    return value_error("Cannot convert '", text,
                       "' to a tensor name. Second component of the name ",
                       "following the `:` should be an int. Got ", text.substr(colon + 1), ".");
  }
  if (node < 0) return value_error("Requested return tensor '", text, "' not found in graph def");
  Source source;
  source.node = node;
  source.index = *index;
  map.replace(source, std::string_view(text).substr(0, colon));
  if (std::optional<Tensor> tensor = nodes.tensor(source)) return ImportedElement(*tensor);
  return value_error("Invalid return output ", *index, " of node '", text.substr(0, colon),
                     "', which has ", nodes.made(node).outputs.size(), " output(s)");
}

Status check_format(const GraphDef& graph_def) {
  if (graph_def.min_consumer <= GraphDef::kVersion) return {};
  return value_error("GraphDef min consumer version ", graph_def.min_consumer,
                     " above current version ", GraphDef::kVersion);
}

}  // namespace

Result<std::vector<ImportedElement>> import_graph_def(const GraphDef& graph_def,
                                                      const ImportOptions& options,
                                                      Builder& builder) {
  Frame& frame = Frame::current();
  if (!frame.is_graph() || builder.graph() != frame.graph()) {
    return Status(Code::kFailedPrecondition,
                  "import_graph_def adds nodes to a graph, and none is being built: call it in a "
                  "function that is traced, or in `with graph.as_default()`",
                  ErrorKind::kRuntimeError);
  }
  RETURN_IF_ERROR(check_format(graph_def));
  FunctionLibrary library;
  RETURN_IF_ERROR(library.add(graph_def.functions));
  for (const NodeDef& def : graph_def.nodes) {
    if (is_node_name(def.name)) continue;
    return value_error("Node '", def.name, "': Node name contains invalid characters");
  }
  FrameState state(frame, *frame.graph_builder());
  InputMap map(options.input_map);
  NodeList nodes(graph_def.nodes, library);
  RETURN_IF_ERROR(nodes.index_names());
  RETURN_IF_ERROR(nodes.read_inputs([&](const NodeList& all, std::string_view text) {
    std::optional<Source> source = source_in_graph(all, text);
    if (source && source->node >= 0) map.replace(*source, graph_def.nodes[source->node].name);
    return source;
  }));
  RETURN_IF_ERROR(nodes.add(options.prefix, builder));
  std::vector<ImportedElement> elements;
  for (const std::string& text : options.return_elements) {
    ASSIGN_OR_RETURN(elements.emplace_back(), element(text, nodes, map));
  }
  RETURN_IF_ERROR(map.check(nodes));
  return elements;
}

Result<Ref<Graph>> graph_of(const FunctionDef& function, FunctionLibrary& library) {
  if (Stack::is_short()) {
    return Status(Code::kInvalidArgument,
                  str_cat("Functions are nested too deeply, at '", function.name, "'"),
                  ErrorKind::kRecursionError);
  }
  auto failed = [&](const auto&... text) {
    return value_error(text..., ", in function '", function.name, "'");
  };
  auto graph = make_ref<Graph>(function.name);
  GraphBuilder builder(graph);
  Frame frame(&builder);
  const auto sizes = std::make_unique<CallSizes>(graph);  // not on the stack, which nests deep
  std::map<std::string, Tensor, std::less<>> arguments;
  for (const ArgDef& argument : function.inputs) {
    if (argument.dtype == DType::kInvalid) {
      return failed("The argument '", argument.name, "' must have a dtype");
    }
    std::optional<HandleData> held;
    if (!argument.handle_data.empty()) {
      held.emplace();
      for (const auto& [dtype, shape] : argument.handle_data) {
        held->components.push_back({dtype, shape});
      }
    }
    Tensor tensor = builder.add_placeholder(argument.dtype, argument.shape, argument.name, held);
    set_extra_attributes(symbolic(tensor).node(), argument.attributes);
    if (!arguments.emplace(argument.name, tensor).second) {
      return failed("The argument '", argument.name, "' stands twice");
    }
  }
  NodeList nodes(function.nodes, library);
  auto parse = [&](const NodeList& all, std::string_view text) {
    return source_in_function(all, arguments, text);
  };
  auto in_function = [&](const Status& status) {
    return status.ok() ? status
                       : status.with_suffix(str_cat(", in function '", function.name, "'"));
  };
  RETURN_IF_ERROR(in_function(nodes.index_names()));
  RETURN_IF_ERROR(in_function(nodes.read_inputs(parse)));
  RETURN_IF_ERROR(in_function(nodes.add("", builder)));
  std::vector<OutputRef> outputs;
  for (const ArgDef& output : function.outputs) {
    auto result = function.results.find(output.name);
    if (result == function.results.end()) return failed("Return ", output.name, " missing");
    std::optional<Source> source = parse(nodes, result->second);
    const bool is_known = source && (source->given || source->node >= 0) && !source->is_control;
    std::optional<Tensor> tensor = is_known ? nodes.tensor(*source) : std::nullopt;
    if (!tensor) {
      return failed("Return ", output.name, " -> ", result->second, " is not found");
    }
    if (tensor->dtype() != output.dtype) {
      return failed("Return ", output.name, " -> ", result->second, " is ",
                    dtype_op_def_name(tensor->dtype()), ", but must be ",
                    dtype_op_def_name(output.dtype));
    }
    outputs.push_back(symbolic(*tensor).output());
  }
  std::vector<Node*> control_outputs;
  for (const auto& [name, node_name] : function.control_results) {
    const int node = nodes.find(node_name);
    if (node < 0) return failed("Control return ", name, " -> ", node_name, " is not found");
    control_outputs.push_back(nodes.made(node).node);
  }
  graph->set_outputs(std::move(outputs));
  graph->set_control_outputs(std::move(control_outputs));
  return graph;
}

Result<Ref<Graph>> graph_of(const FunctionDef& function,
                            const std::vector<FunctionDef>& functions) {
  FunctionLibrary library;
  RETURN_IF_ERROR(library.add(functions));
  return graph_of(function, library);
}

Status FunctionLibrary::add(const std::vector<FunctionDef>& functions) {
  for (const FunctionDef& function : functions) {
    if (!entries_.emplace(function.name, Entry{&function, {}, false}).second) {
      return value_error("Cannot add function '", function.name,
                         "' because there is another function of this name");
    }
  }
  return {};
}

Result<Ref<Body>> FunctionLibrary::body(const std::string& name) {
  auto at = entries_.find(name);
  if (at == entries_.end()) {
    return value_error("the function '", name, "' is not in the GraphDef's library");
  }
  Entry& entry = at->second;
  if (entry.body) return entry.body;
  if (entry.is_open) {
    return value_error("the function '", name, "' calls itself, which a graph cannot hold here");
  }
  entry.is_open = true;
  Result<Ref<Graph>> graph = graph_of(*entry.function, *this);
  entry.is_open = false;
  RETURN_IF_ERROR(graph.status());
  entry.body = Body::create(name, *std::move(graph));
  return entry.body;
}

}  // namespace graven::engine
