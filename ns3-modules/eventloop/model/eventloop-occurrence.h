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
 * @brief A recurring event that is scheduled without allocation.
 *
 * The event loop holds only a pointer to it: it must outlive its last occurrence.
 */
class Occurrence
{
  public:
    /// The function to call at its time.
    using Function = void (*)(Occurrence*);

    /// Constructor.
    /// @param function function to call.
    explicit Occurrence(Function function)
        : m_function(function)
    {
    }

    Occurrence(const Occurrence&) = delete;
    Occurrence& operator=(const Occurrence&) = delete;

    /// Call the function.
    void Happen()
    {
        m_function(this);
    }

    /// Memory that it will access, for prefetching. @return address, or nullptr.
    const void* GetSubject() const
    {
        return m_subject;
    }

  protected:
    /// Set the memory that it will access; affects only speed.
    /// @param subject address, or nullptr.
    void SetSubject(const void* subject)
    {
        m_subject = subject;
    }

  private:
    Function m_function;            //!< function to call
    const void* m_subject{nullptr}; //!< memory that it will access
};

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_OCCURRENCE_H */
