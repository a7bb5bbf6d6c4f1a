#include "graven/ir/node_from_def.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "graven/base/strings.h"
#include "graven/ir/attributes.h"
#include "graven/ir/bodies.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/frame.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/verify.h"

namespace graven::engine {
namespace {

constexpr std::string_view kOutputShapes = "_output_shapes";
// Counts a list whose length follows from the inputs.
constexpr std::string_view kCount = "N";

// The kind as OpDefs name it.
struct KindName {
  std::string operator()(bool) const { return "bool"; }
  std::string operator()(int64_t) const { return "int"; }
  std::string operator()(double) const { return "float"; }
  std::string operator()(const std::string&) const { return "string"; }
  std::string operator()(DType) const { return "type"; }
  std::string operator()(const Shape&) const { return "shape"; }
  std::string operator()(const Tensor&) const { return "tensor"; }
  std::string operator()(const FunctionName&) const { return "func"; }
  std::string operator()(const Ref<Body>&) const { return "func"; }
  std::string operator()(EmptyList) const { return "list"; }
  std::string operator()(std::monostate) const { return "nothing"; }
  std::string operator()(const Ref<const Fusion>&) const { return "fusion"; }
  template <typename T>
  std::string operator()(const std::vector<T>&) const {
    return str_cat("list(", (*this)(T()), ")");
  }
};

// The name of the gradient that the program which made the node has given it.
constexpr std::string_view kGradient = "_gradient_op_type";

// Such a gradient, of which there is only the name here.
class GradientElsewhere final : public CustomGradient {
 public:
  GradientElsewhere(std::string node, std::string name)
      : node_(std::move(node)), name_(std::move(name)) {}
  Result<std::vector<Gradient>> gradient(Builder&, std::span<const Tensor>,
                                         std::span<const Tensor>) const override {
    return Status(
        Code::kNotFound,
        str_cat("No gradient defined for operation '", node_, "': its GraphDef names the ",
                "gradient '", name_, "', a function of the program that made it"),
        ErrorKind::kLookupError);
  }

 private:
  const std::string node_, name_;
};

// One node on its way into a graph.
class NodeMaker {
 public:
  NodeMaker(const NodeDef& def, std::string name, FunctionLibrary& library)
      : def_(def), name_(std::move(name)), library_(library) {
    // To a builder a "/" at the end says that the name is unique.
    while (name_.ends_with('/')) name_.pop_back();
  }

  Result<MadeNode> make(std::span<const Tensor> inputs, std::span<Node* const> controls,
                        Builder& builder) {
    const Op* op = OpRegistry::global().find(def_.op);
    if (!op && library_.has(def_.op)) return call(inputs, controls, builder);
    if (!op) {
      return Status(Code::kNotFound, str_cat("Op type not registered '", def_.op, "', of node '",
                                             name_, "': no op of this name is known here"));
    }
    op_ = op;
    Attrs attrs(op->attrs_type());
    RETURN_IF_ERROR(read_attributes(attrs));
    RETURN_IF_ERROR(check_inputs(attrs, inputs));
    RETURN_IF_ERROR(check_bodies(attrs, inputs));
    return apply(attrs, inputs, controls, builder);
  }

 private:
  // A node whose op is the name of a function.
  Result<MadeNode> call(std::span<const Tensor> inputs, std::span<Node* const> controls,
                        Builder& builder) {
    Result<Ref<Body>> body = library_.body(def_.op);
    if (!body.ok()) return failed_with(body.status());
    op_ = call_op(**body).op;
    const CallAttrs attrs = call_attrs(*body);
    expected_ = attrs.Tin;
    RETURN_IF_ERROR(check_dtypes(inputs));
    return apply(attrs, inputs, controls, builder);
  }

  template <typename... Args>
  Status failed(const Args&... args) const {
    return value_error(args..., "; NodeDef: {{node ", name_, "}} of op ",
                       op_ ? op_->name() : def_.op);
  }
  // An error of the engine's about this node.
  Status failed_with(const Status& status) const {
    if (status.kind() == ErrorKind::kRecursionError) return status;
    const Status noted = status.with_prefix(str_cat("Node '", name_, "': "));
    return status.code() == Code::kNotFound ? noted : noted.as_kind(ErrorKind::kValueError);
  }

  static const AttrDef* find(const AttrDefs& attributes, std::string_view name) {
    auto at = attributes.find(name);
    return at == attributes.end() ? nullptr : &at->second;
  }
  const AttrDef* attribute(std::string_view name) const { return find(def_.attributes, name); }

  Status wrong_kind(std::string_view name, const AttrDef& got, const std::string& wanted) const {
    return failed("AttrValue had value with type '", std::visit(KindName(), got), "' when '",
                  wanted, "' expected for attr '", name, "'");
  }

  // True for attributes that OpDefs have no default for, because inputs and outputs are read by
  // them: dtypes, lists of them, and counts.
  bool is_of_arguments(size_t field, std::string_view name) const {
    for (std::span<const ArgSpec> arguments : {op_->inputs(), op_->outputs()}) {
      for (const ArgSpec& arg : arguments) {
        const auto index = static_cast<int>(field);
        if (arg.type_list_attr == index || arg.count_attr == index) return true;
        if (arg.type_param >= 0 && op_->type_params()[arg.type_param].name == name) return true;
      }
    }
    return false;
  }

  Status read_attributes(Attrs& attrs) {
    std::span<const AttrField> fields = op_->attrs_type().fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      const AttrField& field = fields[i];
      const AttrDef* given = attribute(field.name);
      if (!given) {
        const bool is_dtype = field.is<DType>() || field.is<std::vector<DType>>();
        const bool has_default =
            !field.is_required && !((is_dtype || field.is<int64_t>()) &&
                                    is_of_arguments(i, field.name) && lacks_default(field, attrs));
        if (has_default) continue;
        return failed("NodeDef missing attr '", field.name, "' from Op<name=", op_->name(), ">");
      }
      ASSIGN_OR_RETURN(AttrValue value, value_of(*given, field, attrs));
      if (Status set = attrs.set(field.name, std::move(value)); !set.ok()) {
        return wrong_kind(field.name, *given, std::visit(KindName(), field.get(data(attrs))));
      }
    }
    for (const TypeConstraint& type : op_->type_params()) {
      const AttrDef* given = attribute(type.name);
      if (!given) {
        if (has_value(AttrsRef(attrs).get(type.name))) continue;  // a field, with a default
        return failed("NodeDef missing attr '", type.name, "' from Op<name=", op_->name(), ">");
      }
      if (!std::holds_alternative<DType>(*given)) return wrong_kind(type.name, *given, "type");
    }
    return {};
  }

  // Whether a dtype, list of dtypes or count has no value by itself.
  static bool lacks_default(const AttrField& field, const Attrs& attrs) {
    const AttrValue value = field.get(data(attrs));
    if (const auto* dtype = std::get_if<DType>(&value)) return *dtype == DType::kInvalid;
    return true;
  }
  static const void* data(const Attrs& attrs) { return AttrsRef(attrs).data(); }

  Result<AttrValue> value_of(const AttrDef& def, const AttrField& field, const Attrs& attrs) {
    if (std::holds_alternative<EmptyList>(def)) {
      AttrValue value = field.get(data(attrs));
      const bool is_list = std::visit(
          [](auto& v) {
            if constexpr (requires { v.resize(0); } &&
                          !std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
              v.clear();
              return true;
            }
            return false;
          },
          value);
      if (!is_list) return wrong_kind(field.name, def, std::visit(KindName(), value));
      return value;
    }
    if (const auto* function = std::get_if<FunctionName>(&def)) {
      Result<Ref<Body>> body = library_.body(function->name);
      if (!body.ok()) return failed_with(body.status());
      return AttrValue(*std::move(body));
    }
    if (const auto* functions = std::get_if<std::vector<FunctionName>>(&def)) {
      std::vector<Ref<Body>> bodies;
      for (const FunctionName& one : *functions) {
        Result<Ref<Body>> body = library_.body(one.name);
        if (!body.ok()) return failed_with(body.status());
        bodies.push_back(*std::move(body));
      }
      return AttrValue(std::move(bodies));
    }
    return plain_value(def);
  }

 public:
  // The value of a kind other than functions; an empty list is one of ints.
  static AttrValue plain_value(const AttrDef& def) {
    return std::visit(
        [](const auto& v) -> AttrValue {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, FunctionName> ||
                        std::is_same_v<T, std::vector<FunctionName>>) {
            return {};
          } else if constexpr (std::is_same_v<T, EmptyList>) {
            return std::vector<int64_t>();
          } else {
            return v;
          }
        },
        def);
  }

 private:
  // The dtypes that the attributes say the inputs have.
  Status check_inputs(const Attrs& attrs, std::span<const Tensor> inputs) {
    for (const ArgSpec& arg : op_->inputs()) {
      if (arg.type_list_attr >= 0) {
        const AttrValue listed = op_->attrs_type().fields[arg.type_list_attr].get(data(attrs));
        for (DType type : std::get<std::vector<DType>>(listed)) expected_.push_back(type);
        continue;
      }
      int64_t count = 1;
      if (arg.count_attr >= 0) {
        count = std::get<int64_t>(op_->attrs_type().fields[arg.count_attr].get(data(attrs)));
      } else if (arg.is_list) {
        const AttrDef* given = attribute(kCount);
        if (!given) {
          return failed("NodeDef missing attr '", kCount, "' from Op<name=", op_->name(), ">");
        }
        if (!std::holds_alternative<int64_t>(*given)) return wrong_kind(kCount, *given, "int");
        count = std::get<int64_t>(*given);
      }
      // More than there are inputs is an error anyway, whose text need not hold them all.
      if (arg.is_list && (count < 0 || count > static_cast<int64_t>(inputs.size()))) {
        return failed("NodeDef expected ", count, " inputs '", arg.name, "', which do not match ",
                      inputs.size(), " inputs specified");
      }
      DType type = arg.fixed;
      if (arg.type_param >= 0) {
        const TypeConstraint& param = op_->type_params()[arg.type_param];
        const AttrDef* given = attribute(param.name);
        type = given ? std::get<DType>(*given) : std::get<DType>(AttrsRef(attrs).get(param.name));
      }
      expected_.insert(expected_.end(), static_cast<size_t>(count), type);
    }
    return check_dtypes(inputs);
  }

  Status check_dtypes(std::span<const Tensor> inputs) const {
    if (inputs.size() != expected_.size()) {
      std::vector<std::string> names;
      for (DType type : expected_) names.emplace_back(dtype_op_def_name(type));
      return failed("NodeDef expected inputs '", str_join(names, ", "), "' do not match ",
                    inputs.size(), " inputs specified");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].dtype() == expected_[i]) continue;
      std::string from = "a value";
      if (inputs[i].is_symbolic()) {
        const OutputRef output = symbolic(inputs[i]).output();
        from = str_cat(output.node->name(), ":", output.index);
      }
      return value_error("Input ", i, " of node ", name_, " was passed ",
                         dtype_op_def_name(inputs[i].dtype()), " from ", from,
                         " incompatible with expected ", dtype_op_def_name(expected_[i]), ".");
    }
    return {};
  }

  // The rules of the verifier, on a node of a graph of its own: shape inference relies on them.
  Status check_bodies(const Attrs& attrs, std::span<const Tensor> inputs) const {
    if (op_->record().bodies.fields.empty()) return {};
    const auto graph = make_ref<Graph>("");
    std::vector<OutputRef> refs;
    std::vector<DType> dtypes;
    for (const Tensor& input : inputs) {
      std::vector<OutputType> types(1);
      types[0].dtype = input.dtype();
      types[0].shape = Shape::unknown_rank();
      Node* node = graph->add({.op = kPlaceholder.op,
                               .attrs = PlaceholderAttrs{input.dtype()},
                               .name = str_cat("input_", refs.size()),
                               .inputs = {},
                               .outputs = std::move(types)});
      refs.push_back({node, 0});
      dtypes.push_back(input.dtype());
    }
    TypeBindings bindings;
    if (Status bound = op_->bind_types(std::span<const DType>(dtypes), attrs, false, bindings);
        !bound.ok()) {
      return failed_with(bound);
    }
    InlineVector<DType, 4> output_dtypes;
    op_->output_dtypes(bindings, attrs, static_cast<int>(inputs.size()), output_dtypes);
    std::vector<OutputType> types(output_dtypes.size());
    for (size_t i = 0; i < types.size(); ++i) {
      types[i].dtype = output_dtypes[i];
      types[i].shape = Shape::unknown_rank();
    }
    Node* node = graph->add(
        {.op = op_, .attrs = attrs, .name = name_, .inputs = refs, .outputs = std::move(types)});
    if (Status fits = verify_node(*node); !fits.ok()) {
      return value_error(fits.message());
    }
    return {};
  }

  Result<MadeNode> apply(AttrsRef attrs, std::span<const Tensor> inputs,
                         std::span<Node* const> controls, Builder& builder) {
    Frame& frame = Frame::current();
    GraphBuilder& graph_builder = *frame.graph_builder();
    const std::vector<Node*> scope = graph_builder.control_inputs;
    const std::string device = frame.device;
    for (Node* before : controls) {
      if (std::ranges::find(graph_builder.control_inputs, before) ==
          graph_builder.control_inputs.end()) {
        graph_builder.control_inputs.push_back(before);
      }
    }
    if (!def_.device.empty()) frame.device = def_.device;
    const auto* gradient = std::get_if<std::string>(find(def_.attributes, kGradient));
    Builder& through = gradient ? builder.unrecorded() : builder;
    Result<Tensors> outputs = through.apply(*op_, inputs, attrs, name_);
    graph_builder.control_inputs = scope;
    frame.device = device;
    if (!outputs.ok()) return failed_with(outputs.status());
    MadeNode made;
    made.outputs = *std::move(outputs);
    made.node = made.outputs.empty() ? graph_builder.graph()->nodes().back()
                                     : &symbolic(made.outputs[0]).node();
    if (&made.node->op() == op_) set_extra_attributes(*made.node, def_.attributes);
    if (gradient) set_gradient(made, inputs, *gradient);
    RETURN_IF_ERROR(narrow(made));
    return made;
  }

  void set_gradient(const MadeNode& made, std::span<const Tensor> inputs,
                    const std::string& name) const {
    const auto elsewhere = make_ref<GradientElsewhere>(made.node->name(), name);
    made.node->graph().set_custom_gradient(made.node, elsewhere);
    const BackwardRef backward =
        backward_of(name, [elsewhere](Builder& b, std::span<const Gradient>) {
          return elsewhere->gradient(b, {}, {});
        });
    for (Listener* listener : Frame::current().listeners) {
      listener->on_step(inputs, {made.outputs.data(), made.outputs.size()}, backward);
    }
  }

  // Takes over what "_output_shapes" says.
  Status narrow(const MadeNode& made) const {
    const AttrDef* given = attribute(kOutputShapes);
    if (!given) return {};
    std::vector<Shape> shapes;
    if (const auto* listed = std::get_if<std::vector<Shape>>(given)) {
      shapes = *listed;
    } else if (!std::holds_alternative<EmptyList>(*given)) {
      return wrong_kind(kOutputShapes, *given, "list(shape)");
    }
    if (shapes.size() != made.outputs.size()) {
      return value_error("Node '", name_, "' has ", made.outputs.size(),
                         " outputs but the _output_shapes attribute specifies shapes for ",
                         shapes.size(), " outputs");
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Tensor& output = made.outputs[i];
      if (!are_compatible(output.shape(), shapes[i])) {
        return value_error("Node '", name_, "' has an _output_shapes attribute inconsistent with ",
                           "the GraphDef for output #", i, ": it says ", shapes[i].to_message(),
                           ", and the inputs give ", output.shape().to_message());
      }
      // It says no more: terms are better known than by data.
      if (is_subshape(output.shape(), shapes[i])) continue;
      auto& object = const_cast<SymbolicTensor&>(symbolic(output));
      RETURN_IF_ERROR(object.set_shape(shapes[i]));
    }
    return {};
  }

  const NodeDef& def_;
  std::string name_;
  FunctionLibrary& library_;
  const Op* op_ = nullptr;
  std::vector<DType> expected_;
};

}  // namespace

Result<MadeNode> add_node(const NodeDef& def, std::string name, std::span<const Tensor> inputs,
                          std::span<Node* const> controls, FunctionLibrary& library,
                          Builder& builder) {
  return NodeMaker(def, std::move(name), library).make(inputs, controls, builder);
}

void set_extra_attributes(Node& node, const AttrDefs& attributes) {
  for (const auto& [name, def] : attributes) {
    if (name == kOutputShapes || has_value(node.attribute(name))) continue;
    AttrValue value = NodeMaker::plain_value(def);
    if (has_value(value)) node.graph().set_attribute(&node, name, std::move(value));
  }
}

}  // namespace graven::engine
