"""Trace sources from Python: connect(PORT, "PauseSent", FUNCTION) with a plain function.

For notebooks and programs that loaded ns-3 by `pyorch.run.ns3.load_all`. A call into Python takes
microseconds, so sources that fire for every frame are better recorded in a table of
Simulation.Trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyorch.base.errors import one_of, refusal, suggest

#: Small integers and enumerators of C++ become int, bool stays; all else is as cppyy has it.
_GLUE = r"""
#include "ns3/callback.h"
#include "ns3/object-base.h"
#include <functional>
#include <string>
#include <type_traits>
namespace pyorch_trace {
template <class T>
using Bare = std::remove_cv_t<std::remove_reference_t<T>>;
template <class T>
inline constexpr bool IS_NUMBER =
    (std::is_integral_v<Bare<T>> && !std::is_same_v<Bare<T>, bool>) || std::is_enum_v<Bare<T>>;
template <class T>
using Plain = std::conditional_t<IS_NUMBER<T>, long long, T>;
template <class T>
struct Source;
template <class... A>
struct Source<void (*)(A...)>
{
    using Function = std::function<void(Plain<A>...)>;
    static bool Connect(ns3::ObjectBase& object, const std::string& name, Function function)
    {
        const std::function<void(A...)> call = [function](A... arguments) {
            function(static_cast<Plain<A>>(arguments)...);
        };
        return object.TraceConnectWithoutContext(name, ns3::Callback<void, A...>(call));
    }
};
template <class T>
bool Connect(ns3::ObjectBase& object,
             const std::string& name,
             typename Source<T>::Function function)
{
    return Source<T>::Connect(object, name, function);
}
}
"""
#: C++ holds no reference to what it calls.
_kept: list[Callable[..., None]] = []


def connect(source: Any, name: str, function: Callable[..., None], *, context: bool = False) -> int:
    """Call a function whenever a trace source fires; return the number of objects connected.

    source: an object, or an ns3::Config path of objects, such as "/NodeList/*/DeviceList/0". name:
    of the trace source. function: called with the source's arguments: numbers, classes and
    enumerators as int, truth as bool, names as str, objects as C++ objects, which may be invalid
    after the call. context: pass the path of the object first. An exception of the function ends
    the run and is re-raised. Raises UserError if there is no such source.
    """
    import cppyy

    if not hasattr(cppyy.gbl, "pyorch_trace"):
        cppyy.cppdef(_GLUE)
    found = list(_objects(source))
    for path, item in found:
        _connect(item, path, name, function, context)
    if not found:
        raise refusal(str(source), "no object has this path", hint="build the network first")
    return len(found)


def _objects(source: Any) -> Iterator[tuple[str, Any]]:
    """Return the objects that are meant, with their paths."""
    import cppyy

    if not isinstance(source, str):
        yield "", source
        return
    matches = cppyy.gbl.ns3.Config.LookupMatches(source)
    for index in range(matches.GetN()):
        yield str(matches.GetMatchedPath(index)), matches.Get(index)


def _connect(item: Any, path: str, name: str, function: Callable[..., None], context: bool) -> None:
    import cppyy

    text = cppyy.gbl.std.string

    def call(*arguments: Any) -> None:
        plain = [str(one) if isinstance(one, text) else one for one in arguments]
        function(*([path] if context else []), *plain)

    glue = cppyy.gbl.pyorch_trace.Connect[_signature(item, path, name)]
    if glue(item, name, call):
        _kept.append(call)


def _signature(item: Any, path: str, name: str) -> str:
    """Return the C++ type of a function that takes what a source gives."""
    import cppyy

    type_id = item.GetInstanceTypeId()
    found = cppyy.gbl.ns3.TypeId.TraceSourceInformation()
    if type_id.LookupTraceSourceByName(name, found):
        return str(found.callback)
    names = []
    while True:
        names += [
            str(type_id.GetTraceSource(index).name) for index in range(type_id.GetTraceSourceN())
        ]
        if not type_id.HasParent() or type_id.GetParent() == type_id:
            break
        type_id = type_id.GetParent()
    where = path or str(item.GetInstanceTypeId().GetName())
    what = f"there is no trace source {name!r}"
    raise refusal(where, what, one_of(sorted(names)), suggest(name, names))
