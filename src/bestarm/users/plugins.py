"""User strategies: of a person's file, of an installed package, or given in Python."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from bestarm import registry
from bestarm.common.names import advice, simplified
from bestarm.common.user_strategies import Compiled, UserStrategy, described
from bestarm.core.errors import InputError
from bestarm.core.inputs import short
from bestarm.users.installed import installed

#: The name in a plugin that lists its strategies.
LISTED = "STRATEGIES"
#: What a name may hold: it is printed, and part of a file's lines.
NAME = re.compile(r"[^\W_][\w .+@()-]*")


def load_file(path: Path) -> ModuleType:
    """Run a Python file as a module. Raises InputError naming the file and the line."""
    if not path.is_file():
        raise InputError(f"{path}: is not a file; a plugin is a Python file")
    name = f"bestarm_plugin_{re.sub(r'[^0-9a-zA-Z_]', '_', path.stem)}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: is not a Python file, its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.append(folder)  # for modules that lie beside it
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise InputError(f"{error.filename}: line {error.lineno}: {error.msg}") from None
    except (Exception, SystemExit) as error:
        raise InputError(f"{path}: {described(error)}") from error
    return module


def load_user_strategies(path: Path) -> list[UserStrategy]:
    """The strategies of a file: its `STRATEGIES`, by name; or every strategy that it defines.

    Raises:
        InputError: the file fails, or has none.
    """
    return module_strategies(load_file(path), str(path))


def module_strategies(module: ModuleType, source: str) -> list[UserStrategy]:
    """The strategies of a module, see `load_user_strategies`."""
    listed = getattr(module, LISTED, None)
    if listed is not None:
        if not isinstance(listed, Mapping) or not listed:
            raise InputError(f"{source}: {LISTED}: must be a mapping from names to strategies")
        return [user_strategy(make, name, source) for name, make in listed.items()]
    strategies = [
        user_strategy(make, make.strategy.name if isinstance(make, Compiled) else name, source)
        for name, make in vars(module).items()
        if is_strategy(make) and getattr(make, "__module__", "") in (module.__name__, _OURS)
    ]
    if not strategies:
        raise InputError(
            f"{source}: has no strategy: a class with ask, tell (or partial and final), done and "
            f"answer; a Compiled; or a mapping {LISTED}"
        )
    return strategies


_OURS = Compiled.__module__


def is_strategy(make: Any) -> bool:
    """Whether something is a class with the methods of a strategy, or compiled steps."""
    if isinstance(make, Compiled):
        return True
    asks = isinstance(make, type) and callable(getattr(make, "ask", None))
    return asks and any(callable(getattr(make, name, None)) for name in ("tell", "final"))


def user_strategy(make: Any, name: Any = None, source: str = "strategies") -> UserStrategy:
    """A strategy under a name: of its own, if none is given. Raises InputError."""
    named = name or getattr(make, "__name__", None)
    if isinstance(make, Compiled):
        named = name or make.strategy.name
    elif not callable(make):
        raise InputError(f"{source}: must be a name, a class or a Compiled, got {short(make)}")
    if not isinstance(named, str) or not NAME.fullmatch(named):
        raise InputError(
            f"{source}: a strategy needs a name of letters, digits and ' .+@()-_', got "
            f"{short(named)}; give a mapping from names to strategies"
        )
    return UserStrategy(named, make)


def load_installed(name: str) -> UserStrategy:
    """A strategy of an installed package. Raises InputError naming it if that fails."""
    point = installed()[name]
    try:
        make = point.load()
    except (Exception, SystemExit) as error:
        raise InputError(f"{name} ({point.value}): {described(error)}") from error
    return user_strategy(make, name, point.value)


def name_of_ours(kind: Any, paper: str) -> str | None:
    """The name in tables of an ask/tell class of this package; None for others.

    Raises:
        InputError: it is of another paper.
    """
    public = {
        getattr(module, name): (other, name)
        for other in registry.PAPERS
        if f"bestarm.{other}" in sys.modules or other == paper
        for module in [import_module(f"bestarm.{other}")]
        for name in module.__all__
    }
    if not inspect.isclass(kind) or kind not in public:
        return None
    of, name = public[kind]
    if of != paper:
        raise InputError(f"strategies: {name} is of {of}, and the instance of {paper}")
    return getattr(kind, "_name", None) or getattr(kind, "_strategy", None) or name


def strategy_named(paper: str, name: str, names: Collection[str], source: str) -> str:
    """The name in tables of a strategy, from that name in any case and without its hyphens, or from
    the name of its class.

    Args:
        paper: a paper.
        name: as a person writes it.
        names: names in tables, which may have strategies of the user among them.
        source: of the name, for messages.

    Raises:
        InputError: there is no such strategy.

    Example:
        >>> strategy_named("baics", "TaSCS", registry.PAPERS["baics"].simulation.readings, "x")
        'T-a-SCS'
    """
    if name in names:
        return name
    same = [candidate for candidate in names if simplified(candidate) == simplified(name)]
    if len(same) == 1:
        return same[0]
    module = import_module(f"bestarm.{paper}")
    for candidate in module.__all__:
        label = name_of_ours(getattr(module, candidate), paper)
        if label is not None and label in names and simplified(candidate) == simplified(name):
            return label
    allowed = ", ".join(dict.fromkeys([*names, *installed()]))
    near = advice(name, [*names, *installed()], "")
    raise InputError(f"{source}: must be one of {allowed}, got {name}{near and '; ' + near}")


def distinct(paper: str, strategies: Iterable[UserStrategy]) -> dict[str, UserStrategy]:
    """Strategies by name.

    Raises:
        InputError: two have the same name, one has a paper's, or the paper cannot be played.
    """
    by_name: dict[str, UserStrategy] = {}
    for strategy in strategies:
        if importlib.util.find_spec(f"bestarm.{paper}.user_strategies") is None:
            raise InputError(f"{strategy.name}: {paper} takes strategies of the package only")
        if strategy.name in by_name:
            raise InputError(f"{strategy.name}: two strategies have this name")
        if strategy.name in registry.PAPERS[paper].simulation.readings:
            raise InputError(
                f"{strategy.name}: is the name of a strategy of {paper}; choose another"
            )
        by_name[strategy.name] = strategy
    return by_name
