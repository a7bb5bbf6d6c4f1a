#include "graven/library/define_functions.h"

#include <vector>

namespace graven::engine {
namespace {

// Made when the first is added, which other files do while the library is loaded.
std::vector<void (*)(FunctionRegistry&)>& added_families() {
  static auto* families = new std::vector<void (*)(FunctionRegistry&)>();
  return *families;
}

}  // namespace

void add_family(void (*define)(FunctionRegistry& functions)) { added_families().push_back(define); }

void define_functions(FunctionRegistry& functions) {
  define_activations(functions);
  define_asserts(functions);
  define_asserts_of_shapes(functions);
  define_conversions(functions);
  define_convolutions(functions);
  define_cosine_transforms(functions);
  define_counting(functions);
  define_creation(functions);
  define_diagonals(functions);
  define_distributions(functions);
  define_dynamic_shapes(functions);
  define_einsum(functions);
  define_fourier(functions);
  define_frames(functions);
  define_gathering(functions);
  define_generators(functions);
  define_grids(functions);
  define_image_colors(functions);
  define_image_measures(functions);
  define_image_placement(functions);
  define_image_resizing(functions);
  define_joins(functions);
  define_losses(functions);
  define_matrices(functions);
  define_mel(functions);
  define_messages(functions);
  define_normalization(functions);
  define_norms(functions);
  define_numbers(functions);
  define_pooling(functions);
  define_products(functions);
  define_random_functions(functions);
  define_random_images(functions);
  define_reductions(functions);
  define_segments(functions);
  define_shapes(functions);
  define_signal_windows(functions);
  define_sorting(functions);
  define_special(functions);
  define_stateless_random_functions(functions);
  define_statistics(functions);
  define_sums(functions);
  define_texts(functions);
  define_transposed_convolutions(functions);
  for (const auto define : added_families()) define(functions);
}

}  // namespace graven::engine
