/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_OCCURRENCE_H
#define EVENTLOOP_OCCURRENCE_H

/**
 * @defgroup eventloop Event loop
 *
 * A SimulatorImpl for simulations of many small events: the same order and the same results as
 * ns3::DefaultSimulatorImpl, at a fraction of its cost.
 */

namespace ns3
{
namespace eventloop
{

/**
 * @ingroup eventloop
 * @brief Something that happens again and again, scheduled without allocation.
 *
 * The event loop holds a pointer to it, nothing else: it must outlive its last occurrence.
 */
class Occurrence
{
  public:
    /// What to do when the time has come.
    using Function = void (*)(Occurrence*);

    /// Make it.
    /// @param function what to do.
    explicit Occurrence(Function function)
        : m_function(function)
    {
    }

    Occurrence(const Occurrence&) = delete;
    Occurrence& operator=(const Occurrence&) = delete;

    /// Do it.
    void Happen()
    {
        m_function(this);
    }

    /// Memory that it will touch, to be fetched before its time. @return address, or nullptr.
    const void* GetSubject() const
    {
        return m_subject;
    }

  protected:
    /// Say what it will touch; only speed depends on it.
    /// @param subject address, or nullptr.
    void SetSubject(const void* subject)
    {
        m_subject = subject;
    }

  private:
    Function m_function;            //!< what to do
    const void* m_subject{nullptr}; //!< memory that it will touch
};

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_OCCURRENCE_H */
