#include "graven/ops/optional_ops.h"

#include <utility>

#include "graven/ir/batch_context.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/register_ops.h"
#include "graven/tensor/optional.h"
#include "graven/tensor/resource_as.h"

namespace graven::engine {
namespace {

Result<const Optional*> optional_in(const KernelContext& c) {
  ASSIGN_OR_RETURN(Optional * optional, resource_as<Optional>(c.input(0), Optional::kName));
  return optional;
}

Status check_scalar(const InferContext& c) {
  if (!c.shape(0).has_rank() || c.shape(0).rank() == 0) return {};
  return invalid_argument("optional must be a scalar, saw: ", c.shape(0).to_message());
}

void give(KernelContext& c, Ref<Optional> optional) {
  c.out<Ref<Resource>>(0)[0] = std::move(optional);
}

// --- OptionalFromValue and OptionalNone.

Status from_value_type(InferContext& c) {
  if (c.num_inputs() == 0) {
    return invalid_argument("Length for attr 'Toutput_types' of 0 must be at least minimum 1");
  }
  c.set_shape(0, Shape());
  if (!c.is_graph()) return {};
  std::vector<HeldType> held;
  for (int i = 0; i < c.num_inputs(); ++i) held.push_back({c.dtype(i), c.shape(i)});
  c.set_handle_data(0, HandleData(std::move(held)));
  return {};
}

void from_value_gradient(GradientContext& c) {
  OptionalGetValueAttrs attrs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    attrs.output_types.push_back(c.dtype_of_x(i));
    attrs.output_shapes.push_back(c.static_shape_of_x(i));
  }
  const Tensors parts = c.apply(*kOptionalGetValue, {{c.dy()}}, attrs);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (c.wants(static_cast<int>(i))) c.set_dx(static_cast<int>(i), parts[i]);
  }
}

void batch_from_value(BatchContext& c) {
  std::vector<Tensor> components;
  for (int i = 0; i < c.num_inputs(); ++i) {
    components.push_back(c.any_batched() ? c.repeated(i) : c.x(i));
  }
  if (c.uses_loop()) return;
  const Tensors made = c.apply(c.op(), components, c.raw_attrs());
  if (!made.empty()) c.set_y(0, made[0], c.any_batched());
}

void define_makers(OpRegistry& ops) {
  kOptionalFromValue = ops.define<OptionalFromValueAttrs>({
      .name = "OptionalFromValue",
      .summary = "An optional that has a value: some tensors.",
      .inputs = {"components: Toutput_types"},
      .outputs = {"optional: variant"},
      .infer = from_value_type,
      .gradient = from_value_gradient,
      .batch = batch_from_value,
      .body = kernel([](KernelContext& c) -> Status {
        give(c, make_ref<Optional>(std::vector<Tensor>(c.inputs().begin(), c.inputs().end())));
        return {};
      }),
  });
  kOptionalNone = ops.define<NoAttrs>({
      .name = "OptionalNone",
      .summary = "An optional that has no value.",
      .outputs = {"optional: variant"},
      .infer = scalar_output,
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        give(c, make_ref<Optional>());
        return {};
      }),
  });
}

// --- OptionalHasValue and OptionalGetValue.

Status get_value_shapes(InferContext& c) {
  const auto& attrs = c.attrs<OptionalGetValueAttrs>();
  if (attrs.output_types.empty()) {
    return invalid_argument("Length for attr 'output_types' of 0 must be at least minimum 1");
  }
  if (attrs.output_types.size() != attrs.output_shapes.size()) {
    return invalid_argument("output_types and output_shapes must be same length, got ",
                            attrs.output_types.size(), " and ", attrs.output_shapes.size());
  }
  RETURN_IF_ERROR(check_scalar(c));
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_shape(i, attrs.output_shapes[static_cast<size_t>(i)]);
  }
  return {};
}

Status get_value_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<OptionalGetValueAttrs>();
  ASSIGN_OR_RETURN(const Optional* optional, optional_in(c));
  if (!optional->has_value()) {
    return invalid_argument("The given optional does not have a value.");
  }
  const auto values = optional->values();
  if (values.size() != attrs.output_types.size()) {
    return invalid_argument("The given optional has ", values.size(), " components, expected ",
                            attrs.output_types.size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor& value = values[i];
    if (value.dtype() != attrs.output_types[i]) {
      return invalid_argument("The given optional does not match the expected type for component ",
                              i, ". Expected: ", dtype_name(attrs.output_types[i]),
                              ". Actual: ", dtype_name(value.dtype()), ".");
    }
    if (!merge_shapes(attrs.output_shapes[i], value.shape()).ok()) {
      return invalid_argument("The given optional does not match the expected shape for component ",
                              i, ". Expected: ", attrs.output_shapes[i].to_message(),
                              ". Actual: ", value.shape().to_message(), ".");
    }
    // A tape tells tensors apart by their objects.
    c.set_output(static_cast<int>(i), value.with_shape(value.shape()));
  }
  return {};
}

void get_value_gradient(GradientContext& c) {
  const auto& read = c.attrs<OptionalGetValueAttrs>();
  std::vector<Tensor> parts;
  for (int i = 0; i < c.num_outputs(); ++i) {
    // The gradient has all components. Of strings and handles there are no zeros, and nothing reads
    // these.
    const DType dtype = read.output_types[static_cast<size_t>(i)];
    parts.push_back(is_plain(dtype) || dtype == DType::kVariant ? c.dy(i) : c.y(i));
  }
  const OptionalFromValueAttrs attrs{.Toutput_types = read.output_types};
  const Tensors made = c.apply(*kOptionalFromValue, parts, attrs);
  if (!made.empty()) c.set_dx(0, made[0]);
}

void batch_get_value(BatchContext& c) {
  OptionalGetValueAttrs attrs = c.attrs<OptionalGetValueAttrs>();
  if (c.is_batched(0)) {
    const auto rows = c.num_rows_if_known();
    for (Shape& shape : attrs.output_shapes) {
      if (shape.has_rank()) shape.insert(0, rows ? Dim(*rows) : Dim::unknown());
    }
  }
  const Tensors values = c.apply(*kOptionalGetValue, {{c.x(0)}}, attrs);
  for (size_t i = 0; i < values.size(); ++i) {
    c.set_y(static_cast<int>(i), values[i], c.is_batched(0));
  }
}

void define_readers(OpRegistry& ops) {
  kOptionalHasValue = ops.define<NoAttrs>({
      .name = "OptionalHasValue",
      .summary = "Whether an optional has a value.",
      .inputs = {"optional: variant"},
      .outputs = {"has_value: bool"},
      .infer = [](InferContext& c) -> Status {
        c.set_shape(0, Shape());
        return check_scalar(c);
      },
      .gradient = not_differentiable,
      // All rows have a value, or none has.
      .batch = [](BatchContext& c) { c.set_y(0, c(kOptionalHasValue, {c.x(0)}), false); },
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(const Optional* optional, optional_in(c));
        c.out<bool>(0)[0] = optional->has_value();
        return {};
      }),
  });
  kOptionalGetValue = ops.define<OptionalGetValueAttrs>({
      .name = "OptionalGetValue",
      .summary = "The tensors that an optional has.",
      .details = "Args:\n  output_types: Their dtypes.\n  output_shapes: What is known of their "
                 "shapes.\n\nRaises:\n  InvalidArgumentError: It has no value, or other tensors.",
      .inputs = {"optional: variant"},
      .outputs = {"components: output_types"},
      .infer = get_value_shapes,
      .gradient = get_value_gradient,
      .batch = batch_get_value,
      .body = kernel(get_value_kernel),
      .allocates_outputs = true,
  });
}

}  // namespace

void define_optional_ops(OpRegistry& ops) {
  define_makers(ops);
  define_readers(ops);
}

}  // namespace graven::engine
