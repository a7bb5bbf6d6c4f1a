"""Which calls of ops are timed: every op of the registry, and every public function around ops.

`tf.raw_ops` lists the registry. An op is called through it, with each of its inputs in the meaning
that the parameter's name has by TensorFlow's conventions (`x`, `paddings`, ...), or in that which
_OPS gives it; its attributes keep their defaults unless _OPS names them. Public functions that are
more than an op (`reduce_sum`, `nn.moments`) are called in the same way, with _FUNCTIONS.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

_Value = TypeVar("_Value")

MODULES = ("", "math", "nn", "bitwise", "linalg", "random", "signal", "strings")
SIZES = (16, 1 << 20)
DTYPES = ("float32", "float64", "int32")
# For ops that have none of these; the first that an op takes is timed.
OTHER_DTYPES = ("bool", "complex64", "string")


@dataclass(frozen=True)
class OpCall:
    """A call as both systems make it.

    Attributes:
      title: What the table calls it.
      function: The dotted name of the function.
      names: The names by which it can be asked for.
      meanings: What its arguments mean, by name, in the order of the parameters.
      dtypes: In which it is timed; empty for DTYPES, or OTHER_DTYPES where it has none of them.
      is_random: Results are not compared but for their shapes.
    """

    title: str
    function: str
    names: list[str]
    meanings: dict[str, str]
    dtypes: list[str] = field(default_factory=list)
    is_random: bool = False

    @property
    def is_op(self) -> bool:
        return self.function.startswith("raw_ops.")

    def content(self) -> dict[str, Any]:
        """What makes the same call in another process."""
        return asdict(self)


def _each(names: str, value: _Value) -> dict[str, _Value]:
    """The same value for each of the names, which blanks separate."""
    return dict.fromkeys(names.split(), value)


# Ops that no call can time, and why.
_NOT_TIMED = {
    "Const": "its value is an attribute",
    "DestroyResourceOp": "a resource dies once",
    "Placeholder": "an argument of a trace",
    "PartitionedCall": "a call of a Function",
    "StatefulPartitionedCall": "a call of a Function",
    **_each(
        "Case EagerPyFunc If PyFunc PyFuncStateless StatelessCase StatelessIf StatelessWhile While "
        "case cond foldl foldr map_fn scan switch_case vectorized_map while_loop",
        "runs functions of the program",
    ),
    "FakeParam": "a value that nothing reads",
    **_each("ReadFile WriteFile", "the time is that of the file system"),
    **_each("end_trace_lock explain import_graph_def trace_lock", "computes nothing"),
    **_each(
        "signal.inverse_mdct signal.inverse_stft signal.inverse_stft_window_fn signal.mdct "
        "signal.stft",
        "frames and transforms, which are timed themselves",
    ),
}

# Meanings of inputs of ops, all of them tensors, by the parameter's name.
_INPUTS: Mapping[str, str] = {
    **_each("x y a b e t q x1 x2 dy", "matrix"),
    **_each("input features logits labels gradients outputs", "matrix"),
    **_each("tensor value data params updates", "matrix"),
    **_each("real imag grad out_backprop", "matrix"),
    **_each("values inputs", "matrices"),
    "bias": "row",
    "condition": "flags",
    "shape": "shape_tensor",
    "indices": "points",
    "axis": "axis_tensor",
    "dimension": "axis_tensor",
    "paddings": "borders_tensor",
    "perm": "both_axes_tensor",
    "resource": "variable",
    "ref": "variable",
    **_each("input_handle input_a input_b", "list_of_rows"),
    "element_shape": "minus_one_tensor",
    "element_dtype": "dtype",
    "minval": "low",
    "maxval": "high",
    "seed": "seed_tensor",
    "num_samples": "two_tensor",
    "key": "key_tensor",
    "counter": "counter_tensor",
    "alg": "algorithm_tensor",
    "algorithm": "generator_algorithm_tensor",
    "clip_value_min": "low",
    "clip_value_max": "high",
}

_CONVOLUTION = {"strides": "strides", "padding": "same"}
_DEPTHWISE = {"filter": "depthwise_filters", **_CONVOLUTION}
_POOLING = {"ksize": "window", "strides": "window", "padding": "same"}
_MAX_POOL_GRADIENT = {"orig_input": "images", "orig_output": "pooled_images", **_POOLING}
_RESIZED = {"images": "images", "size": "resized_shape_tensor"}
_RESIZE_GRADIENT = {"grads": "float_images", "original_image": "images"}
_MOVES = {"scale": "factors", "translation": "factors"}
_BOXES = {"boxes": "box", "box_ind": "first_image_tensor"}
_PROJECTION = {
    "images": "images",
    "transforms": "projection",
    "output_shape": "resized_shape_tensor",
    "interpolation": "bilinear",
}
_VOLUME_CONVOLUTION = {"strides": "volume_strides", "padding": "same"}
_VOLUME_POOLING = {"ksize": "volume_window", "strides": "volume_window", "padding": "same"}
_MAX_POOL_3D_GRADIENT = {
    "orig_input": "volumes",
    "orig_output": "pooled_volumes",
    **_VOLUME_POOLING,
}
_BLOCKS = {"input": "even_images", "block_size": "two"}
_BLOCKS_OF_BATCH = {"input": "even_images", "block_shape": "block_tensor"}
_RANGE = {"inputs": "float_matrix", "min": "float_zero", "max": "float_one"}
_RANGES = {"inputs": "float_matrix", "min": "float_row", "max": "float_row"}
_SLICE = {
    "begin": "second_row_tensor",
    "end": "shape_tensor",
    "strides": "every_second_row_tensor",
}
_VALUE_DTYPE = {"dtype": "dtype"}
_PARTS = {"Tout": "part_dtype"}
_BATCH = {"x": "batch", "y": "batch"}
_STATE = {"resource": "generator"}
_SUCCESSES = {"counts": "high", "probs": "factor"}
_ROWS = {"indices": "rows"}
_SORTED = {"segment_ids": "sorted_rows"}
_CHOSEN = {"indices": "rows", **_SORTED}
_PARTED = {"indices": "parted_rows", "data": "half_matrices"}
_SQUARE = {"input": "definite_matrix"}
_DIAGONAL = {"k": "axis_tensor", "padding_value": "scalar"}
_FACTORS = {"indices": "rows", "updates": "ones_matrix"}

# What the names of an op's parameters do not tell.
_OPS: Mapping[str, Mapping[str, str]] = {
    **_each(
        "Abs Ceil Cos Cosh Erf Erfc Exp Expm1 Floor Neg Rint Round Sigmoid Sign Sin Sinh "
        "Square Tan Tanh Asinh Atan",
        {"x": "signed_matrix"},
    ),
    **_each(
        "Elu LeakyRelu Relu Relu6 Selu Softplus Softsign",
        {"features": "signed_matrix"},
    ),
    **_each(
        "LeakyReluGrad Relu6Grad ReluGrad SoftplusGrad SoftsignGrad",
        {"features": "signed_matrix"},
    ),
    **_each("All Any", {"input": "flags", "axis": "axes_tensor"}),
    **_each("EuclideanNorm Max Mean Min Prod Sum", {"axis": "axes_tensor"}),
    **_each("RGBToHSV HSVToRGB", {"images": "pixels"}),
    **_each("ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor", _RESIZED),
    **_each("ResizeBicubicGrad ResizeBilinearGrad", _RESIZE_GRADIENT),
    **_each("Angle ComplexAbs Imag Real", _PARTS),
    **_each("Cholesky LogMatrixDeterminant Lu MatrixDeterminant MatrixInverse", _SQUARE),
    **_each("MatrixExponential MatrixLogarithm MatrixSquareRoot SelfAdjointEigV2", _SQUARE),
    **_each("MatrixSolve MatrixTriangularSolve", {"matrix": "definite_matrix", "rhs": "matrix"}),
    **_each("BatchMatMul BatchMatMulV2", _BATCH),
    **_each(
        "RandomStandardNormal RandomUniform StatelessRandomNormal StatelessRandomNormalV2 "
        "StatelessRandomUniform StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 "
        "StatelessRandomUniformV2 StatelessTruncatedNormal StatelessTruncatedNormalV2 "
        "TruncatedNormal",
        _VALUE_DTYPE,
    ),
    **_each(
        "StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt",
        {**_STATE, **_VALUE_DTYPE},
    ),
    **_each(
        "ResourceScatterAdd ResourceScatterMax ResourceScatterMin ResourceScatterSub "
        "ResourceScatterUpdate",
        _ROWS,
    ),
    **_each("ResourceScatterDiv ResourceScatterMul", _FACTORS),
    **_each("RandomGamma StatelessRandomGammaV2 StatelessRandomGammaV3", {"alpha": "high"}),
    **_each("SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum", _SORTED),
    **_each("SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum", _CHOSEN),
    **_each(
        "SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments "
        "SparseSegmentSumWithNumSegments",
        {**_CHOSEN, "num_segments": "side_tensor"},
    ),
    **_each(
        "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum",
        {"segment_ids": "rows", "num_segments": "side_tensor"},
    ),
    **_each("Unique UniqueWithCounts", {"x": "flat"}),
    **_each("UniqueV2 UniqueWithCountsV2", {"axis": "axes_tensor"}),
    **_each("LowerBound UpperBound", {"sorted_inputs": "sorted_matrix", "values": "matrix"}),
    **_each("DynamicStitch ParallelDynamicStitch", _PARTED),
    "Acosh": {"x": "large_matrix"},
    "AddN": {"inputs": "four_matrices"},
    "Assert": {"condition": "truth", "data": "matrices"},
    "AdjustContrastv2": {"images": "colored_images", "contrast_factor": "factor"},
    "AdjustHue": {"images": "colored_images", "delta": "factor"},
    "AdjustSaturation": {"images": "colored_images", "scale": "factor"},
    "AvgPool": {"value": "images", **_POOLING},
    "AvgPoolGrad": {
        "orig_input_shape": "image_shape_tensor",
        "grad": "gradient_of_pooled_images",
        **_POOLING,
    },
    "AvgPool3D": {"input": "volumes", **_VOLUME_POOLING},
    "AvgPool3DGrad": {
        "orig_input_shape": "volume_shape_tensor",
        "grad": "gradient_of_pooled_volumes",
        **_VOLUME_POOLING,
    },
    "BatchToSpaceND": {**_BLOCKS_OF_BATCH, "crops": "margins_tensor"},
    "Bincount": {"arr": "classes", "size": "classes_tensor", "weights": "nothing"},
    "Bitcast": {"type": "same_size_dtype"},
    "BroadcastArgs": {"s0": "shape_tensor", "s1": "column_shape_tensor"},
    "BroadcastGradientArgs": {"s0": "shape_tensor", "s1": "column_shape_tensor"},
    "BroadcastTo": {"input": "row"},
    "Bucketize": {"boundaries": "boundaries"},
    "Cast": {"DstT": "other_dtype"},
    "CheckNumerics": {"message": "message"},
    "CheckNumericsV2": {"message": "message"},
    "Complex": {"Tout": "complex_dtype"},
    "ConcatV2": {"axis": "axis_tensor"},
    "Conv2D": {"input": "images", "filter": "filters", **_CONVOLUTION},
    "Conv2DBackpropFilter": {
        "input": "images",
        "filter_sizes": "filter_shape_tensor",
        "out_backprop": "more_images",
        **_CONVOLUTION,
    },
    "Conv2DBackpropInput": {
        "input_sizes": "image_shape_tensor",
        "filter": "filters",
        "out_backprop": "images",
        **_CONVOLUTION,
    },
    "Conv3D": {"input": "volumes", "filter": "volume_filters", **_VOLUME_CONVOLUTION},
    "Conv3DBackpropFilterV2": {
        "input": "volumes",
        "filter_sizes": "volume_filter_shape_tensor",
        "out_backprop": "volumes",
        **_VOLUME_CONVOLUTION,
    },
    "Conv3DBackpropInputV2": {
        "input_sizes": "volume_shape_tensor",
        "filter": "volume_filters",
        "out_backprop": "volumes",
        **_VOLUME_CONVOLUTION,
    },
    "DepthToSpace": _BLOCKS,
    "CropAndResize": {"image": "images", "crop_size": "resized_shape_tensor", **_BOXES},
    "CropAndResizeGradBoxes": {"grads": "float_images", "image": "images", **_BOXES},
    "CropAndResizeGradImage": {
        "grads": "float_images",
        "image_size": "image_shape_tensor",
        "T": "dtype",
        **_BOXES,
    },
    "DenseBincount": {"input": "classes", "size": "classes_tensor", "weights": "nothing"},
    "DepthwiseConv2dNative": {"input": "images", **_DEPTHWISE},
    "DepthwiseConv2dNativeBackpropFilter": {
        "input": "images",
        "filter_sizes": "depthwise_filter_shape_tensor",
        "out_backprop": "more_images",
        **_CONVOLUTION,
    },
    "DepthwiseConv2dNativeBackpropInput": {
        "input_sizes": "image_shape_tensor",
        "out_backprop": "images",
        **_DEPTHWISE,
    },
    "Cross": {"a": "vectors_of_three", "b": "vectors_of_three"},
    "Diag": {"diagonal": "row"},
    "Eig": {**_SQUARE, "Tout": "complex_dtype"},
    "Einsum": {"equation": "equation_of_product"},
    "DrawBoundingBoxesV2": {
        "images": "images",
        "boxes": "box_of_each_image",
        "colors": "color",
    },
    "DynamicPartition": {"partitions": "parities", "num_partitions": "two"},
    "EnsureShape": {"shape": "shape"},
    "ExtractImagePatches": {
        "images": "images",
        "ksizes": "window",
        "strides": "strides",
        "rates": "strides",
        "padding": "same",
    },
    "FakeQuantWithMinMaxArgs": {"inputs": "float_matrix"},
    "FakeQuantWithMinMaxArgsGradient": {"gradients": "float_matrix", "inputs": "float_matrix"},
    "FakeQuantWithMinMaxVars": _RANGE,
    "FakeQuantWithMinMaxVarsGradient": {"gradients": "float_matrix", **_RANGE},
    "FakeQuantWithMinMaxVarsPerChannel": _RANGES,
    "FakeQuantWithMinMaxVarsPerChannelGradient": {"gradients": "float_matrix", **_RANGES},
    "Fill": {"dims": "shape_tensor", "value": "scalar"},
    "FusedBatchNormGradV3": {
        "y_backprop": "images",
        "x": "more_images",
        "scale": "channels",
        "reserve_space_1": "channels",
        "reserve_space_2": "channels",
        "reserve_space_3": "nothing",
    },
    "FusedBatchNormV3": {
        "x": "images",
        "scale": "channels",
        "offset": "channels",
        "mean": "nothing",
        "variance": "nothing",
    },
    **_each("FFT3D IFFT3D", {"input": "batch"}),
    "Gather": _ROWS,
    "GatherV2": _ROWS,
    "HistogramFixedWidth": {"values": "flat", "value_range": "ends", "nbins": "classes_tensor"},
    "IdentityN": {"input": "matrices"},
    "ImageProjectiveTransformV2": _PROJECTION,
    "ImageProjectiveTransformV3": {**_PROJECTION, "fill_value": "factor"},
    "IRFFT": {"fft_length": "row_shape_tensor", "Treal": "part_dtype"},
    "IRFFT2D": {"fft_length": "shape_tensor", "Treal": "part_dtype"},
    "IRFFT3D": {"input": "batch", "fft_length": "batch_shape_tensor", "Treal": "part_dtype"},
    "InTopKV2": {"predictions": "float_matrix", "targets": "rows", "k": "two_tensor"},
    "InvertPermutation": {"x": "permutation"},
    "LRN": {"input": "images"},
    "LRNGrad": {
        "input_grads": "images",
        "input_image": "images",
        "output_image": "more_images",
    },
    "LinSpace": {"start": "low", "stop": "high", "num": "elements_tensor"},
    "ListDiff": {"x": "flat", "y": "row"},
    "MatrixBandPart": {"num_lower": "two_tensor", "num_upper": "one_tensor"},
    "MatrixDiagPartV3": _DIAGONAL,
    "MatrixDiagV3": {
        **_DIAGONAL,
        "diagonal": "row",
        "num_rows": "any_size_tensor",
        "num_cols": "any_size_tensor",
    },
    "MatrixSetDiagV3": {"diagonal": "row", "k": "axis_tensor"},
    "MaxPool": {"input": "images", **_POOLING},
    "MaxPool3D": {"input": "volumes", **_VOLUME_POOLING},
    "MaxPool3DGrad": {**_MAX_POOL_3D_GRADIENT, "grad": "gradient_of_pooled_volumes"},
    "MaxPool3DGradGrad": {**_MAX_POOL_3D_GRADIENT, "grad": "volumes"},
    "MaxPoolGrad": {**_MAX_POOL_GRADIENT, "grad": "gradient_of_pooled_images"},
    "MaxPoolGradGrad": {**_MAX_POOL_GRADIENT, "grad": "more_images"},
    "MaxPoolGradWithArgmax": {
        "input": "images",
        "grad": "gradient_of_pooled_images",
        "argmax": "places",
        **_POOLING,
    },
    "MaxPoolWithArgmax": {"input": "images", **_POOLING},
    "MirrorPad": {"mode": "reflect"},
    "MirrorPadGrad": {"mode": "reflect"},
    "NonMaxSuppressionV3": {
        "boxes": "boxes",
        "scores": "row",
        "max_output_size": "two_tensor",
        "iou_threshold": "factor",
        "score_threshold": "factor",
    },
    "OneHot": {
        "indices": "rows",
        "depth": "side_tensor",
        "on_value": "unit",
        "off_value": "zero",
    },
    "OptionalFromValue": {"components": "matrices"},
    "OptionalGetValue": {
        "optional": "optional",
        "output_types": "dtypes_of_matrices",
        "output_shapes": "shapes_of_matrices",
    },
    "OptionalHasValue": {"optional": "optional"},
    "PadV2": {"constant_values": "scalar"},
    "Polygamma": {"a": "whole_matrix"},
    "PrintV2": {"input": "text", "output_stream": "null_file"},
    "RFFT": {"fft_length": "row_shape_tensor", "Tcomplex": "complex_dtype"},
    "RFFT2D": {"fft_length": "shape_tensor", "Tcomplex": "complex_dtype"},
    "RFFT3D": {"input": "batch", "fft_length": "batch_shape_tensor", "Tcomplex": "complex_dtype"},
    "RandomGammaGrad": {"alpha": "matrix", "sample": "matrix"},
    "RandomPoissonV2": {"rate": "high", **_VALUE_DTYPE},
    "Range": {"start": "zero", "limit": "count", "delta": "unit"},
    "ReadVariableOp": _VALUE_DTYPE,
    "ResizeNearestNeighborGrad": {"grads": "images", "size": "resized_shape_tensor"},
    "EmptyTensorList": {"max_num_elements": "two_tensor"},
    "TensorListReserve": {"num_elements": "two_tensor"},
    "TensorListPushBack": {"tensor": "row"},
    "TensorListPushBackBatch": {"input_handles": "two_lists_of_rows", "tensor": "two_rows"},
    "TensorListElementShape": {"shape_type": "index_dtype"},
    "TensorListGetItem": {"index": "one_tensor"},
    "TensorListSetItem": {"index": "one_tensor", "item": "row"},
    "TensorListResize": {"size": "two_tensor"},
    "TensorListGather": _ROWS,
    "TensorListScatterV2": {**_ROWS, "num_elements": "minus_one_tensor"},
    "TensorListScatterIntoExistingList": _ROWS,
    "TensorListConcatV2": {"leading_dims": "no_lengths_tensor"},
    "TensorListSplit": {"lengths": "two_lengths_tensor"},
    "ResourceGather": {**_ROWS, **_VALUE_DTYPE},
    "ResourceGatherNd": _VALUE_DTYPE,
    "ReverseSequence": {"seq_lengths": "rows", "seq_dim": "last_axis"},
    "ReverseV2": {"axis": "axes_tensor"},
    "RngReadAndSkip": {**_STATE, "delta": "unsigned_delta_tensor"},
    "RngSkip": {**_STATE, "delta": "delta_tensor"},
    "Roll": {"shift": "one_tensor", "axis": "axis_tensor"},
    "ScaleAndTranslate": {**_RESIZED, **_MOVES},
    "ScaleAndTranslateGrad": {"grads": "images", "original_image": "more_images", **_MOVES},
    "ShapeN": {"input": "matrices"},
    "Slice": {"begin": "origin_tensor", "size": "half_shape_tensor"},
    "SpaceToBatchND": {**_BLOCKS_OF_BATCH, "paddings": "margins_tensor"},
    "SpaceToDepth": _BLOCKS,
    "SparseSoftmaxCrossEntropyWithLogits": {"labels": "rows"},
    "Split": {"num_split": "two"},
    "SplitV": {"size_splits": "halves_tensor", "num_split": "two"},
    "Squeeze": {"input": "padded_matrix", "axis": "axes"},
    "StatefulRandomBinomial": {**_STATE, **_SUCCESSES, **_VALUE_DTYPE},
    "StatefulUniformInt": _STATE,
    "StatelessParameterizedTruncatedNormal": {
        "means": "zero",
        "stddevs": "unit",
        "minvals": "low",
        "maxvals": "high",
    },
    "StatelessRandomBinomial": {**_SUCCESSES, **_VALUE_DTYPE},
    "StatelessRandomPoisson": {"lam": "high", **_VALUE_DTYPE},
    "StridedSlice": _SLICE,
    "StridedSliceGrad": {**_SLICE, "dy": "strided_matrix"},
    "StringFormat": {"template": "template"},
    "StringJoin": {"inputs": "texts"},
    "StringToNumber": {"string_tensor": "matrix"},
    "TensorStridedSliceUpdate": {**_SLICE, "value": "strided_matrix"},
    "Tile": {"multiples": "twice_tensor"},
    "TopKV2": {"k": "two_tensor"},
    "Unpack": {"num": "side"},
    "VarHandleOp": {"dtype": "dtype", "shape": "shape"},
    "VariableShape": {"input": "variable"},
    "Zeta": {"x": "large_matrix"},
}

# Further calls of an op, whose speed the first does not tell.
_BY_ROWS = {"by rows": {"axis": "last_axes_tensor"}}
_ALONG_ROWS = {"along rows": {"axis": "last_axis_tensor"}}
_OF_BROADCASTS = {"of a row": {"y": "row"}, "of a column": {"y": "column"}}
_VARIANTS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    **_each("Sum Mean Prod Max Min Any All EuclideanNorm", _BY_ROWS),
    **_each("Cumsum Cumprod CumulativeLogsumexp ConcatV2", _ALONG_ROWS),
    **_each("AddV2 Mul RealDiv Less", _OF_BROADCASTS),
    **_each("ArgMax ArgMin", {"by rows": {"dimension": "last_axis_tensor"}}),
    "BroadcastTo": {"of a column": {"input": "column"}},
    "Cast": {"to bool": {"DstT": "bool_dtype"}},
    "GatherV2": {"of columns": {"axis": "last_axis_tensor"}},
    "ReverseV2": {"of rows": {"axis": "last_axes_tensor"}},
    "Split": {"of rows": {"axis": "last_axis_tensor"}},
}

# Where the dtypes are not those of DTYPES that TensorFlow takes.
_FLOATS = ("float32", "float64")
_COMPLEXES = ("complex64", "complex128")
_DTYPES: Mapping[str, tuple[str, ...]] = {
    **_each("Add Equal NotEqual", (*DTYPES, "string")),
    **_each("All Any BroadcastGradientArgs NoOp PrintV2 Where", ("bool",)),
    **_each(
        "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars "
        "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel "
        "FakeQuantWithMinMaxVarsPerChannelGradient InTopKV2",
        ("float32",),
    ),
    **_each("Angle ComplexAbs Conj Imag Real", _COMPLEXES),
    **_each("FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D", _COMPLEXES),
    "InvertPermutation": ("int32",),
    **_each("NonDeterministicInts RngReadAndSkip RngSkip", ("int64",)),
    **_each("StatelessRandomGetAlg StatelessRandomGetKeyCounter", ("uint64",)),
    **_each("StatelessRandomGetKeyCounterAlg StatefulUniformFullInt", ("uint64",)),
    # TensorFlow rounds integers to 0, and takes those of linspace against its documentation.
    **_each("Round linspace", _FLOATS),
    **_each("signal.irfft signal.irfft2d signal.irfft3d", _COMPLEXES),
    **_each("StringJoin StringLength StringLower StringToNumber StringUpper", ("string",)),
    "strings.to_number": ("string",),
    "VariableShape": ("float32",),
}

_RANDOM = re.compile(r"^(raw_ops\.)?(Random|Stateful|Rng|NonDeterministic|Truncated|VarHandle)")
_RANDOM_FUNCTIONS = re.compile(r"^random\.(normal|shuffle|truncated_normal|uniform)|^nn\.dropout$")

# Functions that compute nothing, or that are not about tensors of numbers.
_SKIPPED = frozenset(
    {"Assert", "as_dtype", "constant", "control_dependencies", "convert_to_tensor", "function"}
    | {"create_rng_state", "get_static_value", "gradients", "is_symbolic_tensor", "is_tensor"}
    | {"broadcast_static_shape", "set_global_generator", "set_seed", "type_spec_from_value"}
    | {"variable_creator_scope"}
)

# Meanings of arguments of functions by the parameter's name.
_ARGUMENTS: Mapping[str, str] = {
    **_each("x y a b input input_ inputs_ input_tensor", "matrix"),
    **_each("tensor value features logits labels targets", "matrix"),
    **_each("t params on_value predictions tensor1 tensor2", "matrix"),
    **_each("real imag", "matrix"),
    **_each("values inputs", "matrices"),
    **_each("condition mask", "flags"),
    **_each("shape dims", "shape"),
    **_each("depth num_rows", "side"),
    "start": "elements",
    "axis": "axis",
    "axes": "axes",
    "indices": "rows",
    "multiples": "twice",
    "paddings": "borders",
    "begin": "origin",
    "size": "half",
    "num_or_size_splits": "two",
    "clip_value_min": "low",
    "clip_value_max": "high",
    "dtype": "other_dtype",
    "seed": "seed",
    "repeats": "two",
    "k": "two",
    "shift": "one",
    "scalar": "scalar",
    "rate": "probability",
    "log_input": "matrix",
}

_POOL = {"input": "images", "ksize": "two", "strides": "two", "padding": "same"}
_FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    **_each(
        "eye ones random.normal random.stateless_normal random.stateless_uniform "
        "random.stateless_truncated_normal random.truncated_normal random.uniform zeros",
        {"dtype": "dtype"},
    ),
    "clip_by_global_norm": {"t_list": "matrices", "clip_norm": "scalar"},
    "clip_by_norm": {"clip_norm": "scalar"},
    "concat": {"axis": "axis"},
    "fill": {"value": "scalar"},
    "gather_nd": {"indices": "points"},
    "identity_n": {"input": "matrices"},
    "linalg.global_norm": {"t_list": "matrices"},
    "linalg.matvec": {"b": "row"},
    "linspace": {"start": "low", "stop": "high", "num": "elements"},
    "nn.avg_pool": _POOL,
    "nn.avg_pool1d": {**_POOL, "input": "signals"},
    "nn.avg_pool2d": _POOL,
    "nn.batch_normalization": {
        "mean": "row",
        "variance": "row",
        "offset": "row",
        "scale": "row",
        "variance_epsilon": "small",
    },
    "nn.bias_add": {"bias": "row"},
    "nn.conv1d": {
        "input": "signals",
        "filters": "signal_filters",
        "stride": "one",
        "padding": "same",
    },
    "nn.conv2d": {"input": "images", "filters": "filters", "strides": "one", "padding": "same"},
    "nn.conv2d_transpose": {
        "input": "images",
        "filters": "filters",
        "output_shape": "image_shape_tensor",
        "strides": "one",
    },
    "nn.depthwise_conv2d": {
        "input": "images",
        "filter": "depthwise_filters",
        "strides": "strides",
        "padding": "same",
    },
    "nn.embedding_lookup": {"ids": "rows"},
    "nn.max_pool": _POOL,
    "nn.max_pool1d": {**_POOL, "input": "signals"},
    "nn.max_pool2d": _POOL,
    "nn.sigmoid_cross_entropy_with_logits": {"labels": "matrix", "logits": "signed_matrix"},
    "nn.softmax_cross_entropy_with_logits": {"labels": "matrix", "logits": "matrix"},
    "nn.sparse_softmax_cross_entropy_with_logits": {"labels": "rows", "logits": "matrix"},
    "nn.weighted_cross_entropy_with_logits": {
        "labels": "matrix",
        "logits": "signed_matrix",
        "pos_weight": "scalar",
    },
    "random.fold_in": {"data": "one"},
    "reshape": {"shape": "flat_shape"},
    "reverse": {"axis": "axes"},
    "sequence_mask": {"lengths": "rows"},
    "tensor_scatter_nd_update": {"indices": "points", "updates": "matrix"},
    "strided_slice": {"begin": "origin", "end": "shape"},
    "tensordot": {"axes": "one"},
    # Optional in the signature, and without them it is another function.
    "where": {"x": "matrix", "y": "matrix"},
    "transpose": {"perm": "both_axes"},
}


def resolve(tf: Any, name: str) -> Any:
    """What stands under that dotted name, or None."""
    found: Any = tf
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def op_calls(tf: Any) -> tuple[list[OpCall], dict[str, str]]:
    """The calls to time, and why the others are not."""
    functions: list[OpCall] = []
    public_names: dict[str, list[str]] = {}
    untimed = dict(_NOT_TIMED)
    for names, function in _public_functions(tf):
        if not inspect.isfunction(function):
            op = _op_behind(function)
            if op is not None:
                public_names.setdefault(op, []).extend(names)
            continue
        meanings = _meanings(function, _FUNCTIONS.get(names[0], {}), _ARGUMENTS)
        if isinstance(meanings, str):
            untimed.setdefault(names[0], f"the meaning of {meanings} is not known")
        elif meanings:
            is_random = any(_RANDOM_FUNCTIONS.match(name) for name in names)
            dtypes = list(_DTYPES.get(names[0], ()))
            functions.append(OpCall(names[0], names[0], names, meanings, dtypes, is_random))
    calls: list[OpCall] = []
    for op in dir(tf.raw_ops):
        if op.startswith("_") or op in _NOT_TIMED:
            continue
        meanings = _meanings(getattr(tf.raw_ops, op), _OPS.get(op, {}), _INPUTS)
        if isinstance(meanings, str):
            untimed[op] = f"the meaning of {meanings} is not known"
            continue
        for variant, change in {"": {}, **_VARIANTS.get(op, {})}.items():
            calls.append(
                OpCall(
                    f"{op} {variant}".strip(),
                    f"raw_ops.{op}",
                    [op, f"raw_ops.{op}", *public_names.get(op, [])],
                    {**meanings, **change},
                    list(_DTYPES.get(op, ())),
                    bool(_RANDOM.match(op)),
                )
            )
    return calls + functions, untimed


def _public_functions(tf: Any) -> Iterator[tuple[list[str], Any]]:
    """Each public function once, with all its names."""
    found: dict[int, tuple[list[str], Any]] = {}
    for module_name in MODULES:
        module = resolve(tf, module_name) if module_name else tf
        for attribute in dir(module):
            function = getattr(module, attribute)
            if (
                attribute.startswith("_")
                or attribute in _SKIPPED
                or isinstance(function, type)
                or not callable(function)
            ):
                continue
            name = f"{module_name}.{attribute}" if module_name else attribute
            found.setdefault(id(function), ([], function))[0].append(name)
    yield from found.values()


def _op_behind(function: Any) -> str | None:
    """The op that a generated function calls, which its documentation names."""
    match = re.search(r'OpDef "(\w+)"', inspect.getdoc(function) or "")
    return match[1] if match else None


def _meanings(
    function: Any, own: Mapping[str, str], usual: Mapping[str, str]
) -> dict[str, str] | str:
    """Meanings of the arguments to pass, or the name of a parameter that has none."""
    meanings = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in own:
            meanings[parameter.name] = own[parameter.name]
            continue
        required = parameter.default is inspect.Parameter.empty
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or not required:
            continue
        if parameter.name not in usual:
            return parameter.name
        meanings[parameter.name] = usual[parameter.name]
    return meanings


def arguments_for(function: Any, meanings: Mapping[str, str]) -> dict[str, str]:
    """The meanings under the names that this system has for the parameters.

    A parameter that has another name in this system stands at the same place.
    """
    parameters = list(inspect.signature(function).parameters)
    return {
        name if name in parameters else parameters[place]: meaning
        for place, (name, meaning) in enumerate(meanings.items())
    }
