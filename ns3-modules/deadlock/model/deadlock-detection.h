/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DEADLOCK_DETECTION_H
#define DEADLOCK_DETECTION_H

#include <cstdint>

namespace ns3
{

namespace lossless
{
class Port;
}

namespace dcfit
{

/**
 * @ingroup deadlock
 * @brief A detector takes an egress queue for deadlocked: what the trace source Detection of
 * detectors says, before anything is done about it.
 */
struct Detection
{
    /// How it was found; column "way" of the table "detection".
    enum Way : uint8_t
    {
        ON_LOOP = 0,    ///< by the initial trigger itself
        OFF_LOOP = 1,   ///< by the process of a middle switch
        AGAIN = 2,      ///< by a process begun anew, or for want of a message
        WATCHDOG = 3,   ///< by PfcWatchdog
        CONTROLLER = 4, ///< by DeadlockController
    };

    uint8_t cls;    //!< class
    Way way;        //!< how
    int64_t begun;  //!< when the finding began (ps)
    int64_t looped; //!< when a cycle was suspected (ps)
};

/**
 * @ingroup deadlock
 * @brief TracedCallback signature of detections.
 *
 * @param port egress that is taken for deadlocked.
 * @param detection what is said of it.
 */
typedef void (*DetectionCallback)(const lossless::Port& port, const Detection& detection);

} // namespace dcfit
} // namespace ns3

#endif /* DEADLOCK_DETECTION_H */
