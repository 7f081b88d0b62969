"""Which arm to pull next: the greedy rules of Figure 2 and their two-step variant."""

import hashlib
import threading
import zlib
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from llvmlite.binding import get_host_cpu_name

from bestarm.core.compile import cache_folder, inlined, jit, lean
from bestarm.core.files import replacing
from bestarm.core.inputs import InputError
from bestarm.linear.least_squares import REFACTOR, Fit, refit, squared_norm

#: Greedy rules, and the rounding of a design in their place.
TWO_STEP, ARGMIN_MAX, ROUNDED = 0, 1, 2
#: Arms whose scores differ by less than this, relatively, tie; rounding must not decide.
TIE = 1e-9
#: A static sequence is computed in blocks of so many arms, so that the pulls at which a matrix is
#: factored anew do not depend on how far it was asked for.
BLOCK = 4 * REFACTOR
#: A static sequence that is longer is also kept in a file. Making a million arms takes about 0.1 s.
LONG = 256 * BLOCK


class Directions(NamedTuple):
    """The directions whose uncertainty is reduced: x_first - x_second, or x_first if second < 0."""

    first: np.ndarray  # (m,)
    second: np.ndarray  # (m,)
    weight: np.ndarray  # (m,) weights of y^T A^-1 y in the maximum


def all_arms(n_arms: int) -> Directions:
    """The arms themselves: G-allocation, Eq. (12)."""
    return Directions(np.arange(n_arms), np.full(n_arms, -1), np.ones(n_arms))


def all_pairs(n_arms: int) -> Directions:
    """Differences of two arms: XY-allocation, Eq. (14)."""
    first, second = np.triu_indices(n_arms, 1)
    return Directions(first, second, np.ones(first.size))


def oracle_pairs(means: np.ndarray) -> Directions:
    """Differences to the best arm over their squared gaps: Eq. (5)."""
    best = int(np.argmax(means))
    others = np.delete(np.arange(means.size), best)
    return Directions(np.full(others.size, best), others, (means[best] - means[others]) ** -2.0)


@inlined
def among(directions: Directions, active: np.ndarray) -> Directions:
    """The directions between two active arms."""
    keep = active[directions.first] & active[directions.second]
    return Directions(directions.first[keep], directions.second[keep], directions.weight[keep])


class Uncertainty(NamedTuple):
    """The quantities behind the choice of the next arm, kept up to date by rank-one updates."""

    sizes: np.ndarray  # (m,) y^T A^-1 y of the directions
    table: np.ndarray  # (K, K + 1) x^T A^-1 x' of arms; last column 0, for `second` = -1


@inlined
def make_uncertainty(n_arms: int, n_directions: int) -> Uncertainty:
    """An `Uncertainty` with uninitialised entries."""
    return Uncertainty(np.empty(n_directions), np.zeros((n_arms, n_arms + 1)))


@lean
def products(fit: Fit, table: np.ndarray) -> None:
    """Fill the first K columns of a table with x^T A^-1 x' from the predictors of a fit."""
    n_arms, d = fit.arms.shape
    for a in range(n_arms):
        for x in range(n_arms):
            total = 0.0
            for i in range(d):
                total += fit.predictors[a, i] * fit.arms[x, i]
            table[x, a] = total


@lean
def measure(fit: Fit, directions: Directions, uncertainty: Uncertainty) -> None:
    """Compute an `Uncertainty` from the predictors of a fit."""
    for i in range(uncertainty.sizes.size):
        a, b = directions.first[i], directions.second[i]
        uncertainty.sizes[i] = squared_norm(fit.arms, fit.predictors, a, b)
    products(fit, uncertainty.table)


@inlined
def overlap(directions: Directions, table: np.ndarray, x: int, i: int) -> float:
    """x^T A^-1 y of an arm x and the i-th direction y."""
    return table[x, directions.first[i]] - table[x, directions.second[i]]


@inlined
def shrink(directions: Directions, uncertainty: Uncertainty, arm: int, times: float = 1.0) -> None:
    """Update the uncertainty after k = `times` pulls of an arm x, by Sherman and Morrison:

    (A + k x x^T)^-1 = A^-1 - k A^-1 x x^T A^-1 / (1 + k x^T A^-1 x).
    """
    sizes, table = uncertainty
    left = 1.0 / (1.0 + times * table[arm, arm])
    factor = times * left
    for i in range(sizes.size):
        gain = overlap(directions, table, arm, i)
        sizes[i] -= factor * gain * gain
    for x in range(table.shape[0]):
        if x != arm:
            share = factor * table[x, arm]
            if share != 0.0:
                for a in range(table.shape[1]):
                    table[x, a] -= share * table[arm, a]
    for a in range(table.shape[1]):
        table[arm, a] *= left


@inlined
def worst(sizes: np.ndarray, weight: np.ndarray) -> tuple[int, float]:
    """The direction with the largest weight y^T A^-1 y (ties: the first), and that value.

    Going through them, a direction replaces the one before if its value is larger by more than TIE,
    relatively. The first whose value is within TIE of the maximum is the last to do so, unless one
    before it comes nearly as close; only then is the comparison made one by one, since branches
    that depend on values are slow.
    """
    largest = -1.0
    for i in range(sizes.size):
        value = weight[i] * sizes[i]
        largest = value if value > largest else largest
    for i in range(sizes.size):
        value = weight[i] * sizes[i]
        if value >= largest * (1.0 - 3.0 * TIE):
            if value * (1.0 + TIE) >= largest:
                return i, value
            break
    return one_by_one(sizes, weight)


@lean
def one_by_one(sizes: np.ndarray, weight: np.ndarray) -> tuple[int, float]:
    """`worst` for any values."""
    which, largest, bar = 0, -1.0, -1.0
    for i in range(sizes.size):
        value = weight[i] * sizes[i]
        if value > bar:
            which, largest, bar = i, value, value * (1.0 + TIE)
    return which, largest


@inlined
def choose_two_step(directions: Directions, uncertainty: Uncertainty, counts: np.ndarray) -> int:
    """y = argmax y^T A^-1 y, then x = argmin y^T (A + x x^T)^-1 y; ties go to the least pulled arm.

    By the matrix inversion lemma, Eq. (22), the second is the argmax of
    (y^T A^-1 x)^2 / (1 + x^T A^-1 x); fractions are compared by cross-multiplication, without
    divisions.
    """
    sizes, table = uncertainty
    y, _ = worst(sizes, directions.weight)
    best, above, below = 0, overlap(directions, table, 0, y) ** 2, 1.0 + table[0, 0]
    for x in range(1, counts.size):
        square, own = overlap(directions, table, x, y) ** 2, 1.0 + table[x, x]
        gain, most = square * below, above * own
        fewer = counts[x] < counts[best]
        if gain >= most * (1.0 - TIE) and (fewer or gain > most * (1.0 + TIE)):
            best, above, below = x, square, own
    return best


@lean
def choose_argmin_max(directions: Directions, uncertainty: Uncertainty, counts: np.ndarray) -> int:
    """x = argmin_x max_y y^T (A + x x^T)^-1 y, Figure 2; ties go to the least pulled arm.

    If two directions share the maximum no single pull may lower it, and then all arms tie.
    """
    sizes, table = uncertainty
    best, least = 0, np.inf
    for x in range(counts.size):
        factor = 1.0 / (1.0 + table[x, x])
        largest = 0.0
        for i in range(sizes.size):
            gain = overlap(directions, table, x, i)
            largest = max(largest, directions.weight[i] * (sizes[i] - factor * gain * gain))
        fewer = counts[x] < counts[best]
        if largest < least * (1.0 - TIE) or (fewer and largest <= least * (1.0 + TIE)):
            best, least = x, largest
    return best


@inlined
def choose(directions: Directions, uncertainty: Uncertainty, counts: np.ndarray, rule: int) -> int:
    """The next arm under a greedy rule."""
    if rule == TWO_STEP:
        return choose_two_step(directions, uncertainty, counts)
    return choose_argmin_max(directions, uncertainty, counts)


@inlined
def keeps(directions: Directions, uncertainty: Uncertainty, arm: int, rule: int, k: float) -> bool:
    """Whether a rule that chooses an arm x now certainly chooses it again after k pulls of it.

    For one direction both rules agree except on what counts as a tie; for more than one, `rule`
    must be TWO_STEP.

    With s = k / (1 + k x^T A^-1 x), k pulls lower y^T A^-1 y by s (x^T A^-1 y)^2, z^T A^-1 y of an
    arm z by s (z^T A^-1 x) (x^T A^-1 y), and z^T A^-1 z by s (z^T A^-1 x)^2. All three are linear
    in s. So an inequality between lengths that holds at both ends holds between them; the gain of z
    is at most the square of the larger end of |z^T A^-1 y| over the final 1 + z^T A^-1 z; and the
    gain of x decreases. Hence True holds for all pulls up to the k-th.
    """
    sizes, table = uncertainty
    weight = directions.weight
    y, _ = worst(sizes, weight)
    own = table[arm, arm]
    s = k / (1.0 + k * own)
    part = overlap(directions, table, arm, y)
    now, then = weight[y] * sizes[y], weight[y] * (sizes[y] - s * part * part)
    for i in range(sizes.size):
        if i != y:
            gain = overlap(directions, table, arm, i)
            before, after = weight[i] * sizes[i], weight[i] * (sizes[i] - s * gain * gain)
            if before > now * (1.0 - 2.0 * TIE) or after > then * (1.0 - 2.0 * TIE):
                return False
    least = part * part / ((1.0 + k * own) * (1.0 + (k + 1.0) * own))
    least -= 2.0 * TIE * (least if rule == TWO_STEP else sizes[y])
    for z in range(table.shape[0]):
        if z != arm:
            before, shared = overlap(directions, table, z, y), table[z, arm]
            most = max(abs(before), abs(before - s * part * shared))
            if most * most > least * (1.0 + table[z, z] - s * shared * shared):
                return False
    return True


@inlined
def repeats(
    directions: Directions, uncertainty: Uncertainty, arm: int, rule: int, most: int
) -> int:
    """A lower bound, from 1 to `most`, on how many times in a row a greedy rule chooses `arm`.

    Always 1 for ARGMIN_MAX with more than one direction.
    """
    k = 1
    if rule == TWO_STEP or uncertainty.sizes.size == 1:
        while 2 * k <= most and keeps(directions, uncertainty, arm, rule, 2.0 * k - 1.0):
            k *= 2
    return k


@lean
def extend(
    fit: Fit, directions: Directions, uncertainty: Uncertainty, rule: int, sequence: np.ndarray
) -> None:
    """Fill `sequence` with the arms that a static strategy pulls next, and count them;
    `uncertainty` is a buffer."""
    counts = fit.counts
    for t in range(sequence.size):
        if t % REFACTOR == 0:
            refit(fit)
            measure(fit, directions, uncertainty)
        arm = choose(directions, uncertainty, counts, rule)
        counts[arm] += 1.0
        shrink(directions, uncertainty, arm)
        sequence[t] = arm


@jit
def extend_rounded(counts: np.ndarray, design: np.ndarray, sequence: np.ndarray) -> None:
    """Fill `sequence` with the arms that the rounding of a design pulls next, and count them.

    The arm with the least T_x / lambda_x gains a pull; ties go to the lowest index. These are the
    pulls by which Appendix C's rounding to n + 1 differs from that to n (`round_design`).

    Args:
        counts: (K,) T_x, pulls so far; changed.
        design: (K,) lambda; arms of weight 0 are not pulled.
        sequence: to be filled.
    """
    for t in range(sequence.size):
        arm, least = 0, np.inf
        for x in range(counts.size):
            if design[x] > 0.0 and counts[x] < least * design[x]:
                arm, least = x, counts[x] / design[x]
        counts[arm] += 1.0
        sequence[t] = arm


def spanning_arms(arms: np.ndarray) -> np.ndarray:
    """Indices of d linearly independent arms, chosen greedily in the given order.

    For the paper's arms this is the canonical basis. Raises ValueError if the arms do not span R^d.
    """
    chosen: list[int] = []
    for a in range(len(arms)):
        if np.linalg.matrix_rank(arms[[*chosen, a]]) > len(chosen):
            chosen.append(a)
        if len(chosen) == arms.shape[1]:
            break
    if len(chosen) < arms.shape[1]:
        raise ValueError(f"the arms span only {len(chosen)} of {arms.shape[1]} dimensions")
    return np.array(chosen)


class StaticSequence:
    """The sequence of arms a static strategy pulls, computed on demand.

    It does not depend on rewards, so all runs and threads share it. Processes share a long one
    through a file beside the compiled kernels, whose folder is named by a hash of this code.

    Args:
        fit: without pulls.
        directions: whose uncertainty is reduced.
        rule: TWO_STEP or ARGMIN_MAX.
        initial: arms pulled first, spanning R^d.
    """

    def __init__(
        self, fit: Fit, directions: tuple[np.ndarray, ...], rule: int, initial: np.ndarray
    ) -> None:
        self._lock = threading.Lock()
        self._fit, self._directions, self._rule = fit, directions, rule
        self.n_initial = initial.size  # pulls before which theta may not be determined
        # of bytes for up to 256 arms, as a cap of 10^7 pulls and more is common
        self._arms = initial.astype(np.min_scalar_type(len(fit.arms) - 1))
        fit.counts[initial] = 1.0
        self.file = cache_folder("linear") / f"sequence-{_digest(fit, directions, rule, initial)}"

    def prefix(self, n: int) -> np.ndarray:
        """At least the first n arms of the sequence."""
        with self._lock:
            if n > max(self._arms.size, LONG):
                self._read()
            if n > self._arms.size:
                self._extend(_round_up(max(n, self._arms.size + self._arms.size // 4)))
                if n > LONG:
                    self._write()
            return self._arms

    def _extend(self, size: int) -> None:
        longer, size_before = np.empty(size, self._arms.dtype), self._arms.size
        longer[:size_before] = self._arms
        while size_before < size:
            end = _round_up(size_before + 1)
            self._fill(longer[size_before:end])
            size_before = end
        self._arms = longer

    def _fill(self, arms: np.ndarray) -> None:
        """Fill an array with the arms that are pulled next, and count them."""
        directions = self._directions
        uncertainty = make_uncertainty(self._fit.counts.size, directions.first.size)  # pyright: ignore[reportAttributeAccessIssue]
        extend(self._fit, directions, uncertainty, self._rule, arms)  # pyright: ignore[reportArgumentType]

    def _read(self) -> None:
        """Take over what another process has computed, unless the file is missing or damaged."""
        with suppress(OSError, zlib.error):
            # The copy is writable, as compiled code expects, and lets go of the bytes.
            arms = np.frombuffer(zlib.decompress(self.file.read_bytes()), self._arms.dtype).copy()
            if arms.size > self._arms.size:
                self._arms = arms
                for a in range(self._fit.counts.size):
                    self._fit.counts[a] = np.count_nonzero(arms == a)

    def _write(self) -> None:
        """Keep the sequence for other processes, if there is room."""
        with suppress(OSError, InputError), replacing(self.file) as temporary:
            temporary.write_bytes(zlib.compress(self._arms.data, level=1))


class RoundedSequence(StaticSequence):
    """The sequence of a static strategy that rounds a design, Appendix C.

    Args:
        fit: without pulls.
        design: (K,) lambda.
        initial: arms pulled first, spanning R^d.
    """

    def __init__(self, fit: Fit, design: np.ndarray, initial: np.ndarray) -> None:
        super().__init__(fit, (design,), ROUNDED, initial)

    def _fill(self, arms: np.ndarray) -> None:
        extend_rounded(self._fit.counts, self._directions[0], arms)


def _digest(fit: Fit, directions: tuple[np.ndarray, ...], rule: int, initial: np.ndarray) -> str:
    """Names all that a sequence depends on besides code, and the processor, which may round."""
    facts = fit.arms.shape, fit.ridge, rule, initial.tolist(), get_host_cpu_name()
    digest = hashlib.sha256(repr(facts).encode())
    for array in (fit.arms, *directions):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def _round_up(n: int) -> int:
    """The least multiple of BLOCK that is at least n."""
    return -(-n // BLOCK) * BLOCK
