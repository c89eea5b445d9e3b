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
 * @brief The response of both forms of PowerTCP to the measured power.
 */
class Response
{
  public:
    /// Initialise.
    /// @param gamma weight of the new window. @param step additive increase (B).
    /// @param reference Wc (B).
    void Start(double gamma, double step, double reference);
    /// T has changed. @param factor new T over the old one.
    void Rescale(double factor);
    /// Process a measurement.
    /// @param power normalised, above 0. @param elapsed share of T that it covers, capped at 1.
    /// @return W (B), before any bounds.
    double Follow(double power, double elapsed);

    /// A round trip has ended.
    /// @param window the new reference (B).
    void SetReference(double window)
    {
        m_reference = window;
    }

    /// @return Wc (B).
    double GetReference() const
    {
        return m_reference;
    }

    /// @return the smoothed power.
    double GetPower() const
    {
        return m_power;
    }

  private:
    double m_gamma{1};     //!< weight of the new window
    double m_step{0};      //!< additive increase (B)
    double m_reference{0}; //!< Wc (B)
    double m_power{1};     //!< power, smoothed
};

} // namespace powertcp
} // namespace ns3

#endif /* POWERTCP_RESPONSE_H */
