/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-type-settings.h"

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-refusal.h"
#include "ns3/string.h"

namespace ns3
{
namespace lossless
{

void
TypeSettings::Require(const std::string& type, TypeId parent, const char* what)
{
    TypeId tid;
    const bool known = TypeId::LookupByNameFailSafe(type, &tid);
    if (!known || !tid.IsChildOf(parent) || !tid.HasConstructor())
    {
        std::string all;
        for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
        {
            const TypeId one = TypeId::GetRegistered(i);
            if (one.IsChildOf(parent) && one.HasConstructor())
            {
                all += (all.empty() ? "" : ", ") + one.GetName();
            }
        }
        Refuse("'",
               type,
               "' is not ",
               what,
               known ? "" : ", nor any loaded type",
               "; there are ",
               all);
    }
}

ObjectFactory&
TypeSettings::Factory(const std::string& type)
{
    auto found = m_factories.find(type);
    if (found == m_factories.end())
    {
        TypeId tid;
        if (!TypeId::LookupByNameFailSafe(type, &tid))
        {
            Refuse("there is no type '",
                   type,
                   "'; is the module that defines it built and loaded?");
        }
        ObjectFactory factory;
        factory.SetTypeId(tid);
        found = m_factories.emplace(tid.GetName(), factory).first; // `type` may be an old name
    }
    return found->second;
}

void
TypeSettings::SetAttribute(const std::string& type,
                           const std::string& name,
                           const std::string& value)
{
    const std::string problem = CheckAttribute(type, name, value);
    if (!problem.empty())
    {
        Refuse(problem);
    }
    Factory(type).Set(name, StringValue(value));
}

} // namespace lossless
} // namespace ns3
