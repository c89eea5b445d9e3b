/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_TYPE_SETTINGS_H
#define LOSSLESS_TYPE_SETTINGS_H

#include "ns3/object-factory.h"

#include <map>
#include <string>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The attributes set for each type, with which its objects are created.
 */
class TypeSettings
{
  public:
    /// Set an attribute on all objects of a type that are created from now on; throws
    /// std::invalid_argument if this is not possible.
    /// @param type TypeId name. @param name attribute. @param value value in ns-3's spelling.
    void SetAttribute(const std::string& type, const std::string& name, const std::string& value);

    /**
     * @brief Create an object; throws std::invalid_argument if there is no such type.
     *
     * @tparam T class.
     * @param type TypeId name.
     * @return the object.
     */
    template <class T>
    Ptr<T> Make(const std::string& type)
    {
        return Factory(type).Create<T>();
    }

    /**
     * @brief Throw std::invalid_argument unless a type is a class that can be instantiated.
     *
     * @tparam T the class.
     * @param type TypeId name.
     * @param what description of the class.
     */
    template <class T>
    static void Require(const std::string& type, const char* what)
    {
        Require(type, T::GetTypeId(), what);
    }

  private:
    static void Require(const std::string& type, TypeId parent, const char* what);
    ObjectFactory& Factory(const std::string& type);

    std::map<std::string, ObjectFactory> m_factories; //!< by TypeId name
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_TYPE_SETTINGS_H */
