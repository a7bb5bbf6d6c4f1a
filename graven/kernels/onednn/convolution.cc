#include "graven/kernels/onednn/convolution.h"

#include <dnnl.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/kernels/onednn/library_call.h"

namespace graven::engine {
namespace {

// oneDNN's C objects with an owner. (Its C++ interface throws.)
template <typename T, dnnl_status_t (*destroy)(T)>
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (object_) destroy(object_);
  }
  Handle(const Handle&) = delete;
  T get() const { return object_; }
  T* out() { return &object_; }

 private:
  T object_ = nullptr;
};
using Attributes = Handle<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using PrimitiveDescriptor = Handle<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using Primitive = Handle<dnnl_primitive_t, dnnl_primitive_destroy>;
using Memory = Handle<dnnl_memory_t, dnnl_memory_destroy>;
using Stream = Handle<dnnl_stream_t, dnnl_stream_destroy>;

dnnl_engine_t engine() {
  static const dnnl_engine_t engine = [] {
    // The engine's cache of convolutions keeps primitives by shape and counts them; a second
    // cache below it would only hold what the first gave up.
    dnnl_set_primitive_cache_capacity(0);
    dnnl_engine_t made = nullptr;
    dnnl_engine_create(&made, dnnl_cpu, 0);
    return made;
  }();
  return engine;
}

bool execute(dnnl_primitive_t primitive,
             std::initializer_list<std::pair<int, dnnl_memory_t>> arguments) {
  dnnl_exec_arg_t list[8];
  int count = 0;
  for (const auto& [name, memory] : arguments) list[count++] = {name, memory};
  // A stream is a few words that hold nothing between calls, so each call has its own. One for
  // each thread would need thread-local memory of a library that is opened late, in whose records
  // the leak sanitizer loses its way.
  Stream stream;
  return dnnl_stream_create(stream.out(), engine(), dnnl_stream_default_flags) == dnnl_success &&
         dnnl_primitive_execute(primitive, stream.get(), count, list) == dnnl_success;
}

bool wrap(Memory& memory, const dnnl_memory_desc_t& descriptor, const void* data) {
  return dnnl_memory_create(memory.out(), &descriptor, engine(), const_cast<void*>(data)) ==
         dnnl_success;
}

// oneDNN counts rows, columns and bytes within an image in 32 bits. With more it crashes or runs
// for ever: a padding or a dilation of 2^30 did.
bool fits_32_bits(const Convolution& c) {
  constexpr double kMost = 1u << 31;
  auto bytes = [&](int64_t rows, int64_t columns, int64_t channels) {
    return 4.0 * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(channels);
  };
  const int64_t rows =
      std::max({c.in_height + std::max<int64_t>(c.pad_top, 0) + std::max<int64_t>(c.pad_bottom, 0),
                c.filter_height * c.dilation_height, c.stride_height});
  const int64_t columns =
      std::max({c.in_width + std::max<int64_t>(c.pad_left, 0) + std::max<int64_t>(c.pad_right, 0),
                c.filter_width * c.dilation_width, c.stride_width});
  const int64_t planes =
      std::max({c.in_depth + std::max<int64_t>(c.pad_front, 0) + std::max<int64_t>(c.pad_back, 0),
                c.filter_depth * c.dilation_depth, c.stride_depth});
  return bytes(planes * rows, columns, c.in_channels) < kMost &&
         bytes(c.out_depth * c.out_height, c.out_width, c.out_channels) < kMost;
}

// The activations are NHWC as they are; the layout of the filter is oneDNN's choice.
class CompiledConvolution final : public OneDnnConvolution {
 public:
  static std::unique_ptr<CompiledConvolution> create(const Convolution& c,
                                                     ConvolutionDirection direction) {
    LibraryCall call;
    std::unique_ptr<CompiledConvolution> made(new CompiledConvolution(direction));
    return made->compile(c) ? std::move(made) : nullptr;
  }

  size_t packed_filter_bytes() const override { return dnnl_memory_desc_get_size(&packed_); }
  size_t scratch_bytes() const override { return dnnl_memory_desc_get_size(&scratch_); }

  bool pack_filter(const float* filter, void* packed) const override {
    return reorder(pack_, plain_, filter, packed_, packed);
  }
  bool unpack_filter(const void* packed, float* filter) const override {
    return reorder(unpack_, packed_, packed, plain_, filter);
  }

  bool run(float* input, void* filter, float* output, void* scratch) const override {
    LibraryCall call;
    Memory x, w, y, s;
    if (!wrap(x, input_, input) || !wrap(w, packed_, filter) || !wrap(y, output_, output) ||
        !wrap(s, scratch_, scratch)) {
      return false;
    }
    switch (direction_) {
      case ConvolutionDirection::kForward:
        return execute(primitive_.get(), {{DNNL_ARG_SRC, x.get()},
                                          {DNNL_ARG_WEIGHTS, w.get()},
                                          {DNNL_ARG_DST, y.get()},
                                          {DNNL_ARG_SCRATCHPAD, s.get()}});
      case ConvolutionDirection::kInputGradient:
        return execute(primitive_.get(), {{DNNL_ARG_DIFF_SRC, x.get()},
                                          {DNNL_ARG_WEIGHTS, w.get()},
                                          {DNNL_ARG_DIFF_DST, y.get()},
                                          {DNNL_ARG_SCRATCHPAD, s.get()}});
      case ConvolutionDirection::kFilterGradient:
        return execute(primitive_.get(), {{DNNL_ARG_SRC, x.get()},
                                          {DNNL_ARG_DIFF_WEIGHTS, w.get()},
                                          {DNNL_ARG_DIFF_DST, y.get()},
                                          {DNNL_ARG_SCRATCHPAD, s.get()}});
    }
    return false;
  }

 private:
  explicit CompiledConvolution(ConvolutionDirection direction) : direction_(direction) {}

  bool compile(const Convolution& c) {
    if (!fits_32_bits(c)) return false;
    // Images are volumes without the axis of depth.
    const bool flat = !c.is_volume();
    const int rank = flat ? 4 : 5;
    const auto sizes = [flat](int64_t batch, int64_t channels, int64_t depth, int64_t height,
                              int64_t width) {
      return flat ? std::array{batch, channels, height, width, int64_t{0}}
                  : std::array{batch, channels, depth, height, width};
    };
    const auto input = sizes(c.batch, c.in_channels, c.in_depth, c.in_height, c.in_width);
    const auto output = sizes(c.batch, c.out_channels, c.out_depth, c.out_height, c.out_width);
    const int64_t g = c.groups;
    const auto of_group = sizes(c.out_channels / g, c.in_channels / g, c.filter_depth,
                                c.filter_height, c.filter_width);
    dnnl_dims_t grouped = {g};
    std::copy(of_group.begin(), of_group.end(), grouped + 1);
    const bool has_groups = g > 1;
    const dnnl_dim_t* filter = has_groups ? grouped : grouped + 1;
    const int filter_rank = has_groups ? rank + 1 : rank;
    const dnnl_format_tag_t channels_last = flat ? dnnl_nhwc : dnnl_ndhwc;
    const dnnl_format_tag_t out_last =
        has_groups ? (flat ? dnnl_hwigo : dnnl_dhwigo) : (flat ? dnnl_hwio : dnnl_dhwio);
    dnnl_memory_desc_t any;
    if (dnnl_memory_desc_init_by_tag(&input_, rank, input.data(), dnnl_f32, channels_last) !=
            dnnl_success ||
        dnnl_memory_desc_init_by_tag(&output_, rank, output.data(), dnnl_f32, channels_last) !=
            dnnl_success ||
        dnnl_memory_desc_init_by_tag(&any, filter_rank, filter, dnnl_f32, dnnl_format_tag_any) !=
            dnnl_success ||
        dnnl_memory_desc_init_by_tag(&plain_, filter_rank, filter, dnnl_f32, out_last) !=
            dnnl_success) {
      return false;
    }
    const int64_t all_strides[] = {c.stride_depth, c.stride_height, c.stride_width};
    const int64_t all_dilations[] = {c.dilation_depth - 1, c.dilation_height - 1,
                                     c.dilation_width - 1};
    const int64_t all_before[] = {c.pad_front, c.pad_top, c.pad_left};
    const int64_t all_after[] = {c.pad_back, c.pad_bottom, c.pad_right};
    const dnnl_dim_t *strides = all_strides + flat, *dilations = all_dilations + flat;
    const dnnl_dim_t *before = all_before + flat, *after = all_after + flat;
    Attributes attributes;
    if (dnnl_primitive_attr_create(attributes.out()) != dnnl_success ||
        dnnl_primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user) !=
            dnnl_success) {
      return false;
    }
    dnnl_convolution_desc_t description;
    if (dnnl_dilated_convolution_forward_desc_init(
            &description, dnnl_forward_training, dnnl_convolution_direct, &input_, &any, nullptr,
            &output_, strides, dilations, before, after) != dnnl_success) {
      return false;
    }
    PrimitiveDescriptor forward, backward;
    if (dnnl_primitive_desc_create(forward.out(), &description, attributes.get(), engine(),
                                   nullptr) != dnnl_success) {
      return false;
    }
    const bool is_forward = direction_ == ConvolutionDirection::kForward;
    if (!is_forward) {
      const dnnl_status_t status = direction_ == ConvolutionDirection::kInputGradient
                                       ? dnnl_dilated_convolution_backward_data_desc_init(
                                             &description, dnnl_convolution_direct, &input_, &any,
                                             &output_, strides, dilations, before, after)
                                       : dnnl_dilated_convolution_backward_weights_desc_init(
                                             &description, dnnl_convolution_direct, &input_, &any,
                                             nullptr, &output_, strides, dilations, before, after);
      if (status != dnnl_success ||
          dnnl_primitive_desc_create(backward.out(), &description, attributes.get(), engine(),
                                     forward.get()) != dnnl_success) {
        return false;
      }
    }
    const_dnnl_primitive_desc_t chosen = is_forward ? forward.get() : backward.get();
    // The reference kernels are there to be correct, a hundred times slower than ours.
    const char* kernel = nullptr;
    if (dnnl_primitive_desc_query(chosen, dnnl_query_impl_info_str, 0, &kernel) != dnnl_success ||
        std::string_view(kernel).starts_with("ref")) {
      return false;
    }
    const dnnl_memory_desc_t* packed = dnnl_primitive_desc_query_md(
        chosen,
        direction_ == ConvolutionDirection::kFilterGradient ? dnnl_query_diff_weights_md
                                                            : dnnl_query_weights_md,
        0);
    const dnnl_memory_desc_t* scratch =
        dnnl_primitive_desc_query_md(chosen, dnnl_query_scratchpad_md, 0);
    if (!packed || !scratch) return false;
    packed_ = *packed;
    scratch_ = *scratch;
    if (dnnl_primitive_create(primitive_.out(), chosen) != dnnl_success) return false;
    if (direction_ == ConvolutionDirection::kFilterGradient) {
      return compile_reorder(unpack_, packed_, plain_);
    }
    return compile_reorder(pack_, plain_, packed_);
  }

  static bool compile_reorder(Primitive& reorder, const dnnl_memory_desc_t& from,
                              const dnnl_memory_desc_t& to) {
    PrimitiveDescriptor descriptor;
    return dnnl_reorder_primitive_desc_create(descriptor.out(), &from, engine(), &to, engine(),
                                              nullptr) == dnnl_success &&
           dnnl_primitive_create(reorder.out(), descriptor.get()) == dnnl_success;
  }

  static bool reorder(const Primitive& primitive, const dnnl_memory_desc_t& from_descriptor,
                      const void* from, const dnnl_memory_desc_t& to_descriptor, void* to) {
    LibraryCall call;
    Memory source, target;
    return wrap(source, from_descriptor, from) && wrap(target, to_descriptor, to) &&
           execute(primitive.get(), {{DNNL_ARG_FROM, source.get()}, {DNNL_ARG_TO, target.get()}});
  }

  const ConvolutionDirection direction_;
  dnnl_memory_desc_t input_, output_, plain_, packed_, scratch_;
  Primitive primitive_, pack_, unpack_;
};

}  // namespace

std::unique_ptr<OneDnnConvolution> compile_convolution(const Convolution& shape,
                                                       ConvolutionDirection direction) {
  if (!engine()) return nullptr;
  return CompiledConvolution::create(shape, direction);
}

}  // namespace graven::engine
