"""From what the papers claim to verdicts, in one direction:

claims.py (data/claims/PAPER.yaml) -> comparison.py -> outcome.py -> table.py (figures/claims.csv).

judge.py goes this way for all claims of a paper, scoreboard.py counts what came out.
"""
