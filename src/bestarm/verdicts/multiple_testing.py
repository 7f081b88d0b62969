"""P-values of several tests at once."""

from collections.abc import Iterable


def holm(p_values: Iterable[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    p_values = list(p_values)
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted
