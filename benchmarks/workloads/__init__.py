"""One module for each programming interface, with a function a workload, which makes its Cell.

`tf_api` serves Graven and TensorFlow alike. `inputs` makes the same numbers for all of them.
"""
