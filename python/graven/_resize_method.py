"""The names of the methods by which images are resized."""


class ResizeMethod:
    """The methods of tf.image.resize, by name.

    Source: tf.image.ResizeMethod.
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"
