"""The strategies, for any problem."""

from bestarm.core.pure_exploration.d_tracking import choose_d_tracking
from bestarm.core.pure_exploration.frank_wolfe import choose_fws, start_fws
from bestarm.core.pure_exploration.learners import choose_learners, start_learners
from bestarm.core.pure_exploration.playing import choose_game
from bestarm.core.pure_exploration.steps import done, observe, pull, start
from bestarm.core.pure_exploration.top_two import choose_half_top_two, choose_top_two
from bestarm.core.pure_exploration.track_and_stop import choose_track_and_stop
from bestarm.core.strategy import Strategy

#: By name.
STRATEGIES = {
    name: Strategy(f"pure exploration {name}", begin, done, choose, observe, pull, lean=True)
    for name, begin, choose in (
        ("TrackAndStop", start, choose_track_and_stop),
        ("FrankWolfe", start_fws, choose_fws),
        ("TopTwo", start, choose_top_two),
        ("Game", start, choose_game),
        ("DTrackAndStop", start, choose_d_tracking),
        ("HalfTopTwo", start, choose_half_top_two),
        ("LearnersGame", start_learners, choose_learners),
    )
}
