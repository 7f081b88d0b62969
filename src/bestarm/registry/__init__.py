"""The papers, in the order figures and claims list them. A new paper is one line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bestarm.common.paper import Paper

TITLES = {
    "baics": "Best arm identification with fairness constraints on subpopulations (WSC 2023)",
    "linear": "Best-arm identification in linear bandits (NIPS 2014)",
    "delayed": "Best arm identification with delayed feedback (AISTATS 2018)",
    "cbmai": "Constrained best mixed arm identification with a fixed budget",
    "lagex": "Learning to explore with Lagrangians under unknown linear constraints (AISTATS 2026)",
    "bai": "Optimal best arm identification with fixed confidence (COLT 2016)",
}
#: Positive controls: papers that were chosen because they are expected to replicate. Their claims
#: are judged like any other and stand beside the totals (figures/control.csv), never in them.
CONTROLS = tuple(name for name in ("bai",) if name in TITLES)
#: The papers whose claims make the totals.
COUNTED = tuple(name for name in TITLES if name not in CONTROLS)


class _Papers(Mapping[str, "Paper"]):
    """The papers by name, made on first use, so that help needs neither NumPy nor pydantic."""

    def __init__(self) -> None:
        self._made: dict[str, Paper] = {}

    def __getitem__(self, name: str) -> Paper:
        if name not in self._made:
            from bestarm.common.paper import Paper

            self._made[name] = Paper(name, TITLES[name])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in TITLES

    def __iter__(self) -> Iterator[str]:
        return iter(TITLES)

    def __len__(self) -> int:
        return len(TITLES)


PAPERS = _Papers()
#: A target that pages show commands on.
EXAMPLE = "baics/table1"
