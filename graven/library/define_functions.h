#pragma once
#include "graven/base/export.h"

namespace graven::engine {

class FunctionRegistry;

// All families. FunctionRegistry::global() calls it once.
void define_functions(FunctionRegistry& functions);
// Adds a family of a room above this one (control), before anybody asks for a function.
GRAVEN_API void add_family(void (*define)(FunctionRegistry& functions));

// One function a family, by the name of its file.
void define_activations(FunctionRegistry& functions);
void define_asserts(FunctionRegistry& functions);
void define_asserts_of_shapes(FunctionRegistry& functions);
void define_conversions(FunctionRegistry& functions);
void define_convolutions(FunctionRegistry& functions);
void define_cosine_transforms(FunctionRegistry& functions);
void define_counting(FunctionRegistry& functions);
void define_creation(FunctionRegistry& functions);
void define_diagonals(FunctionRegistry& functions);
void define_distributions(FunctionRegistry& functions);
void define_dynamic_shapes(FunctionRegistry& functions);
void define_einsum(FunctionRegistry& functions);
void define_fourier(FunctionRegistry& functions);
void define_frames(FunctionRegistry& functions);
void define_gathering(FunctionRegistry& functions);
void define_generators(FunctionRegistry& functions);
void define_grids(FunctionRegistry& functions);
void define_image_colors(FunctionRegistry& functions);
void define_image_measures(FunctionRegistry& functions);
void define_image_placement(FunctionRegistry& functions);
void define_image_resizing(FunctionRegistry& functions);
void define_joins(FunctionRegistry& functions);
void define_losses(FunctionRegistry& functions);
void define_matrices(FunctionRegistry& functions);
void define_mel(FunctionRegistry& functions);
void define_messages(FunctionRegistry& functions);
void define_normalization(FunctionRegistry& functions);
void define_norms(FunctionRegistry& functions);
void define_numbers(FunctionRegistry& functions);
void define_pooling(FunctionRegistry& functions);
void define_products(FunctionRegistry& functions);
void define_random_functions(FunctionRegistry& functions);
void define_random_images(FunctionRegistry& functions);
void define_reductions(FunctionRegistry& functions);
void define_segments(FunctionRegistry& functions);
void define_shapes(FunctionRegistry& functions);
void define_signal_windows(FunctionRegistry& functions);
void define_sorting(FunctionRegistry& functions);
void define_special(FunctionRegistry& functions);
void define_stateless_random_functions(FunctionRegistry& functions);
void define_statistics(FunctionRegistry& functions);
void define_sums(FunctionRegistry& functions);
void define_texts(FunctionRegistry& functions);
void define_transposed_convolutions(FunctionRegistry& functions);

}  // namespace graven::engine
