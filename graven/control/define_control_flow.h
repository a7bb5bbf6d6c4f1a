#pragma once

namespace graven::engine {

class FunctionRegistry;

// One function a family, by the name of its file.
void define_branches(FunctionRegistry& functions);
void define_loops(FunctionRegistry& functions);
void define_maps(FunctionRegistry& functions);
void define_scans(FunctionRegistry& functions);
void define_vectorized_maps(FunctionRegistry& functions);

}  // namespace graven::engine
