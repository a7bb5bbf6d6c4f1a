"""Functions of neural networks.

Source: tf.nn.
"""

from graven import _public
from graven._nn_ops import avg_pool as avg_pool
from graven._nn_ops import avg_pool1d as avg_pool1d
from graven._nn_ops import avg_pool2d as avg_pool2d
from graven._nn_ops import batch_normalization as batch_normalization
from graven._nn_ops import bias_add as bias_add
from graven._nn_ops import conv1d as conv1d
from graven._nn_ops import conv2d_transpose as conv2d_transpose
from graven._nn_ops import depthwise_conv2d as depthwise_conv2d
from graven._nn_ops import dropout as dropout
from graven._nn_ops import embedding_lookup as embedding_lookup
from graven._nn_ops import gelu as gelu
from graven._nn_ops import l2_loss as l2_loss
from graven._nn_ops import leaky_relu as leaky_relu
from graven._nn_ops import log_poisson_loss as log_poisson_loss
from graven._nn_ops import log_softmax as log_softmax
from graven._nn_ops import max_pool as max_pool
from graven._nn_ops import max_pool1d as max_pool1d
from graven._nn_ops import max_pool2d as max_pool2d
from graven._nn_ops import relu6 as relu6
from graven._nn_ops import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from graven._nn_ops import silu as silu
from graven._nn_ops import softmax as softmax
from graven._nn_ops import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from graven._nn_ops import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from graven._nn_ops import (
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from graven._nn_ops import zero_fraction as zero_fraction

swish = silu

_public.complete(__name__)
