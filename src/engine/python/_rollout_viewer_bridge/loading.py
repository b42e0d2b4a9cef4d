"""Finds and makes objects of a user's classes."""
import importlib
import importlib.util
import inspect
import os
import sys
import types

from .errors import frames_of, text_of
from .process import survive_fork


class CannotLoad(Exception):
    pass


def load_failure(error, what):
    if isinstance(error, SyntaxError) and error.filename:
        return CannotLoad(f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}")
    frames = frames_of(error)
    place = f"{frames[-1][0]}:{frames[-1][1]}: " if frames else f"{what}: "
    if isinstance(error, SystemExit):
        return CannotLoad(f"{place}the module ends the process while it is imported (SystemExit: {error.code})")
    said = text_of(error)
    return CannotLoad(f"{place}{type(error).__name__}{f': {said}' if said else ''}")


def use_paths(first, last):
    for path in reversed(first):
        if path not in sys.path:
            sys.path.insert(0, path)
    for path in last:
        if path not in sys.path:
            sys.path.append(path)


def pass_on(paths):
    """Interpreters that the user's code starts look there first, too: Ray's workers know this process by its environment alone."""
    known = os.environ.get("PYTHONPATH")
    if paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *([known] if known else [])])


FILES = {}


def import_file(path):
    """A file named by its path, once; its folder and the one above are where its own imports are found."""
    path = os.path.abspath(path)
    if path in FILES:
        return FILES[path]
    if not os.path.isfile(path):
        raise CannotLoad(f"{path}: no such file")
    folder = os.path.dirname(path)
    use_paths([folder], [os.path.dirname(folder)])
    name = os.path.splitext(os.path.basename(path))[0]
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) and os.path.abspath(module.__file__) == path and module.__name__ != "__main__":
            return module
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    # dataclasses and pickle look up a class's module by name.
    sys.modules.setdefault(name, module)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        if sys.modules.get(name) is module:
            del sys.modules[name]
        raise load_failure(error, path) from error
    FILES[path] = module
    return module


def import_name(dotted):
    """`package.module.Class`, as verl imports it."""
    module_name, _, attribute = dotted.rpartition(".")
    if not module_name:
        raise CannotLoad(f"{dotted}: expected module.Class")
    try:
        module = importlib.import_module(module_name)
    except BaseException as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name and (module_name + ".").startswith(error.name + ".")
        if missing:
            places = ", ".join(path or "." for path in sys.path[:4])
            raise CannotLoad(f"no module named {error.name!r}; looked in {places} and the packages of {sys.executable}") from error
        raise load_failure(error, module_name) from error
    return module, attribute


def find(target):
    """{"name": "package.module.Class"} or {"file": path, "attribute": name}."""
    if "file" in target:
        module, attribute = import_file(target["file"]), target["attribute"]
    else:
        module, attribute = import_name(target["name"])
    survive_fork()
    found = getattr(module, attribute, None)
    if found is None:
        names = [name for name, value in vars(module).items() if not name.startswith("_") and callable(value)]
        known = ", ".join(names[:20]) or "nothing"
        raise CannotLoad(f"{getattr(module, '__file__', module.__name__)}: has no {attribute!r}; it defines {known}")
    return found


def built(kind, offers, what):
    """Makes an object of a class whose parameters are filled by their names; what has a default and is not offered is left out."""
    try:
        signature = inspect.signature(kind)
    except (TypeError, ValueError):
        return kind()
    args, kwargs = [], {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if name in offers:
            value = offers[name]
            value = value(parameter) if isinstance(value, types.LambdaType) else value
        elif parameter.default is not parameter.empty:
            continue
        else:
            known = ", ".join(sorted(offers))
            raise CannotLoad(f"{place_of_class(kind)}: {what} has no value for the parameter {name!r} of {kind.__name__}; known: {known}")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            args.append(value)
        else:
            kwargs[name] = value
    return kind(*args, **kwargs)


def place_of_class(kind):
    try:
        return f"{inspect.getsourcefile(kind)}:{inspect.getsourcelines(kind)[1]}"
    except Exception:
        return kind.__name__
