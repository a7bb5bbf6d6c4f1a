"""Frames, windows and spectra of signals.

Source: tf.signal.
"""

from graven import _public
from graven._signal_ops import inverse_mdct as inverse_mdct
from graven._signal_ops import inverse_stft as inverse_stft
from graven._signal_ops import inverse_stft_window_fn as inverse_stft_window_fn
from graven._signal_ops import mdct as mdct
from graven._signal_ops import stft as stft

_public.complete(__name__)
