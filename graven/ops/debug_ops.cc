#include "graven/ops/debug_ops.h"

#include <cstdio>
#include <vector>

#include "graven/base/mutex.h"
#include "graven/ir/batch_context.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"
#include "graven/ops/non_finite.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/tensor_summary.h"

namespace graven::engine {
namespace {

Status check_scalar(const InferContext& c, const char* name) {
  if (!c.shape(0).has_rank() || c.shape(0).rank() == 0) return {};
  return invalid_argument(name, " must be a scalar: ", c.shape(0).to_message());
}

Status assert_kernel(KernelContext& c) {
  if (c.input(0).item<bool>()) return {};
  std::string message = "assertion failed: ";
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (i > 1) message += ' ';
    message += str_cat("[", summarize_first(c.input(i), c.attrs<AssertAttrs>().summarize), "]");
  }
  return invalid_argument(message);
}

// It holds if it holds for all rows.
void batch_assert(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.x(i));
  if (c.is_batched(0)) inputs[0] = c(kAll, {c.x(0), c.constant(Tensor::scalar<int32_t>(0))});
  c.apply(c.op(), inputs, c.raw_attrs());
}

void define_assert(OpRegistry& ops) {
  kAssert = ops.define<AssertAttrs>({
      .name = "Assert",
      .summary = "Fails, with the data in its message, unless the condition holds.",
      .inputs = {"condition: bool", "data: T"},
      .infer = [](InferContext& c) -> Status { return check_scalar(c, "In[0]"); },
      .gradient = not_differentiable,
      .batch = batch_assert,
      .body = kernel(assert_kernel),
      .effects = ordered_effects,
  });
}

// --- CheckNumerics.

Status check_numerics_kernel(KernelContext& c) {
  const Tensor& x = c.input(0);
  const NonFinite found = count_non_finite(x);
  const bool is_v2 = &c.op() == kCheckNumericsV2.op;
  std::vector<std::string> kinds;
  if (found.num_plus > 0 && is_v2) kinds.push_back("+Inf");
  if (found.num_minus > 0 && is_v2) kinds.push_back("-Inf");
  if (!is_v2 && (found.num_plus > 0 || found.num_minus > 0)) kinds.push_back("Inf");
  if (found.num_nan > 0) kinds.push_back("NaN");
  if (!kinds.empty()) {
    std::string all = kinds[0];
    for (size_t i = 1; i < kinds.size(); ++i) {
      all += str_cat(i + 1 < kinds.size() ? ", " : " and ", kinds[i]);
    }
    return invalid_argument(c.attrs<CheckNumericsAttrs>().message, " : Tensor had ", all,
                            " values");
  }
  c.set_output(0, x.with_shape(x.shape()));
  return {};
}

// The gradient is checked too.
template <OpHandle<CheckNumericsAttrs>& op>
void check_numerics_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  std::string message = str_cat(c.attrs<CheckNumericsAttrs>().message,
                                ": Not a number (NaN) or infinity (Inf) values detected in "
                                "gradient. ");
  c.set_dx(0, c(op, {c.dy()}, {.message = message}));
}

void define_check_numerics_and_kin(OpRegistry& ops) {
  kCheckNumerics = ops.define<CheckNumericsAttrs>({
      .name = "CheckNumerics",
      .python = "debugging.check_numerics",
      .summary = "The tensor itself; fails if it holds NaN or infinities.",
      .inputs = {"tensor: T"},
      .outputs = {"output: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = check_numerics_gradient<kCheckNumerics>,
      .batch = batch_any_shape,
      .body = kernel(check_numerics_kernel),
      .allocates_outputs = true,
      .effects = ordered_effects,
  });
  kCheckNumericsV2 = ops.define<CheckNumericsAttrs>({
      .name = "CheckNumericsV2",
      .summary = "The tensor itself; fails if it holds NaN or infinities, and tells their signs.",
      .inputs = {"tensor: T"},
      .outputs = {"output: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = check_numerics_gradient<kCheckNumericsV2>,
      .batch = batch_any_shape,
      .body = kernel(check_numerics_kernel),
      .allocates_outputs = true,
      .effects = ordered_effects,
  });
}

// Prints of several threads do not mix: the C library locks the stream for a whole text.
Status write_all(std::FILE* file, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0) {
    return Status(Code::kUnknown, "[PrintV2] the text could not be written");
  }
  return {};
}

Status print_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<PrintAttrs>();
  const std::string& stream = attrs.output_stream;
  std::string text = c.in<std::string>(0)[0] + attrs.end;
  constexpr std::string_view kFile = "file://";
  if (stream.starts_with(kFile)) {
    // Each print opens the file anew, so the lock of the stream does not keep threads apart; this
    // mutex does. It is only for files: a pipe without a reader blocks no print to other places.
    static Mutex files;
    MutexLock lock(files);
    std::FILE* file = std::fopen(stream.c_str() + kFile.size(), "ab");
    if (!file) {
      return invalid_argument("Could not open file '", stream.substr(kFile.size()),
                              "' for appending");
    }
    Status status = write_all(file, text);
    std::fclose(file);
    return status;
  }
  if (stream == "stdout") return write_all(stdout, text);
  if (stream == "stderr") return write_all(stderr, text);
  const std::pair<std::string_view, std::string_view> logs[] = {
      {"log(info)", "INFO: "}, {"log(warning)", "WARNING: "}, {"log(error)", "ERROR: "}};
  for (auto [name, level] : logs) {
    if (stream == name) return write_all(stderr, str_cat(level, text));
  }
  return invalid_argument("Unknown output stream '", stream,
                          "': it is stdout, stderr, log(info), log(warning), log(error), or "
                          "file:// and a path");
}

void define_print_v2(OpRegistry& ops) {
  kPrintV2 = ops.define<PrintAttrs>({
      .name = "PrintV2",
      .summary = "Writes a string to a stream.",
      .inputs = {"input: string"},
      .infer = [](InferContext& c) -> Status { return check_scalar(c, "Input"); },
      .body = kernel(print_kernel),
      .effects = blocking_effects,
  });
}

// --- StringFormat.

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

Status string_format_shape(InferContext& c) {
  const auto& attrs = c.attrs<StringFormatAttrs>();
  if (attrs.placeholder.empty()) return invalid_argument("placeholder must not be empty");
  size_t places = count_of(attrs.text, attrs.placeholder);
  if (places != static_cast<size_t>(c.num_inputs())) {
    return invalid_argument("num placeholders in template and num inputs must match: ", places,
                            " vs. ", c.num_inputs());
  }
  c.set_shape(0, Shape());
  return {};
}

Status string_format_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<StringFormatAttrs>();
  std::string out;
  size_t from = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    size_t at = attrs.text.find(attrs.placeholder, from);
    out += attrs.text.substr(from, at - from);
    out += summarize_ends(c.input(i), attrs.summarize);
    from = at + attrs.placeholder.size();
  }
  out += attrs.text.substr(from);
  c.out<std::string>(0)[0] = std::move(out);
  return {};
}

void define_string_format(OpRegistry& ops) {
  kStringFormat = ops.define<StringFormatAttrs>({
      .name = "StringFormat",
      .summary = "The template, with summaries of the inputs in place of its placeholders.",
      .inputs = {"inputs: T"},
      .outputs = {"output: string"},
      .infer = string_format_shape,
      .body = kernel(string_format_kernel),
  });
}

// --- StringJoin.

Status string_join_shape(InferContext& c) {
  Shape shape;
  bool unknown = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.shape(i).has_rank()) {
      unknown = true;
    } else if (c.shape(i).rank() > 0) {
      if (shape.rank() == 0) shape = c.shape(i);
      auto merged = merge_shapes(shape, c.shape(i));
      if (!merged.ok()) {
        return invalid_argument("Input shapes do not match: ", shape.to_message(), " vs. ",
                                c.shape(i).to_message());
      }
      shape = *merged;
    }
  }
  c.set_shape(0, unknown && shape.rank() == 0 ? Shape::unknown_rank() : shape);
  return {};
}

Status string_join_kernel(KernelContext& c) {
  struct Part {
    const std::string* first;
    int64_t step;
  };
  std::vector<Part> parts;
  for (int k = 0; k < c.num_inputs(); ++k) {
    parts.push_back({c.in<std::string>(k).data(), c.input(k).rank() == 0 ? 0 : 1});
  }
  std::string* out = c.out<std::string>(0).data();
  const std::string& separator = c.attrs<StringJoinAttrs>().separator;
  for_ranges(c.output(0).num_elements(), 1 << 12, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (size_t k = 0; k < parts.size(); ++k) {
        if (k > 0) out[i] += separator;
        out[i] += parts[k].first[i * parts[k].step];
      }
    }
  });
  return {};
}

void define_string_join(OpRegistry& ops) {
  kStringJoin = ops.define<StringJoinAttrs>({
      .name = "StringJoin",
      .python = "strings.join",
      .summary = "Strings one behind the other, element by element; scalars go with all elements.",
      .inputs = {"inputs: N * string"},
      .outputs = {"output: string"},
      .infer = string_join_shape,
      .gradient = not_differentiable,
      .body = kernel(string_join_kernel),
  });
}

}  // namespace

void define_debug_ops(OpRegistry& ops) {
  define_assert(ops);
  define_check_numerics_and_kin(ops);
  define_print_v2(ops);
  define_string_format(ops);
  define_string_join(ops);
}

}  // namespace graven::engine
