"""Datasets (tf.data): their type; there are none yet."""

from graven import _public
from graven._dataset_spec import DatasetSpec as DatasetSpec

_public.complete(__name__)
