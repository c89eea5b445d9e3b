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
namespace lossless
{

/**
 * @ingroup deadlock
 * @brief Judges the deadlocks of a fabric: gives it its oracle, looks now and then, stops the run
 * if it is to, and says in words and numbers what there was.
 */
class DeadlockMonitor : public FabricObserver
{
  public:
    /// Judge a fabric, to which it is then added.
    /// @param fabric it; not yet built.
    explicit DeadlockMonitor(const Fabric& fabric);

    /// The monitor of a fabric. Throws std::logic_error where there is none.
    /// @param fabric it. @return its monitor.
    static DeadlockMonitor& Of(const Fabric& fabric);

    /// See a deadlock now and then, and at the end in any case. Since when there is one is known
    /// whatever the period. Precondition: not built.
    /// @param period between two looks; 0: only at the end.
    /// @param stop true: stop the simulator when one is seen.
    void SetTest(Time period, bool stop);
    /// Judge nothing: no oracle is told of any event, and the summary says nothing of deadlocks.
    /// Precondition: not built.
    void SwitchOff();
    /// Throw std::logic_error if it is switched off.
    void RequireOracle() const;
    /// Who knows of deadlocks. Precondition: built and not switched off. @return the oracle.
    DeadlockOracle& GetOracle() const;
    /// Was a deadlock seen, and is the simulator to stop for it? Precondition: built.
    /// @return true if both.
    bool IsStopped() const;
    /// The deadlocks there were, and queues that waited for hosts without an end. Precondition:
    /// built.
    /// @return a line each: when, which queues wait for each other, and how it came about; before
    /// them a line if some could not be judged (Port::IsUnjudged). "" when switched off.
    std::string Describe() const;

    void NotifyBuilt() override;
    void NotifyFinish() override;
    void Report(Summary& summary) const override;

  private:
    void Test();
    const DeadlockOracle::Episode* FirstEpisode(DeadlockOracle::Kind kind) const;
    std::vector<const Port*> FindUnjudged() const;
    std::string DescribeEpisode(const DeadlockOracle::Episode& episode) const;

    const Fabric& m_fabric;                   //!< judged
    std::unique_ptr<DeadlockOracle> m_oracle; //!< made when the fabric is built; null: off
    ReusableEvent<DeadlockMonitor> m_test;    //!< Test
    int64_t m_period{0};                      //!< between two looks (ps); 0: none
    bool m_stop{false};                       //!< stop when one is seen
    bool m_off{false};                        //!< nothing is judged
};

} // namespace lossless
} // namespace ns3

#endif /* DEADLOCK_MONITOR_H */
