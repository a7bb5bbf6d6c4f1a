#pragma once

namespace graven::engine {

class OpRegistry;

// Tells numerics_checks which outputs are not looked at. Once all ops are defined.
void define_numerics_exceptions(const OpRegistry& ops);

}  // namespace graven::engine
