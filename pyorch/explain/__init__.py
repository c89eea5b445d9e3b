"""Why a run deadlocked, or which host its queues wait for: `invoke explain`.

Installed packages may bring cures to try, changes of the run that may keep it from deadlocking: an
entry point of the group "pyorch.cures" is a function (spec, types, paths) -> [Cure].
"""
