"""The functions of ops under their public names."""
# Printed by tools/stubs.py.

from collections.abc import Sequence

from graven import _dtypes
from graven._engine import Operation, Tensor
from graven._types import Axes, DTypeLike, Name, Padding, ShapeLike, Sizes, TensorLike

def acos(x: TensorLike, name: Name = None) -> Tensor:
    """The angle in [0, pi] whose cosine is x; NaN outside [-1, 1]."""

def acosh(x: TensorLike, name: Name = None) -> Tensor:
    """The inverse hyperbolic cosine; NaN for x below 1."""

def approximate_equal(
    x: TensorLike, y: TensorLike, tolerance: float = 1e-05, name: Name = None
) -> Tensor:
    """Is |x - y| < tolerance?"""

def asin(x: TensorLike, name: Name = None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose sine is x; NaN outside [-1, 1]."""

def asinh(x: TensorLike, name: Name = None) -> Tensor:
    """The inverse hyperbolic sine."""

def atan(x: TensorLike, name: Name = None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose tangent is x."""

def atan2(y: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """The angle of the point (x, y) in [-pi, pi]."""

def atanh(x: TensorLike, name: Name = None) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def bitcast(input: TensorLike, type: DTypeLike, name: Name = None) -> Tensor:
    """The bytes of the input as elements of another dtype."""

def bitwise_and(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The bits that are set in both."""

def bitwise_or(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The bits that are set in one of them or both."""

def bitwise_xor(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The bits that are set in one of them only."""

def ceil(x: TensorLike, name: Name = None) -> Tensor:
    """The smallest integer that is not below x."""

def check_numerics(tensor: TensorLike, message: str, name: Name = None) -> Tensor:
    """The tensor itself; fails if it holds NaN or infinities."""

def conv2d(
    input: TensorLike,
    filters: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Sizes | None = None,
    name: Name = None,
) -> Tensor:
    """Convolves images with filters, which are not mirrored."""

def cos(x: TensorLike, name: Name = None) -> Tensor:
    """The cosine of x in radians."""

def cosh(x: TensorLike, name: Name = None) -> Tensor:
    """The hyperbolic cosine."""

def count_nonzero(
    input: TensorLike,
    axis: Axes = None,
    keepdims: bool = False,
    dtype: DTypeLike = _dtypes.int64,
    name: Name = None,
) -> Tensor:
    """Counts the elements that are not zero, or no empty string, over axes."""

def digamma(x: TensorLike, name: Name = None) -> Tensor:
    """The derivative of lgamma; NaN at 0, -1, -2, ..."""

def elu(features: TensorLike, name: Name = None) -> Tensor:
    """The features where they are at least 0, else exp(features) - 1."""

def erf(x: TensorLike, name: Name = None) -> Tensor:
    """The error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

def erfc(x: TensorLike, name: Name = None) -> Tensor:
    """1 - erf(x), exact for large x too."""

def erfinv(x: TensorLike, name: Name = None) -> Tensor:
    """The x with erf(x) = y, for y in [-1, 1]."""

def exp(x: TensorLike, name: Name = None) -> Tensor:
    """e to the power of x, element by element."""

def expm1(x: TensorLike, name: Name = None) -> Tensor:
    """exp(x) - 1, exact for small x too."""

def floor(x: TensorLike, name: Name = None) -> Tensor:
    """The largest integer that is not above x."""

def floordiv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y rounded down to an integer."""

def floormod(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The remainder of x / y with the sign of y."""

def greater(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is x > y? False if one is NaN."""

def greater_equal(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is x >= y? False if one is NaN."""

def invert(x: TensorLike, name: Name = None) -> Tensor:
    """The bits that are not set in x."""

def invert_permutation(x: TensorLike, name: Name = None) -> Tensor:
    """The permutation y with y[x[i]] = i."""

def is_finite(x: TensorLike, name: Name = None) -> Tensor:
    """Is x neither infinite nor NaN?"""

def is_inf(x: TensorLike, name: Name = None) -> Tensor:
    """Is x infinite?"""

def is_nan(x: TensorLike, name: Name = None) -> Tensor:
    """Is x not a number?"""

def join(inputs: Sequence[TensorLike], separator: str = "", name: Name = None) -> Tensor:
    """Strings one behind the other, element by element; scalars go with all elements."""

def left_shift(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x shifted by y bits, at least none and at most all but one."""

def less(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is x < y? False if one is NaN."""

def less_equal(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is x <= y? False if one is NaN."""

def lgamma(x: TensorLike, name: Name = None) -> Tensor:
    """log |gamma(x)|, infinite at 0, -1, -2, ..."""

def log(x: TensorLike, name: Name = None) -> Tensor:
    """The natural logarithm: -inf for 0, NaN for negative x."""

def log1p(x: TensorLike, name: Name = None) -> Tensor:
    """log(1 + x), exact for small x too."""

def logical_and(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Are both true?"""

def logical_not(x: TensorLike, name: Name = None) -> Tensor:
    """Is x false?"""

def logical_or(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Is one of them true?"""

def maximum(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The larger of x and y; NaN if one of them is."""

def minimum(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The smaller of x and y; NaN if one of them is."""

def mod(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The remainder of x / y with the sign of y."""

def moments(
    x: TensorLike, axes: Axes, shift: object = None, keepdims: bool = False, name: Name = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over axes; half and bfloat16 are computed in float32."""

def multiply(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x * y, element by element. Integers wrap around."""

def multiply_no_nan(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x * y, but 0 where y is 0, even if x is infinite or NaN."""

def ndtri(x: TensorLike, name: Name = None) -> Tensor:
    """The quantile of the standard normal distribution, for x in [0, 1]."""

def negative(x: TensorLike, name: Name = None) -> Tensor:
    """-x, element by element. Integers wrap around."""

def nextafter(x1: TensorLike, x2: TensorLike, name: Name = None) -> Tensor:
    """The float next to x1 in the direction of x2."""

def no_op(name: Name = None) -> Operation | None:
    """Does nothing: a place for control dependencies to meet."""

def polygamma(a: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """The derivative of order a of digamma, for whole a of 0 or more."""

def pow(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x to the power of y, element by element. Integers wrap around."""

def realdiv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, element by element."""

def reciprocal(x: TensorLike, name: Name = None) -> Tensor:
    """1 / x, element by element."""

def reduce_all(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Whether all elements hold, over axes."""

def reduce_any(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Whether any element holds, over axes."""

def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Takes the root of the sum of squares over axes."""

def reduce_logsumexp(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Takes log(sum(exp(x))) over axes, without overflow."""

def reduce_max(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Takes the largest element over axes."""

def reduce_mean(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Averages the elements over axes; a mean of integers is cut off, and that of no elements is
    NaN."""

def reduce_min(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Takes the smallest element over axes."""

def reduce_prod(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Multiplies the elements over axes."""

def reduce_std(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Takes the root of the variance over axes."""

def reduce_sum(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Sums the elements over axes."""

def reduce_variance(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Averages the squared distances from the mean over axes."""

def relu(features: TensorLike, name: Name = None) -> Tensor:
    """max(features, 0), element by element. NaN stays NaN."""

def right_shift(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x shifted by y bits, at least none and at most all but one; copies of the sign come in."""

def rint(x: TensorLike, name: Name = None) -> Tensor:
    """The nearest integer, halves to the even one."""

def roll(input: TensorLike, shift: TensorLike, axis: TensorLike, name: Name = None) -> Tensor:
    """The input moved by shift elements along each axis, the end back in front."""

def round(x: TensorLike, name: Name = None) -> Tensor:
    """The nearest integer, halves to the even one. Integers stay what they are."""

def rsqrt(x: TensorLike, name: Name = None) -> Tensor:
    """1 / sqrt(x), element by element."""

def scatter_nd(
    indices: TensorLike,
    updates: TensorLike,
    shape: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """Zeros of the given shape, with each update added to the slice that its vector of indices
    names."""

def selu(features: TensorLike, name: Name = None) -> Tensor:
    """scale * features where they are at least 0, else scale * alpha * (exp(features) - 1), with
    scale 1.0507 and alpha 1.6733."""

def set_seed(seed: int) -> Operation | None:
    """Sets the global seed: random ops without a seed of their own follow from it."""

def shape_n(
    input: Sequence[TensorLike], out_type: DTypeLike = _dtypes.int32, name: Name = None
) -> list[Tensor]:
    """The shapes of the inputs, each as a vector."""

def sigmoid(x: TensorLike, name: Name = None) -> Tensor:
    """1 / (1 + exp(-x)), element by element."""

def sign(x: TensorLike, name: Name = None) -> Tensor:
    """-1, 0 or 1, with the sign of x; for complex x it is x / |x|, or 0. NaN stays NaN."""

def sin(x: TensorLike, name: Name = None) -> Tensor:
    """The sine of x in radians."""

def sinh(x: TensorLike, name: Name = None) -> Tensor:
    """The hyperbolic sine."""

def softplus(features: TensorLike, name: Name = None) -> Tensor:
    """log(exp(features) + 1), element by element."""

def softsign(features: TensorLike, name: Name = None) -> Tensor:
    """features / (1 + |features|), element by element."""

def split(
    value: TensorLike,
    num_or_size_splits: ShapeLike,
    axis: TensorLike = 0,
    num: int | None = None,
    name: Name = None,
) -> list[Tensor]:
    """Cuts a tensor into pieces along an axis."""

def sqrt(x: TensorLike, name: Name = None) -> Tensor:
    """The square root; NaN for negative x. Of complex x the root with a real part of at least 0."""

def square(x: TensorLike, name: Name = None) -> Tensor:
    """x * x, element by element. Integers wrap around."""

def squared_difference(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """conj(x - y) * (x - y), element by element."""

def subtract(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x - y, element by element. Integers wrap around."""

def tan(x: TensorLike, name: Name = None) -> Tensor:
    """The tangent of x in radians."""

def tanh(x: TensorLike, name: Name = None) -> Tensor:
    """The hyperbolic tangent."""

def tensor_scatter_nd_add(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with updates added to the slices that indices name."""

def tensor_scatter_nd_max(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with the greater of updates and slices that indices name."""

def tensor_scatter_nd_min(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with the lesser of updates and slices that indices name."""

def tensor_scatter_nd_sub(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: Name = None,
) -> Tensor:
    """The tensor, with updates subtracted from the slices that indices name."""

def truncatediv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, truncated towards 0."""

def truncatemod(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """The remainder of x / y with the sign of x."""

def uniform(
    shape: ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: DTypeLike = _dtypes.float32,
    seed: int | None = None,
    name: Name = None,
) -> Tensor:
    """Draws numbers that are equally likely between two bounds."""

def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: Name = None
) -> Tensor:
    """output[i] is the sum of the rows of data whose segment id is i."""

def xdivy(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, but 0 where x is 0."""

def xlog1py(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x * log1p(y), but 0 where x is 0."""

def xlogy(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x * log(y), but 0 where x is 0."""

def zeta(x: TensorLike, q: TensorLike, name: Name = None) -> Tensor:
    """The Hurwitz zeta function: the sum of (q + n)^-x over n = 0, 1, 2, ..."""
