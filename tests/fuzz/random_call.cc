#include "tests/fuzz/random_call.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graven/base/strings.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

constexpr int64_t kMaxElements = 500;

// The dtypes of an op's inputs: those of its type parameters, and those that are listed.
struct Choice {
  std::vector<DType> types;  // one a type parameter
  std::vector<DType> list;   // of a list of types
  size_t count = 0;          // of a list of one type
};

template <typename T>
void write_number(void* to, double value, int64_t integer) {
  T* element = static_cast<T*>(to);
  if constexpr (std::is_same_v<T, bool>) {
    *element = integer & 1;
  } else if constexpr (std::is_integral_v<T>) {
    *element = static_cast<T>(static_cast<uint64_t>(integer));
  } else if constexpr (std::is_floating_point_v<T>) {
    *element = static_cast<T>(value);
  } else if constexpr (is_complex(kDTypeOf<T>)) {
    using Part = typename T::value_type;
    *element = T(static_cast<Part>(value), static_cast<Part>(integer));
  } else {
    *element = T(static_cast<float>(value));
  }
}

template <typename T>
std::string element_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return str_cat(value);
  } else if constexpr (is_complex(kDTypeOf<T>)) {
    return str_cat(value.real(), "+", value.imag(), "i");
  } else {
    return str_cat(static_cast<float>(value));
  }
}

std::string tensor_text(const Tensor& tensor) {
  std::string text = str_cat(dtype_name(tensor.dtype()), tensor.shape().to_message());
  if (!is_plain(tensor.dtype())) return text;
  text += " =";
  visit_plain(tensor.dtype(), [&](auto zero) {
    auto elements = tensor.data<decltype(zero)>();
    for (size_t i = 0; i < std::min<size_t>(elements.size(), 12); ++i) {
      text += " " + element_text(elements[i]);
    }
  });
  return text + (tensor.num_elements() > 12 ? " ..." : "");
}

}  // namespace

std::string RandomCall::to_text(const Op& op) const {
  std::string text = op.name() + "(";
  for (size_t i = 0; i < inputs.size(); ++i) text += (i ? ", " : "") + tensor_text(inputs[i]);
  text += ") {";
  for (const AttrField& field : op.attrs_type().fields) {
    text += str_cat(field.name, "=", engine::to_text(field.get(AttrsRef(attrs).data())), " ");
  }
  return text + "}";
}

int64_t CallMaker::integer() {
  if (chance(85)) return static_cast<int64_t>(below(7)) - 2;
  constexpr int64_t kEnds[] = {std::numeric_limits<int64_t>::max(),
                               std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int32_t>::max(),
                               std::numeric_limits<int32_t>::min(),
                               int64_t{1} << 32,
                               int64_t{1} << 62,
                               100,
                               -100,
                               127,
                               255};
  return kEnds[below(std::size(kEnds))];
}

int64_t CallMaker::small() { return chance(90) ? 1 + static_cast<int64_t>(below(3)) : integer(); }

double CallMaker::number() {
  if (chance(85)) return static_cast<double>(static_cast<int64_t>(below(4001)) - 2000) / 500.0;
  constexpr double kEnds[] = {0.0,
                              -0.0,
                              1e30,
                              -1e300,
                              1e-40,
                              5e-324,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
  return kEnds[below(std::size(kEnds))];
}

std::string CallMaker::text(std::string_view attribute) {
  if (attribute == "padding" && chance(90)) return chance(50) ? "SAME" : "VALID";
  constexpr std::string_view kTexts[] = {"",     "SAME", "VALID", "EXPLICIT", "NHWC", "NCHW",
                                         "HWIO", "{}",   "%s",    "reflect",  "x"};
  return std::string(kTexts[below(std::size(kTexts))]);
}

DType CallMaker::dtype(DTypeSet allowed) {
  for (int tries = 0; tries < 1000; ++tries) {
    auto type = static_cast<DType>(below(kNumDTypes));
    if (allowed.contains(type)) return type;
  }
  return DType::kFloat32;
}

Shape CallMaker::shape() {
  Shape shape;
  int64_t elements = 1;
  int rank = chance(30) ? 4 : static_cast<int>(below(6));
  for (int i = 0; i < rank; ++i) {
    int64_t size = chance(7) ? 0 : 1 + static_cast<int64_t>(below(chance(10) ? 40 : 5));
    if (elements * size > kMaxElements) size = 1;
    elements *= std::max<int64_t>(size, 1);
    shape.push_back(Dim(size));
  }
  return shape;
}

Shape CallMaker::like_base() {
  Shape shape = base_;
  if (chance(60)) return shape;
  if (chance(40) && shape.rank() > 0) {  // broadcasts to it
    shape.set(static_cast<int>(below(shape.rank())), Dim(1));
    return shape;
  }
  if (chance(30)) return Shape();
  if (chance(50)) {  // a vector of its last size, of its rank, of any size
    int64_t size = shape.rank() > 0 && chance(50) ? shape.size(shape.rank() - 1) : shape.rank();
    return Shape{Dim(chance(80) ? size : static_cast<int64_t>(below(5)))};
  }
  if (chance(50) && shape.rank() > 0) {  // without its first or its last dimension
    shape.erase(chance(50) ? 0 : shape.rank() - 1);
    return shape;
  }
  return this->shape();
}

Tensor CallMaker::tensor(DType dtype, const Shape& shape) {
  Tensor made = *Tensor::allocate(dtype, shape);
  if (dtype == DType::kString) {
    for (std::string& element : made.mutable_data<std::string>()) element = text("");
  } else if (is_plain(dtype)) {
    visit_plain(dtype, [&](auto zero) {
      for (auto& element : made.mutable_data<decltype(zero)>()) {
        write_number<decltype(zero)>(&element, number(), integer());
      }
    });
  }
  return made;
}

Tensor CallMaker::input(DType dtype, DType behind_resource) {
  if (dtype != DType::kResource) {
    // Axes, indices, sizes and paddings are small integers.
    bool is_index = dtype == DType::kInt32 || dtype == DType::kInt64;
    if (is_index && chance(40)) {
      if (chance(30)) return tensor(dtype, Shape());
      if (chance(15)) return tensor(dtype, Shape{Dim(base_.rank()), Dim(2)});
      return tensor(dtype, Shape{Dim(chance(70) ? base_.rank() : static_cast<int>(below(5)))});
    }
    return tensor(dtype, like_base());
  }
  auto variable = make_ref<Variable>(behind_resource, Shape::unknown_rank(), "v");
  if (chance(95)) (void)variable->assign(tensor(behind_resource, like_base()));
  return Tensor::of_resource(variable);
}

template <typename T, typename Make>
std::vector<T> CallMaker::list(size_t usual_size, Make make) {
  std::vector<T> values(chance(85) ? usual_size : below(6));
  for (T& value : values) value = make();
  return values;
}

AttrValue CallMaker::attribute(const AttrField& field, AttrValue usual) {
  if (chance(45)) return usual;
  struct Visitor {
    CallMaker& make;
    const AttrField& field;
    AttrValue operator()(std::monostate) { return {}; }
    AttrValue operator()(bool) { return make.chance(50); }
    AttrValue operator()(int64_t) { return make.chance(50) ? make.small() : make.integer(); }
    AttrValue operator()(double) { return make.number(); }
    AttrValue operator()(const std::string&) { return make.text(field.name); }
    AttrValue operator()(DType) { return make.dtype(kPlainTypes); }
    AttrValue operator()(const Shape&) { return make.like_base(); }
    AttrValue operator()(const Tensor&) {
      return make.tensor(make.dtype(kPlainTypes), make.like_base());
    }
    AttrValue operator()(const std::vector<int64_t>& values) {
      if (field.name == "strides" || field.name == "ksize" || field.name == "dilations") {
        return make.list<int64_t>(4, [&] { return make.chance(50) ? 1 : make.small(); });
      }
      return make.list<int64_t>(values.size(), [&] { return make.integer(); });
    }
    AttrValue operator()(const std::vector<double>& values) {
      return make.list<double>(values.size(), [&] { return make.number(); });
    }
    AttrValue operator()(const std::vector<std::string>& values) {
      return make.list<std::string>(values.size(), [&] { return make.text(field.name); });
    }
    AttrValue operator()(const std::vector<DType>& values) { return values; }
    AttrValue operator()(const std::vector<Shape>& values) {
      return make.list<Shape>(values.size(), [&] { return make.like_base(); });
    }
    AttrValue operator()(const Ref<Body>& value) { return value; }
    AttrValue operator()(const std::vector<Ref<Body>>& value) { return value; }
    AttrValue operator()(const Ref<const Fusion>& value) { return value; }
  };
  return std::visit(Visitor{*this, field}, usual);
}

RandomCall CallMaker::call(const Op& op) {
  RandomCall made{{}, Attrs(op.attrs_type())};
  base_ = shape();
  Choice choice;
  for (const TypeConstraint& type : op.type_params()) {
    choice.types.push_back(chance(97) ? dtype(type.allowed) : dtype(kPlainTypes));
  }
  choice.count = 1 + below(3);
  for (size_t i = 0; i < choice.count; ++i) choice.list.push_back(dtype(kPlainTypes));
  DType behind_resource = choice.types.empty() ? dtype(kPlainTypes) : choice.types.back();

  const auto& fields = op.attrs_type().fields;
  auto set = [&](const AttrField& field, AttrValue value) {
    (void)made.attrs.set(field.name, std::move(value));
  };
  for (const AttrField& field : fields) {
    set(field, attribute(field, field.get(AttrsRef(made.attrs).data())));
    // What must agree with the inputs mostly does.
    for (size_t i = 0; i < op.type_params().size(); ++i) {
      if (op.type_params()[i].name == field.name && chance(95)) set(field, choice.types[i]);
    }
    if (field.name == "dtype" && op.type_params().empty() && chance(90)) {
      set(field, behind_resource);
    }
  }
  for (const ArgSpec& arg : op.inputs()) {
    if (arg.type_list_attr >= 0) {
      if (chance(95)) set(fields[arg.type_list_attr], choice.list);
      for (DType type : choice.list) made.inputs.push_back(input(type, behind_resource));
      continue;
    }
    if (arg.is_list && arg.count_attr >= 0 && chance(95)) {
      set(fields[arg.count_attr], static_cast<int64_t>(choice.count));
    }
    DType type = arg.type_param >= 0 ? choice.types[arg.type_param] : arg.fixed;
    for (size_t i = 0; i < (arg.is_list ? choice.count : 1); ++i) {
      made.inputs.push_back(input(type, behind_resource));
    }
  }
  return made;
}

}  // namespace graven::engine
