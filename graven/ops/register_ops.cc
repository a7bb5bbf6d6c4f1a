#include "graven/ops/register_ops.h"

#include "graven/ir/op.h"
#include "graven/ops/numerics_exceptions.h"

namespace graven::engine {
namespace {

[[maybe_unused]] const bool kAllOpsAreRegistered = [] {
  OpRegistry& ops = OpRegistry::global();
  define_activation_ops(ops);
  define_arg_ops(ops);
  define_argmax_pooling_ops(ops);
  define_batch_norm_ops(ops);
  define_bessel_ops(ops);
  define_bias_ops(ops);
  define_binary_math_ops(ops);
  define_box_ops(ops);
  define_color_ops(ops);
  define_complex_ops(ops);
  define_concat_ops(ops);
  define_control_flow_ops(ops);
  define_convolution_ops(ops);
  define_counting_ops(ops);
  define_crop_and_resize_ops(ops);
  define_debug_ops(ops);
  define_decomposition_ops(ops);
  define_diagonal_ops(ops);
  define_einsum_ops(ops);
  define_fake_quant_ops(ops);
  define_fft_ops(ops);
  define_file_ops(ops);
  define_gather_ops(ops);
  define_host_ops(ops);
  define_join_ops(ops);
  define_linear_algebra_ops(ops);
  define_local_response_ops(ops);
  define_logical_ops(ops);
  define_loss_ops(ops);
  define_matrix_function_ops(ops);
  define_matrix_ops(ops);
  define_movement_ops(ops);
  define_optional_ops(ops);
  define_padding_ops(ops);
  define_partition_ops(ops);
  define_patch_ops(ops);
  define_pooling_ops(ops);
  define_projective_ops(ops);
  define_random_ops(ops);
  define_random_sample_ops(ops);
  define_reduction_ops(ops);
  define_resize_ops(ops);
  define_reversal_ops(ops);
  define_scan_ops(ops);
  define_segment_ops(ops);
  define_sequence_ops(ops);
  define_shape_ops(ops);
  define_slice_ops(ops);
  define_softmax_ops(ops);
  define_sort_ops(ops);
  define_space_ops(ops);
  define_sparse_segment_ops(ops);
  define_special_ops(ops);
  define_string_ops(ops);
  define_structural_ops(ops);
  define_tensor_list_ops(ops);
  define_unary_math_ops(ops);
  define_unique_ops(ops);
  define_variable_ops(ops);
  define_numerics_exceptions(ops);
  return true;
}();

}  // namespace
}  // namespace graven::engine
