#pragma once

namespace graven::engine {
class OpRegistry;

// One function a family. register_ops.cc calls them all when the library is loaded, in an order
// that nothing depends on: records refer to each other through handles, when they are used.
void define_activation_ops(OpRegistry& ops);
void define_arg_ops(OpRegistry& ops);
void define_argmax_pooling_ops(OpRegistry& ops);
void define_batch_norm_ops(OpRegistry& ops);
void define_bessel_ops(OpRegistry& ops);
void define_bias_ops(OpRegistry& ops);
void define_binary_math_ops(OpRegistry& ops);
void define_box_ops(OpRegistry& ops);
void define_color_ops(OpRegistry& ops);
void define_complex_ops(OpRegistry& ops);
void define_concat_ops(OpRegistry& ops);
void define_control_flow_ops(OpRegistry& ops);
void define_convolution_ops(OpRegistry& ops);
void define_counting_ops(OpRegistry& ops);
void define_crop_and_resize_ops(OpRegistry& ops);
void define_debug_ops(OpRegistry& ops);
void define_decomposition_ops(OpRegistry& ops);
void define_diagonal_ops(OpRegistry& ops);
void define_einsum_ops(OpRegistry& ops);
void define_fake_quant_ops(OpRegistry& ops);
void define_fft_ops(OpRegistry& ops);
void define_file_ops(OpRegistry& ops);
void define_gather_ops(OpRegistry& ops);
void define_host_ops(OpRegistry& ops);
void define_join_ops(OpRegistry& ops);
void define_linear_algebra_ops(OpRegistry& ops);
void define_local_response_ops(OpRegistry& ops);
void define_logical_ops(OpRegistry& ops);
void define_loss_ops(OpRegistry& ops);
void define_matrix_function_ops(OpRegistry& ops);
void define_matrix_ops(OpRegistry& ops);
void define_movement_ops(OpRegistry& ops);
void define_optional_ops(OpRegistry& ops);
void define_padding_ops(OpRegistry& ops);
void define_partition_ops(OpRegistry& ops);
void define_patch_ops(OpRegistry& ops);
void define_pooling_ops(OpRegistry& ops);
void define_projective_ops(OpRegistry& ops);
void define_random_ops(OpRegistry& ops);
void define_random_sample_ops(OpRegistry& ops);
void define_reduction_ops(OpRegistry& ops);
void define_resize_ops(OpRegistry& ops);
void define_reversal_ops(OpRegistry& ops);
void define_scan_ops(OpRegistry& ops);
void define_segment_ops(OpRegistry& ops);
void define_sequence_ops(OpRegistry& ops);
void define_shape_ops(OpRegistry& ops);
void define_slice_ops(OpRegistry& ops);
void define_softmax_ops(OpRegistry& ops);
void define_sort_ops(OpRegistry& ops);
void define_space_ops(OpRegistry& ops);
void define_sparse_segment_ops(OpRegistry& ops);
void define_special_ops(OpRegistry& ops);
void define_string_ops(OpRegistry& ops);
void define_structural_ops(OpRegistry& ops);
void define_tensor_list_ops(OpRegistry& ops);
void define_unary_math_ops(OpRegistry& ops);
void define_unique_ops(OpRegistry& ops);
void define_variable_ops(OpRegistry& ops);

}  // namespace graven::engine
