"""What came out, in one sentence for each figure of error rates, from its table."""

import pandas as pd

from bestarm.common.findings import at_end, last_errors, less_and_more, named, percent
from bestarm.common.tables import pick


def fewer_errors(table: pd.DataFrame, first: str = "SFSR", second: str = "USLP") -> str:
    """On how many instances a strategy errs less or more often than another, at most pulls."""
    rows = at_end(pick(table, statistic="error_difference", algorithm=first, other=second))
    less, more = less_and_more(rows)
    return (
        f"With N = {rows.x.max():,.0f} pulls {first} errs less often than {second} on {less} of "
        f"{len(rows)} instances and more often on {more} (95% intervals of the difference)."
    )


def rates(table: pd.DataFrame) -> str:
    """Of exponents that runs with errors give: where SFSR's is above Theorem 2's limit for USLP."""
    rows = pick(table, statistic="error_exponent", strategy="SFSR")
    last = rows[rows.status != "one-sided"].sort_values("x").groupby("instance").tail(1)
    limits = pick(table, statistic="exponent_limit", strategy="USLP at most")
    limit = last.instance.map(limits.set_index("instance").value)
    above, below = (last.low > limit).sum(), (last.high < limit).sum()
    return (
        "With the most pulls at which SFSR errs, −ln(error rate)/N is above Theorem 2's limit for "
        f"USLP on {above} of {len(last)} instances and below it on {below}."
    )


def decay(table: pd.DataFrame) -> str:
    slopes = pick(table, statistic="marginal_exponent").dropna(subset=["low"])
    limits = pick(table, statistic="exponent_limit", strategy="USLP at most")
    limit = limits.value.item()
    uslp, sfsr = (at_end(pick(slopes, strategy=name)) for name in ("USLP", "SFSR"))
    is_in = ((uslp.low <= limit) & (limit <= uslp.high)).any()
    return (
        f"At N = {uslp.x.max():,.0f} the local exponent of USLP is {1e3 * uslp.value.max():.3g} "
        f"per 1,000 pulls, and Theorem 2's limit of {1e3 * limit:.3g} is "
        f"{'in' if is_in else 'outside'} its interval; SFSR's is "
        f"{1e3 * sfsr.value.max():.3g} at N = {sfsr.x.max():,.0f}."
    )


def random_instances(table: pd.DataFrame) -> str:
    rows = pick(table, statistic="error_difference", algorithm="SFSR", other="USLP")
    less, more = less_and_more(rows)
    return (
        f"SFSR errs less often than USLP on {less} of {len(rows)} random instances and more often "
        f"on {more}; the other intervals of the difference hold 0."
    )


def known_arms(table: pd.DataFrame) -> str:
    last = last_errors(pick(table, statistic="error_rate"))
    n_known = last.instance.str.extract(r"known-(\d+)", expand=False).fillna("0").astype(int)
    none, most = (percent(last.value[n_known == n]) for n in (0, n_known.max()))
    return (
        f"With N = {last.x.max():,.0f} pulls strategies err in {none} of runs with no arm known, "
        f"and in {most} with {n_known.max()} known."
    )


def infeasible(table: pd.DataFrame) -> str:
    rows = pick(table, statistic="error_rate")
    last, end = last_errors(rows), at_end(rows)
    return (
        f"Strategies err in {percent(last.value)} of runs with N = {last.x.max():,.0f} pulls, "
        f"and in {percent(end.value)} with N = {end.x.max():,.0f}."
    )


def three_constraints(table: pd.DataFrame) -> str:
    last = last_errors(pick(table, statistic="error_rate"))
    shares = named(dict(zip(last.strategy, last.value, strict=True)), ".2%")
    return f"With N = {last.x.max():,.0f} pulls the error rates are {shares}."


def patient(drawn: pd.DataFrame) -> str:
    """Of the instances that are drawn."""
    rows = pick(drawn, statistic="error_difference", algorithm="SFSR-patient", other="SFSR")
    less, more = less_and_more(rows)
    return (
        f"Patient SFSR errs less often than SFSR at {less} of {len(rows)} points and more often at "
        f"{more} (95% intervals of the difference)."
    )
