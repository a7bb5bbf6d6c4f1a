"""Graphs as data.

Source: tf.graph_util.
"""

from graven import _public
from graven._import_graph_def import import_graph_def as import_graph_def

_public.complete(__name__)
