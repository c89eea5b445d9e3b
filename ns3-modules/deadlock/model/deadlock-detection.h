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

namespace deadlock
{

/**
 * @ingroup deadlock
 * @brief A detector considers an egress queue deadlocked: argument of the detectors' trace source
 * Detection, which fires before any action.
 */
struct Detection
{
    /// How it was detected; column "way" of the table "detection".
    enum Way : uint8_t
    {
        ON_LOOP = 0,    ///< by the initial trigger
        OFF_LOOP = 1,   ///< by the process of a switch off the loop
        AGAIN = 2,      ///< by a process that was started again, or for a pause without a message
        WATCHDOG = 3,   ///< by PfcWatchdog
        CONTROLLER = 4, ///< by DeadlockController
    };

    uint8_t cls;    //!< class
    Way way;        //!< how it was detected
    int64_t begun;  //!< start of the detection (ps)
    int64_t looped; //!< when a cycle was suspected (ps)
};

/**
 * @ingroup deadlock
 * @brief TracedCallback signature of detections.
 *
 * @param port egress that is considered deadlocked.
 * @param detection details.
 */
typedef void (*DetectionCallback)(const lossless::Port& port, const Detection& detection);

} // namespace deadlock
} // namespace ns3

#endif /* DEADLOCK_DETECTION_H */
