#pragma once

namespace graven::engine {
class BatchContext;

// Rules for many rows at once of ops on lists of tensors; see OpRecord::batch. A list of which an
// element may depend on the row is one list, whose elements have the axis of the rows in front: a
// list becomes such a one when it gets the first element of that kind.

void batch_list_push_back(BatchContext& c);
void batch_list_pop_back(BatchContext& c);
void batch_list_length(BatchContext& c);
void batch_list_element_shape(BatchContext& c);
void batch_list_resize(BatchContext& c);
void batch_list_get_item(BatchContext& c);
void batch_list_set_item(BatchContext& c);
void batch_list_stack(BatchContext& c);
void batch_list_from_tensor(BatchContext& c);
void batch_list_gather(BatchContext& c);
void batch_list_scatter(BatchContext& c);
void batch_list_scatter_into(BatchContext& c);
void batch_list_concat(BatchContext& c);
void batch_list_concat_lists(BatchContext& c);

}  // namespace graven::engine
