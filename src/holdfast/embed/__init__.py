"""Turning text into vectors: the embedders behind the protocol in `base`.

Nothing is imported here, so that `import holdfast.embed` costs nothing: numpy and the models
load when the first text is embedded.
"""
