#pragma once

namespace graven::engine {
class BatchContext;

// Rules for many rows at once of ops that run bodies; see OpRecord::batch.

// A branch that is the same for all rows runs for all. Otherwise each branch runs for the rows that
// chose it, so that no other row's values meet its ops.
void batch_branches(BatchContext& c);

// A loop whose condition is the same for all rows runs for all. Otherwise an iteration runs for the
// rows whose condition holds, and the loop ends when there are none; values of other rows stay.
void batch_loop(BatchContext& c);

}  // namespace graven::engine
