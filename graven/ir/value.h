#pragma once
#include <cstddef>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/ir/container.h"
#include "graven/ir/literal.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The type of a value in the cache of a Function: the base of TraceType, of the room `function`.
class GRAVEN_API ValueType : public RefCounted {};

// An argument or a result, as it crosses from one language to the other.
struct GRAVEN_API Value {
  enum class Kind : uint8_t {
    kTensor,
    kVariable,   // tensor: the handle; object: the front end's variable
    kLiteral,    // literal; object: the front end's own object of it, if users are to see that
    kContainer,  // container, items
    kObject,     // compared by identity or ==, weakly held
    kTyped,      // an object with a TraceType of its own (a user's type, a composite)
  };
  Kind kind = Kind::kLiteral;
  Tensor tensor;
  Literal literal;
  Ref<const Container> container;
  std::vector<Value> items;
  Ref<Opaque> object;
  Ref<const ValueType> type;  // kTyped, or the type itself where a type stands for a value
  bool is_spec = false;       // a TraceType given in place of a value (get_concrete_function)

  static Value of_tensor(Tensor tensor);
  static Value of_literal(Literal literal);
  static Value of_container(Ref<const Container> container, std::vector<Value> items);
  static Value of_type(Ref<const ValueType> type);

  // The item whose tensors are fed and returned as the i-th.
  const Value& item_in_order(size_t i) const;
  Value& item_in_order(size_t i);
};

// The tensors of a value in the order in which they are fed and returned.
GRAVEN_API void collect_tensors(const Value& value, std::vector<Tensor>& tensors);

}  // namespace graven::engine
