"""Frames, windows and spectra of signals.

Source: tf.signal.
"""

from graven import _public

_public.complete(__name__)
