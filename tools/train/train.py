#!/usr/bin/env python3
"""Learns the choice of a page's main content from the rows that tools/train wrote.

usage: train.py ROWS OUT

It writes OUT/model.bin, trained on every page, and for cross-validation
OUT/fold0.bin ... and OUT/folds.json, which says for each page the fold whose
model has seen no page of its domain. Needs numpy, scipy and xgboost 1.7 (Debian:
python3-numpy python3-scipy python3-xgboost). docs/extraction.md has the method.
"""
import json
import math
import os
import struct
import sys

import numpy as np
import scipy.sparse as sparse
import xgboost
from scipy.optimize import minimize

FOLDS = 5
INNER = 4           # folds within the training pages, for the scores of words
TOKEN_BITS = 18     # as in internal/maincontent
PLACES = 5
L2 = 5.0            # of the weights of words
STEPS = 40
# Two sets of trees whose scores are averaged: the second does not see what the
# rules chose, and errs elsewhere.
TREES = [dict(rounds=400, seed=0, rules=True), dict(rounds=400, seed=1, rules=False)]
COMMON = dict(objective="binary:logistic", max_depth=4, eta=0.1, tree_method="hist", subsample=0.8, colsample_bytree=0.3,
              min_child_weight=1, nthread=os.cpu_count())
WORD_FEATURES = ["score of words", "score of heading", "score of own names", "score of names around", "score of names further out"]


class Data:
    def __init__(self, folder):
        read = lambda name, kind: np.fromfile(os.path.join(folder, name), dtype=kind)
        with open(os.path.join(folder, "pages.jsonl"), encoding="utf-8") as f:
            self.pages = [json.loads(line) for line in f]
        with open(os.path.join(folder, "names.json"), encoding="utf-8") as f:
            self.names = json.load(f)
        self.x = read("rows.f32", np.float32).reshape(-1, len(self.names))
        self.y = read("labels.f32", np.float32)
        blocks = np.array([p["blocks"] for p in self.pages])
        self.page = np.repeat(np.arange(len(self.pages)), blocks)
        words = np.concatenate([np.diff([0] + p["ends"]) for p in self.pages]).astype(np.float32)
        total = np.bincount(self.page, weights=words, minlength=len(self.pages))
        # A block weighs what it is of its page, so that every page counts the same.
        self.weight = words / np.maximum(total[self.page], 1) * 100
        tokens, counts = read("tokens.u32", np.uint32), read("counts.u32", np.uint32)
        bounds = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        column, place = (tokens & ((1 << TOKEN_BITS) - 1)).astype(np.int32), tokens >> TOKEN_BITS
        self.places = []
        for k in range(PLACES):
            here = place == k
            at = np.concatenate([[0], np.cumsum(here)])[bounds]
            m = sparse.csr_matrix((np.ones(here.sum(), np.float32), column[here], at), shape=(len(self.y), 1 << TOKEN_BITS))
            m.sum_duplicates()
            self.places.append(m)
        self.tokens = sum(self.places[1:], self.places[0]).tocsr()

    def domains(self):
        return sorted({p["domain"] for p in self.pages})

    def folds(self, domains, count, seed):
        """Gives each page the fold of its domain, -1 where the domain is not among them."""
        order = np.random.RandomState(seed).permutation(len(domains))
        of = {d: int(order[i]) % count for i, d in enumerate(domains)}
        return np.array([of.get(p["domain"], -1) for p in self.pages])


def word_weights(d, rows):
    """Logistic regression on the words of blocks, as 8-bit numbers times a scale."""
    rows = rows[d.weight[rows] > 0]
    a, y = d.tokens[rows], d.y[rows]
    w = d.weight[rows] / d.weight[rows].mean()
    at = a.T.tocsr()

    def loss(p):
        z = a @ p[:-1] + p[-1]
        q = 1 / (1 + np.exp(-z))
        g = w * (q - y)
        return (w * (np.logaddexp(0, z) - y * z)).sum() + 0.5 * L2 * (p[:-1] ** 2).sum(), np.append(at @ g + L2 * p[:-1], g.sum())

    p = minimize(loss, np.zeros((1 << TOKEN_BITS) + 1), jac=True, method="L-BFGS-B", options=dict(maxiter=STEPS)).x[:-1]
    scale = float(np.float32(np.abs(p).max() / 127))
    return np.round(p / scale).astype(np.int8), scale


def word_scores(d, weights, rows):
    numbers, scale = weights
    w = (numbers * scale).astype(np.float32)
    return np.stack([m[rows] @ w for m in d.places], axis=1)


def train(d, pages, seed):
    """Trains on the pages (a mask). The scores of words that the trees see of a
    page come from weights which were fitted without its domain."""
    inside = pages[d.page]
    scores = np.zeros((len(d.y), PLACES), np.float32)
    domains = sorted({d.pages[i]["domain"] for i in np.where(pages)[0]})
    inner = np.where(pages, d.folds(domains, INNER, seed), -1)[d.page]
    for k in range(INNER):
        out = np.where(inner == k)[0]
        scores[out] = word_scores(d, word_weights(d, np.where((inner >= 0) & (inner != k))[0]), out)
    columns = [d.names.index(n) for n in WORD_FEATURES]
    d.x[:, columns] = scores
    rows = inside & (d.weight > 0)
    boosters = []
    for t in TREES:
        x = d.x[rows]
        if not t["rules"]:
            x[:, ["chosen" in n for n in d.names]] = 0
        matrix = xgboost.QuantileDMatrix(x, d.y[rows], weight=d.weight[rows])
        boosters.append(xgboost.train({**COMMON, "seed": t["seed"]}, matrix, t["rounds"]))
    return boosters, word_weights(d, np.where(inside)[0])


def feature_hash(names):
    h = 14695981039346656037
    for byte in b"".join(n.encode() + b"\0" for n in names):
        h = ((h ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return h


def write(d, model, path):
    """Writes a model as internal/maincontent/trees.go describes it. The scores of
    several boosters are averaged."""
    boosters, (numbers, scale) = model
    nodes, starts, base = [], [], 0.5
    for b in boosters:
        learner = json.loads(bytes(b.save_raw("json")))["learner"]
        base = float(learner["learner_model_param"]["base_score"])
        for t in learner["gradient_booster"]["model"]["trees"]:
            left, right, feature, value = t["left_children"], t["right_children"], t["split_indices"], t["split_conditions"]
            starts.append(len(nodes))

            def put(i):
                if left[i] == -1:
                    nodes.append((value[i] / len(boosters), 0xFFFF, 0))
                    return
                me = len(nodes)
                nodes.append(None)
                put(left[i])
                nodes[me] = (value[i], feature[i], len(nodes) - me)
                put(right[i])

            put(0)
    with open(path, "wb") as f:
        f.write(b"siftmc02" + struct.pack("<QIIff", feature_hash(d.names), len(starts), len(nodes), math.log(base / (1 - base)), scale))
        f.write(struct.pack("<%dI" % len(starts), *starts))
        for n in nodes:
            f.write(struct.pack("<fHH", *n))
        f.write(numbers.tobytes())
    print("%s: %d trees, %d nodes, %d bytes" % (path, len(starts), len(nodes), os.path.getsize(path)), flush=True)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    d, out = Data(sys.argv[1]), sys.argv[2]
    os.makedirs(out, exist_ok=True)
    folds = d.folds(d.domains(), FOLDS, 7)
    with open(os.path.join(out, "folds.json"), "w", encoding="utf-8") as f:
        json.dump({p["id"]: int(folds[i]) for i, p in enumerate(d.pages)}, f)
    for k in range(FOLDS):
        write(d, train(d, folds != k, 11 + k), os.path.join(out, "fold%d.bin" % k))
    write(d, train(d, folds >= 0, 11), os.path.join(out, "model.bin"))


if __name__ == "__main__":
    main()
