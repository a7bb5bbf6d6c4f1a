"""Capture by re-execution: how functions without source get conditions on tensors into a graph.

A function is called with an oracle that answers for the truth of symbolic tensors. It says yes to
each condition first, and then the function is called again for every other sequence of answers,
until all paths through it are known (`runs`). A path that ends in a failed assertion is none: its
last answer is turned, and the condition becomes an assertion of the graph. Where the paths that
part at a condition come to the same place with the same state, they are one again (`merging`). Then
the paths are written into the graph: what lies before the first condition is there already, what
follows a condition becomes the bodies of a tf.cond (`writing`).

What makes this right: each path is run by Python as it is. Runs must agree in what they do up to
the condition at which they part, and must leave Python's objects alone (`effects`). What cannot be
done is an error at the line of the condition: nothing is ever run as something else in silence.
"""

from graven.autograph._replay.replayed import call as call
from graven.autograph._replay.replayed import replayed as replayed
