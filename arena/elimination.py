"""Successive elimination (Even-Dar, Mannor and Mansour, 2006)."""

import math


class Elimination:
    def __init__(self, arms, delta, sigma):
        self.delta, self.sigma = delta, sigma
        self.pulls, self.sums = [0] * len(arms), [0.0] * len(arms)
        self.left = list(range(len(arms)))

    def ask(self):
        return min(self.left, key=lambda arm: self.pulls[arm])

    def tell(self, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward
        if len({self.pulls[arm] for arm in self.left}) == 1:  # the end of a round
            self.eliminate(self.pulls[self.left[0]])

    def eliminate(self, t):
        spread = math.log(4 * len(self.pulls) * t**2 / self.delta)
        radius = self.sigma * math.sqrt(2 * spread / t)
        best = max(self.mean(arm) for arm in self.left)
        self.left = [arm for arm in self.left if self.mean(arm) + 2 * radius >= best]

    def mean(self, arm):
        return self.sums[arm] / self.pulls[arm]

    @property
    def done(self):
        return len(self.left) == 1

    @property
    def answer(self):
        return max(self.left, key=lambda arm: self.mean(arm) if self.pulls[arm] else -math.inf)
