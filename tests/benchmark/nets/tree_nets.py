# SPDX-License-Identifier: Apache-2.0
"""Boosted trees."""
import numpy as np
import tensorflow as tf

from nets.graphs import AnyNet, Weights


class Trees(AnyNet):
    """The sum of 100 trees of depth 6 over 20 features. Its format is ONNX, as programs that train trees export it: tfaot and ONNX
    Runtime take one node of the standard's operators for trees. TensorFlow has no such operation, so there each step down is three
    lookups for all trees at once."""

    input_shape, outputs = (20,), 1
    format = "onnx"
    trees, depth = 100, 6

    def __init__(self, seed):
        self.weights = Weights(seed)
        self.inner, leaves = 2 ** self.depth - 1, 2 ** self.depth
        self.features = self.weights.random.integers(0, self.input_shape[0], self.trees * self.inner)
        self.weights.add("thresholds", (self.trees * self.inner,), 1)
        self.weights.add("leaves", (self.trees * leaves,), 0.1)
        self.flops = self.trees * self.depth  # comparisons

    def tensorflow(self, v, x):
        first = tf.range(self.trees) * self.inner
        at = tf.zeros([tf.shape(x)[0], self.trees], tf.int32)
        features = tf.constant(self.features, tf.int32)
        for _ in range(self.depth):
            node = first + at
            number = tf.gather(x, tf.gather(features, node), batch_dims=1)
            at = 2 * at + 1 + tf.cast(number > tf.gather(v["thresholds"], node), tf.int32)
        leaf = tf.range(self.trees) * (self.inner + 1) + at - self.inner
        return tf.reduce_sum(tf.gather(v["leaves"], leaf), 1, keepdims=True)

    def onnx(self, g, x):
        nodes = self.inner + self.inner + 1  # of a tree
        tree, node = np.divmod(np.arange(self.trees * nodes), nodes)
        is_inner = node < self.inner
        values, features = np.zeros(len(node), np.float32), np.zeros(len(node), np.int64)
        values[is_inner], features[is_inner] = g.weights["thresholds"], self.features
        return g.op("TreeEnsembleRegressor", x, domain="ai.onnx.ml", n_targets=self.outputs,
                    nodes_treeids=tree, nodes_nodeids=node, nodes_featureids=features, nodes_values=values,
                    nodes_modes=np.where(is_inner, "BRANCH_LEQ", "LEAF").tolist(),
                    nodes_truenodeids=np.where(is_inner, 2 * node + 1, 0), nodes_falsenodeids=np.where(is_inner, 2 * node + 2, 0),
                    target_treeids=tree[~is_inner], target_nodeids=node[~is_inner], target_ids=np.zeros(np.sum(~is_inner), np.int64),
                    target_weights=g.weights["leaves"])
