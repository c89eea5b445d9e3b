"""The build profiles: how the modules are compiled."""

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from pyorch.base.errors import refusal

# Every node of a cluster must compute the same numbers: no instructions of one machine only
# (-march=native), and no fusing of a multiplication with an addition, which rounds once instead of
# twice.
_SAME_EVERYWHERE = "-ffp-contract=off"

#: Compiler flags of each profile. ns-3's own definitions are those of the wheel in all of them (see
#: wheel.py).
PROFILES: Mapping[str, str] = MappingProxyType(
    {
        # no-semantic-interposition: calls within one library may be inlined, because its functions
        # are never replaced
        "release": f"-O3 -fno-semantic-interposition {_SAME_EVERYWHERE}",
        "debug": f"-Og -g3 -D_GLIBCXX_ASSERTIONS {_SAME_EVERYWHERE}",
        "sanitize": (
            "-O1 -g1 -D_GLIBCXX_ASSERTIONS -fno-omit-frame-pointer"
            " -fsanitize=address,undefined,float-cast-overflow"
            # these would double the code for little: most of what they find, AddressSanitizer
            # finds as well, or is no fault on x86 and arm64, or is a cast, which are rare here
            " -fno-sanitize=null,object-size,alignment,vptr"
            f" -fno-sanitize-recover=all {_SAME_EVERYWHERE}"
        ),
        # races between the threads of a run; with address, it cannot be
        "races": f"-O1 -g1 -fno-omit-frame-pointer -fsanitize=thread {_SAME_EVERYWHERE}",
    }
)

#: Flags added for tests, which give no results: with NS_TEST_... in every other line they take
#: longer to compile than to run.
TEST_FLAGS: Mapping[str, str] = MappingProxyType({"release": "-O1", "sanitize": "-O0"})


def flags_of(profile: str) -> str:
    """Return the compiler flags of a profile. Raises UserError if there is no such profile."""
    if profile not in PROFILES:
        near = difflib.get_close_matches(profile, PROFILES, n=1)
        raise refusal(
            "profile",
            f"there is no build profile '{profile}'",
            ", ".join(PROFILES),
            f"did you mean '{near[0]}'?" if near else None,
        )
    return PROFILES[profile]
