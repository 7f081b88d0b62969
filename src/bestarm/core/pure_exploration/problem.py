"""What a pure-exploration problem is: a few operations on a NamedTuple, compiled.

Arms a = 1..K have means mu and Gaussian rewards of known variance sigma_a^2. Each vector of means
has a right answer. The instances in which an answer is wrong form *pieces*, convex sets numbered
0..m-1. With the nearest instance of piece i,

    f_i(w) = min_{lambda in piece i} sum_a w_a (mu_a - lambda_a)^2 / (2 sigma_a^2),

everything that strategies need follows: f_i is concave and homogeneous, its gradient is
(mu_a - lambda_a)^2 / (2 sigma_a^2) at the minimiser (the envelope theorem), and

    1 / T* = max_{w in simplex} min_i f_i(w),        E[tau] >= T* kl(delta, 1 - delta)

(Garivier & Kaufmann 2016, Theorem 1; Degenne & Koolen 2019).

A problem is a NamedTuple of numbers and arrays with at least the fields of `Problem`, which gives
each operation of this module an implementation for its type (`implements`). Kernels that call the
operations are compiled once per type. Answers are numbers; what they stand for is the problem's.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numba.extending import overload

from bestarm.core.anytime import shrunk_counts
from bestarm.core.compile import jit, lean

#: n0 of the mixtures behind `discount` and `mixing_cost`, in pulls of an arm (core/anytime.py).
PRIOR_PULLS = 30.0

F = TypeVar("F", bound=Callable[..., Any])
_IMPLEMENTATIONS: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}


class Problem(Protocol):
    """The fields that strategies read; implementations read more."""

    @property
    def variances(self) -> np.ndarray:
        """(K,) of the rewards."""
        ...

    @property
    def explored(self) -> np.ndarray:
        """Arms that are pulled first and kept from being neglected; their means give all means."""
        ...

    @property
    def blank(self) -> np.ndarray:
        """An answer as it is reported, to be copied and overwritten."""
        ...


def operation(stub: F) -> F:
    """A function whose implementation depends on the type of its first argument, the problem."""
    implementations: dict[type, Callable[..., Any]] = {}

    @wraps(stub)
    def call(problem: Any, *others: Any) -> Any:
        return implementations[type(problem)](problem, *others)

    def choose(*arguments):  # gets Numba's types, and runs while a caller is compiled
        chosen = implementations[arguments[0].instance_class]

        def implementation(*arguments):
            return chosen(*arguments)

        # Numba tells compiled functions apart by name, types of arguments and a number that starts
        # anew in each process. A cached kernel comes from another process, so under one name for
        # all operations it could call another one than it was compiled with.
        implementation.__qualname__ = f"{stub.__module__}.{stub.__qualname__}"
        return implementation

    overload(call)(choose)
    _IMPLEMENTATIONS[call] = implementations
    return call  # pyright: ignore[reportReturnType]


def implements(stub: Callable[..., Any], *problems: type) -> Callable[[F], F]:
    """Decorate a compiled function that is `stub` for problems of these types."""

    def keep(function: F) -> F:
        _IMPLEMENTATIONS[stub].update(dict.fromkeys(problems, function))
        return function

    return keep


@operation
def pieces(problem: Any) -> int:
    """The number m of pieces; for one answer some of them may not exist."""
    raise NotImplementedError


@operation
def best_answer(problem: Any, means: np.ndarray) -> int:
    """The right answer for (K,) means; ties go to the lowest index."""
    raise NotImplementedError


@operation
def report(problem: Any, answer: int, out: np.ndarray) -> None:
    """Write what an answer stands for into an array like `problem.blank`."""


@operation
def make_work(problem: Any) -> Any:
    """Buffers of the operations, a NamedTuple that also keeps what `weigh` and `discount` set."""


@operation
def weigh(problem: Any, work: Any, weights: np.ndarray) -> None:
    """Set the (K,) nonnegative weights for `displace`: an allocation, or pulls."""


@operation
def displace(
    problem: Any, work: Any, i: int, answer: int, means: np.ndarray, shift: np.ndarray
) -> float:
    """The nearest instance of piece i to `means`, for the weights that were set.

    Args:
        problem, work: `work` may be changed, but for its weights.
        i: the piece, 0 <= i < m.
        answer: the answer that is wrong in it; `means` has it as its right answer.
        means: (K,) mu.
        shift: (K,) overwritten with mu - lambda, unless there is no such piece. With weights of 0
            the limit of positive ones, or some other minimiser.

    Returns:
        f_i(w); infinite if there is no such piece.
    """
    raise NotImplementedError


@operation
def estimate(
    problem: Any, work: Any, pulls: np.ndarray, sums: np.ndarray, means: np.ndarray
) -> None:
    """Overwrite (K,) means with their estimates from pulls and sums of rewards.

    Called once all `explored` arms were pulled.
    """


@operation
def spread(problem: Any, work: Any, out: np.ndarray) -> None:
    """(K,) variances of the estimated means, if the weights that were set are the pulls."""


@operation
def discount(problem: Any, work: Any, pulls: np.ndarray) -> None:
    """Set weights for which the truth is near: see `mixing_cost`."""


@operation
def mixing_cost(problem: Any, work: Any, i: int, answer: int, pulls: np.ndarray) -> float:
    """What mixing against piece i costs, in nats, after `discount`.

    f_i at the discounted pulls, less this, is the log of a nonnegative supermartingale that
    starts at most at 1 / n under every instance of the piece, or lower, where n pieces have to be
    distinguished: whatever the truth, for every answer that is wrong there is a piece that holds
    the truth, and n of them are enough for all wrong answers. So a strategy that stops when
    f_i - price_i >= ln(1/delta) for all i is wrong with probability at most delta (Ville).
    """
    raise NotImplementedError


# Arms whose means are unrelated: implementations that such problems share.


class Weights(NamedTuple):
    """The work of a problem with unrelated arms."""

    weights: np.ndarray  # (K,)


@jit
def make_weights(problem: Any) -> Weights:
    """`make_work`."""
    return Weights(np.zeros(problem.variances.size))


@lean
def set_weights(problem: Any, work: Any, weights: np.ndarray) -> None:
    """`weigh`."""
    for a in range(weights.size):
        work.weights[a] = weights[a]


@lean
def average(
    problem: Any, work: Any, pulls: np.ndarray, sums: np.ndarray, means: np.ndarray
) -> None:
    """`estimate`."""
    for a in range(pulls.size):
        means[a] = sums[a] / pulls[a]


@lean
def arm_spread(problem: Any, work: Any, out: np.ndarray) -> None:
    """`spread`."""
    for a in range(out.size):
        out[a] = problem.variances[a] / work.weights[a]


@lean
def shrink(problem: Any, work: Any, pulls: np.ndarray) -> None:
    """`discount`: N^2 / (N + n0), for which `mixture_threshold` bounds the weighted errors."""
    for a in range(pulls.size):
        work.weights[a] = shrunk_counts(pulls[a], PRIOR_PULLS)


def unrelated_arms(*problems: type) -> None:
    """Give problems with unrelated arms all operations that do not depend on answers."""
    shared = {
        make_work: make_weights,
        weigh: set_weights,
        estimate: average,
        spread: arm_spread,
        discount: shrink,
    }
    for stub, function in shared.items():
        implements(stub, *problems)(function)


@lean
def mixture_cost(pulls: float) -> float:
    """1/2 ln(1 + N / n0), an arm's part of `mixture_threshold`."""
    return 0.5 * np.log1p(pulls / PRIOR_PULLS)
