/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DEADLOCK_MONITOR_H
#define DEADLOCK_MONITOR_H

#include "ns3/deadlock-oracle.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric.h"
#include "ns3/nstime.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace deadlock
{

/**
 * @ingroup deadlock
 * @brief Judges the deadlocks of a fabric: owns its oracle, checks for deadlocks periodically,
 * stops the run at a deadlock if requested, and reports the deadlocks as text and numbers.
 */
class DeadlockMonitor : public lossless::FabricObserver
{
  public:
    /// Judge a fabric; the monitor must then be added to it.
    /// @param fabric the fabric; not yet built.
    explicit DeadlockMonitor(const lossless::Fabric& fabric);

    /// The monitor of a fabric. Throws std::logic_error if it has none.
    /// @param fabric the fabric. @return its monitor.
    static DeadlockMonitor& Of(const lossless::Fabric& fabric);

    /// Check for deadlocks periodically, and at the end in any case. The time of formation is exact
    /// whatever the period. Precondition: not built.
    /// @param period between two checks; 0: only at the end.
    /// @param stop whether to stop the simulator when a deadlock is seen.
    void SetTest(Time period, bool stop);
    /// Judge no deadlocks: no oracle observes the fabric, and the summary has nothing about
    /// deadlocks. Precondition: not built.
    void SwitchOff();

    /// Are deadlocks judged? @return false after SwitchOff.
    bool IsOn() const
    {
        return !m_off;
    }

    /// It is known that no deadlock can form: observe nothing from now on. Precondition: built.
    void Rest();
    /// Visit its periodic check, which does nothing once it rests. @param visitor visitor.
    void VisitTest(lossless::StateVisitor& visitor) const;
    /// @return number of periodic checks so far.
    uint64_t GetTests() const;
    /// Throw std::logic_error if it is switched off.
    void RequireOracle() const;
    /// The oracle. Precondition: built and not switched off. @return the oracle.
    DeadlockOracle& GetOracle() const;
    /// Was a deadlock seen, and should the simulator stop for it? Precondition: built.
    /// @return true if both.
    bool IsStopped() const;
    /// The deadlocks of the run, and queues that waited for hosts that pause forever. Precondition:
    /// built. @return one line each: when, which queues wait for each other, and how it came about;
    /// preceded by a line if some could not be judged (Port::IsUnjudged). "" when switched off.
    std::string Describe() const;

    void NotifyBuilt() override;
    void NotifyFinish() override;
    void Report(lossless::Summary& summary) const override;

  private:
    void Test();
    const DeadlockOracle::Episode* FirstEpisode(DeadlockOracle::Kind kind) const;
    std::vector<const lossless::Port*> FindUnjudged() const;
    std::string DescribeEpisode(const DeadlockOracle::Episode& episode) const;

    const lossless::Fabric& m_fabric;         //!< judged
    std::unique_ptr<DeadlockOracle> m_oracle; //!< created when the fabric is built; null: off
    lossless::ReusableEvent<DeadlockMonitor> m_test; //!< Test
    int64_t m_period{0};                             //!< between two checks (ps); 0: none
    uint64_t m_tests{0};                             //!< checks so far
    bool m_stop{false};                              //!< stop when one is seen
    bool m_off{false};                               //!< deadlocks are not judged
};

} // namespace deadlock
} // namespace ns3

#endif /* DEADLOCK_MONITOR_H */
