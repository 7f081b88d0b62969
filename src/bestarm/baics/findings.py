"""What came out, in one sentence for each figure, from its table."""

import pandas as pd

from bestarm.common.drawing import spread
from bestarm.common.findings import at_end, beside_published, errs, named, percent, times
from bestarm.common.tables import pick


def table1(table: pd.DataFrame) -> str:
    return beside_published(table, "mean_stopping_time", "Mean times")


example2 = table1


def complexity(table: pd.DataFrame) -> str:
    last = at_end(pick(table, statistic="time_ratio"), least=True)
    names = last.instance.str.replace("-", " ")
    return (
        f"At ε = {last.x.min():g} constraints multiply T* by "
        f"{named(dict(zip(names, last.value, strict=True)))}."
    )


def asymptotics(table: pd.DataFrame) -> str:
    last = at_end(pick(table, statistic="asymptotic_ratio"), least=True)
    means = last.set_index(["strategy", "reading"]).value
    names = {
        "T-a-SCS, exact maximiser": ("T-a-SCS", "maximiser"),
        "T-a-SCS, one step per pull": ("T-a-SCS", "as-written"),
        "T-a-S": ("T-a-S", "as-written"),
        "Uniform": ("Uniform", "as-written"),
    }
    ratios = {name: means[key] for name, key in names.items()}
    return f"At δ = {last.x.min():g} mean times over T* ln(1/δ) are {named(ratios)}."


def step_size(table: pd.DataFrame) -> str:
    means = pick(table, statistic="mean_stopping_time")
    stated = pick(means, reading="published").value.iloc[0]
    written, no_half = (
        spread(pick(means, x_name="step", reading=reading).value / stated)
        for reading in ("as-written", "no-half")
    )
    return (
        f"Over all step sizes the mean, up to the cap, is {written} times the published one as "
        f"written, and {no_half} times without the ½ in Z."
    )


def no_feasible_arm(table: pd.DataFrame) -> str:
    means = pick(table, statistic="mean_stopping_time", reading="as-written")
    bound = pick(table, statistic="lower_bound").value.iloc[0]
    ratios = dict(zip(means.strategy, means.value / bound, strict=True))
    return f"As written, mean times over the lower bound are {named(ratios)}."


def two_stage(table: pd.DataFrame) -> str:
    rows = pick(table, statistic="budget_ratio")
    return (
        f"Two-stage takes {times(rows)} the pulls of T-a-SCS, and "
        f"{spread(at_end(rows, least=True).value)} times at the least ε."
    )


def segments(table: pd.DataFrame) -> str:
    rows = pick(table, statistic="wrong_stops")
    return f"T-a-SCS as written stops wrongly {errs(rows, rows.delta.iloc[0])}."


def guarantee(table: pd.DataFrame) -> str:
    rows = pick(table, statistic="wrong_stops")
    paper, proven = (
        errs(pick(rows, reading=reading), rows.delta.iloc[0])
        for reading in ("maximiser", "maximiser+proven")
    )
    return f"The paper's stopping rule errs {paper}; the proven one {proven}."


def proven(table: pd.DataFrame) -> str:
    return (
        f"Stopping rules that are proven take {times(pick(table, statistic='budget_ratio'))} the "
        "pulls of the paper's, with the same sampling rule."
    )


def boundary(table: pd.DataFrame) -> str:
    rows = pick(table, statistic="wrong_stops")
    is_proven = rows.reading.str.endswith("proven")
    above = (rows.low > rows.delta)[is_proven].sum()
    largest = rows[is_proven].groupby("delta").value.max()
    by_delta = ", ".join(f"{percent([v])} at δ = {d:g}" for d, v in largest.items())
    return (
        f"The paper's rule errs {errs(rows[~is_proven], rows.delta[~is_proven].max())}. The proven "
        f"one errs in up to {by_delta}, with 95% confidence above δ in {above or 'no'} case"
        f"{'s' if above > 1 else ''}."
    )


def proven_asymptotics(table: pd.DataFrame) -> str:
    last = at_end(pick(table, statistic="bound_ratio"), least=True)
    is_proven = last.reading.str.endswith("proven")
    return (
        f"At δ = {last.x.min():g} proven rules take {spread(last.value[is_proven])} times the "
        f"lower bound, the paper's {spread(last.value[~is_proven])} times."
    )


def tracking(table: pd.DataFrame) -> str:
    largest = pick(table, statistic="tracking_error:largest").value.iloc[0]
    runs_of = pick(table, statistic="tracking_error").n.iloc[0]
    holds = "always holds" if largest <= 1.0 else "fails at least once"
    return (
        f"In {runs_of:,} runs Eq. (12) {holds}: the pulls stray from their targets by at most "
        f"{largest:.2g} times its bound."
    )
