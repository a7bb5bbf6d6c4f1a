"""Structures of lists, tuples, dicts and the like, and the leaves in them (tf.nest).

A structure is a sequence such as a list, a tuple, a named tuple or a deque, a mapping or a view of
one, an attrs object, or an object with the methods __tf_flatten__ and __tf_unflatten__. Its parts
are structures; anything else, a text among others, is a leaf. Dicts are taken apart in the order of
their sorted keys.
"""

from graven import _public
from graven._nest import assert_same_structure as assert_same_structure
from graven._nest import flatten as flatten
from graven._nest import is_nested as is_nested
from graven._nest import map_structure as map_structure
from graven._nest import pack_sequence_as as pack_sequence_as

_public.complete(__name__)
