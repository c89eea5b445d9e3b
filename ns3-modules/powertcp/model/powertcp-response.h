/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef POWERTCP_RESPONSE_H
#define POWERTCP_RESPONSE_H

namespace ns3
{
namespace powertcp
{

/**
 * @ingroup powertcp
 * @brief What both forms of PowerTCP do with the power that they measure.
 */
class Response
{
  public:
    /// Begin.
    /// @param gamma share of the new window. @param step additive increase (B).
    /// @param reference Wc (B).
    void Start(double gamma, double step, double reference);
    /// Take a measurement.
    /// @param power normalised, above 0. @param elapsed share of T that it covers; above 1 is 1.
    /// @return W (B), before any bounds.
    double Follow(double power, double elapsed);

    /// A round trip is over.
    /// @param window the reference from now on (B).
    void SetReference(double window)
    {
        m_reference = window;
    }

    /// @return Wc (B).
    double GetReference() const
    {
        return m_reference;
    }

    /// @return the power, smoothed.
    double GetPower() const
    {
        return m_power;
    }

  private:
    double m_gamma{1};     //!< share of the new window
    double m_step{0};      //!< additive increase (B)
    double m_reference{0}; //!< Wc (B)
    double m_power{1};     //!< smoothed
};

} // namespace powertcp
} // namespace ns3

#endif /* POWERTCP_RESPONSE_H */
