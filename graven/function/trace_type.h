#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/value.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// The state of one trace while arguments become placeholders: the graph under construction and the
// objects that stand for aliased arguments.
struct PlaceholderContext {
  GraphBuilder& builder;
  std::string name;  // of the parameter: the wished name of its leaves
  // Variables by alias id: the object of the tracing call, and its inner handle once made.
  std::unordered_map<int, Value> variables;
};

// The type of one argument for the cache: a partial order. Immutable.
class GRAVEN_API TraceType : public ValueType {
 public:
  enum class Kind : uint8_t {
    kTensor,
    kVariable,
    kLiteral,
    kContainer,
    kObject,
    kForeign,
  };
  virtual Kind kind() const = 0;
  virtual bool is_subtype_of(const TraceType& other) const = 0;
  // Null if the types have none.
  virtual Ref<const TraceType> common_supertype(const TraceType& other) const = 0;
  virtual bool equals(const TraceType& other) const = 0;
  virtual uint64_t hash() const = 0;
  // A hash that two types share if one may be a subtype of the other, or if they may have a common
  // supertype. None if users' code decides that.
  virtual std::optional<uint64_t> skeleton() const { return std::nullopt; }
  // Adds the shapes of the tensors and variables in the order of a row of words (key.h).
  virtual void add_shapes(std::vector<Shape>&) const {}
  // The type with other shapes of its tensors and variables: `shapes` begins with them, in the
  // order of add_shapes, and loses them.
  virtual Ref<const TraceType> with_shapes(std::span<const Shape>& shapes) const {
    (void)shapes;
    return Ref<const TraceType>(this);
  }
  virtual std::string repr() const = 0;
  // The value of the argument that the body sees during the trace; adds placeholders.
  virtual Result<Value> placeholder(PlaceholderContext& context) const = 0;
  // The tensors that are fed for a value that was matched to this type: as many as
  // placeholder() adds, in the same order.
  virtual Status to_tensors(const Value& value, std::vector<Tensor>& tensors) const = 0;
  // The type as an entry keeps it: without the variables of the call that made it.
  virtual Ref<const TraceType> for_keeping() const { return Ref<const TraceType>(this); }
};
using TraceTypeRef = Ref<const TraceType>;
// The type that a value carries itself; null if it carries none.
inline TraceTypeRef own_type_of(const Value& value) {
  return TraceTypeRef(static_cast<const TraceType*>(value.type.get()));
}

// Numbers the distinct variables of one call by first appearance.
struct TypingContext {
  // Literals of all types are compared by == (TensorFlow's profile), or by type and value.
  bool literals_equal_as_numbers = true;
  std::vector<const Resource*> variables;
  int alias_of(const Resource* variable);
};

// The type of a value.
GRAVEN_API Result<TraceTypeRef> type_of(const Value& value, TypingContext& context);

// --- The kinds.

class GRAVEN_API TensorType final : public TraceType {
 public:
  TensorType(Shape shape, DType dtype, std::optional<std::string> name = std::nullopt)
      : shape_(std::move(shape)), dtype_(dtype), name_(std::move(name)) {}
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  const std::optional<std::string>& name() const { return name_; }

  Kind kind() const override { return Kind::kTensor; }
  bool is_subtype_of(const TraceType& other) const override;
  TraceTypeRef common_supertype(const TraceType& other) const override;
  bool equals(const TraceType& other) const override;
  uint64_t hash() const override;
  std::optional<uint64_t> skeleton() const override;
  void add_shapes(std::vector<Shape>& shapes) const override { shapes.push_back(shape_); }
  Ref<const TraceType> with_shapes(std::span<const Shape>& shapes) const override;
  std::string repr() const override;
  Result<Value> placeholder(PlaceholderContext& context) const override;
  Status to_tensors(const Value& value, std::vector<Tensor>& tensors) const override;

 private:
  Shape shape_;
  DType dtype_;
  std::optional<std::string> name_;
};

class GRAVEN_API VariableType final : public TraceType {
 public:
  // `example`: the variable of the call, whose object the body sees; not part of the type.
  VariableType(Shape shape, DType dtype, bool trainable, int alias, Value example)
      : shape_(std::move(shape)),
        dtype_(dtype),
        trainable_(trainable),
        alias_(alias),
        example_(std::move(example)) {}
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  bool trainable() const { return trainable_; }
  int alias() const { return alias_; }
  Ref<const TraceType> for_keeping() const override;

  Kind kind() const override { return Kind::kVariable; }
  bool is_subtype_of(const TraceType& other) const override;
  TraceTypeRef common_supertype(const TraceType& other) const override;
  bool equals(const TraceType& other) const override;
  uint64_t hash() const override;
  std::optional<uint64_t> skeleton() const override;
  void add_shapes(std::vector<Shape>& shapes) const override { shapes.push_back(shape_); }
  Ref<const TraceType> with_shapes(std::span<const Shape>& shapes) const override;
  std::string repr() const override;
  Result<Value> placeholder(PlaceholderContext& context) const override;
  Status to_tensors(const Value& value, std::vector<Tensor>& tensors) const override;

 private:
  Shape shape_;
  DType dtype_;
  bool trainable_;
  int alias_;
  Value example_;
};

class GRAVEN_API LiteralType final : public TraceType {
 public:
  // `original`: the front end's own object of the value, which the body gets to see.
  LiteralType(Literal literal, bool equal_as_numbers, Ref<Opaque> original = nullptr)
      : literal_(std::move(literal)),
        equal_as_numbers_(equal_as_numbers),
        original_(std::move(original)) {}
  const Literal& literal() const { return literal_; }
  const Ref<Opaque>& original() const { return original_; }

  Kind kind() const override { return Kind::kLiteral; }
  bool is_subtype_of(const TraceType& other) const override { return equals(other); }
  TraceTypeRef common_supertype(const TraceType& other) const override;
  bool equals(const TraceType& other) const override;
  uint64_t hash() const override;
  std::optional<uint64_t> skeleton() const override;
  std::string repr() const override;
  Result<Value> placeholder(PlaceholderContext& context) const override;
  Status to_tensors(const Value&, std::vector<Tensor>&) const override { return {}; }

 private:
  Literal literal_;
  bool equal_as_numbers_;
  Ref<Opaque> original_;
};

class GRAVEN_API ContainerType final : public TraceType {
 public:
  ContainerType(Ref<const Container> container, std::vector<TraceTypeRef> items)
      : container_(std::move(container)), items_(std::move(items)) {}
  const Ref<const Container>& container() const { return container_; }
  const std::vector<TraceTypeRef>& items() const { return items_; }
  Ref<const TraceType> for_keeping() const override;

  Kind kind() const override { return Kind::kContainer; }
  bool is_subtype_of(const TraceType& other) const override;
  TraceTypeRef common_supertype(const TraceType& other) const override;
  bool equals(const TraceType& other) const override;
  uint64_t hash() const override;
  std::optional<uint64_t> skeleton() const override;
  void add_shapes(std::vector<Shape>& shapes) const override;
  Ref<const TraceType> with_shapes(std::span<const Shape>& shapes) const override;
  std::string repr() const override;
  Result<Value> placeholder(PlaceholderContext& context) const override;
  Status to_tensors(const Value& value, std::vector<Tensor>& tensors) const override;

 private:
  // The other's type of each item, in the order of the items here; none if the other is not of a
  // container like this one.
  std::optional<std::vector<const TraceType*>> matching_items(const TraceType& other) const;
  Ref<const Container> container_;
  std::vector<TraceTypeRef> items_;
};

// Any other object: matches the same object, or an equal one, while the object lives.
class GRAVEN_API ObjectType final : public TraceType {
 public:
  explicit ObjectType(Ref<Opaque> object) : object_(std::move(object)) {}
  const Ref<Opaque>& object() const { return object_; }

  Kind kind() const override { return Kind::kObject; }
  bool is_subtype_of(const TraceType& other) const override { return equals(other); }
  TraceTypeRef common_supertype(const TraceType& other) const override;
  bool equals(const TraceType& other) const override;
  uint64_t hash() const override { return object_->hash(); }
  std::optional<uint64_t> skeleton() const override;
  std::string repr() const override;
  Result<Value> placeholder(PlaceholderContext& context) const override;
  Status to_tensors(const Value&, std::vector<Tensor>&) const override { return {}; }

 private:
  Ref<Opaque> object_;
};

// A type that a user, or a composite tensor, defines in a front end by deriving from this.
class GRAVEN_API ForeignType : public TraceType {
 public:
  Kind kind() const override { return Kind::kForeign; }
};

// --- The type of a whole call.

enum class ParameterKind : uint8_t {
  kPositionalOnly,
  kPositionalOrKeyword,
  kVarPositional,
  kKeywordOnly,
  kVarKeyword,
};
GRAVEN_API std::string_view parameter_kind_name(ParameterKind kind);  // "POSITIONAL_ONLY"

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::kPositionalOrKeyword;
  bool optional = false;
  TraceTypeRef type;  // null: not constrained
  friend bool operator==(const Parameter& a, const Parameter& b);
};

struct GRAVEN_API FunctionType {
  std::vector<Parameter> parameters;
  std::vector<std::pair<uint64_t, TraceTypeRef>> captures;  // key, type; after tracing
  TraceTypeRef output;                                      // after tracing; null: unknown

  // The parameters alone: same number, names, kinds, types in order.
  bool equals(const FunctionType& other) const;
  bool is_subtype_of(const FunctionType& other) const;
  // The types generalised parameter by parameter; none if some have no common supertype.
  std::optional<FunctionType> common_supertype(const FunctionType& other) const;
  uint64_t hash() const;
  std::optional<uint64_t> skeleton() const;
  std::vector<Shape> shapes() const;
  // The type with other shapes, as many as shapes() gives.
  FunctionType with_shapes(std::span<const Shape> shapes) const;
  std::string signature() const;  // "(x: TensorSpec(...), y=<captured_default_value>)"
};

// The type of a result as the signature of a concrete function prints it: literals of None,
// tensors, containers.
GRAVEN_API TraceTypeRef type_of_output(const Value& value);

}  // namespace graven::engine
