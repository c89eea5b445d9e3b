# What ns-3's own build gives to a module's CMakeLists.txt: build_lib and build_lib_example, with the keywords of
# ns-3.44 to 3.48. Keywords that only matter inside an ns-3 tree are accepted and have no effect.

# Make `path` an ns-3 header: a stub, because a copy would be stale and name the wrong file in error messages.
function(publish_header path)
  get_filename_component(absolute ${path} ABSOLUTE)
  get_filename_component(name ${path} NAME)
  write_header(${name} "#include \"${absolute}\"\n")
endfunction()

# Write a header into include/ns3, leaving it untouched if it is already right.
function(write_header name text)
  set_property(GLOBAL APPEND PROPERTY pyorch_headers ${name})
  set(file ${CMAKE_HEADER_OUTPUT_DIRECTORY}/${name})
  set(old "")
  if(EXISTS ${file})
    file(READ ${file} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${file} "${text}")
  endif()
endfunction()

# A source that nobody listed is a class that silently does not exist: refuse it.
function(refuse_unlisted folders listed)
  set(absolutes)
  foreach(file ${listed})
    get_filename_component(absolute ${file} ABSOLUTE)
    list(APPEND absolutes ${absolute})
  endforeach()
  set(patterns)
  foreach(folder ${folders})
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.h)
  endforeach()
  file(GLOB_RECURSE present CONFIGURE_DEPENDS ${patterns})
  foreach(file ${present})
    # A header beside the tests is theirs alone: ns-3's build_lib has no list for it.
    if(NOT file IN_LIST absolutes AND NOT file MATCHES "/test/[^/]*[.]h$")
      file(RELATIVE_PATH shown ${CMAKE_CURRENT_SOURCE_DIR} ${file})
      list(APPEND unlisted ${shown})
    endif()
  endforeach()
  if(unlisted)
    list(JOIN unlisted " " unlisted)
    message(FATAL_ERROR "not listed in ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt: ${unlisted}")
  endif()
endfunction()

function(build_lib)
  cmake_parse_arguments(
    BLIB
    "IGNORE_PCH;GENERATE_EXPORT_HEADER"
    "LIBNAME"
    "SOURCE_FILES;HEADER_FILES;LIBRARIES_TO_LINK;TEST_SOURCES;TEST_LIBRARIES_TO_LINK;DEPRECATED_HEADER_FILES;MODULE_ENABLED_FEATURES;PRIVATE_HEADER_FILES"
    ${ARGN}
  )
  if(BLIB_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "build_lib(LIBNAME ${BLIB_LIBNAME}): unknown arguments ${BLIB_UNPARSED_ARGUMENTS}")
  endif()
  set(headers ${BLIB_HEADER_FILES} ${BLIB_DEPRECATED_HEADER_FILES} ${BLIB_PRIVATE_HEADER_FILES})
  refuse_unlisted("model;helper;test" "${BLIB_SOURCE_FILES};${headers};${BLIB_TEST_SOURCES}")

  add_library(${BLIB_LIBNAME} SHARED ${BLIB_SOURCE_FILES})
  add_library(ns3::${BLIB_LIBNAME} ALIAS ${BLIB_LIBNAME})
  set_target_properties(${BLIB_LIBNAME} PROPERTIES OUTPUT_NAME ns${NS3_VER}-${BLIB_LIBNAME})
  target_link_libraries(${BLIB_LIBNAME} PUBLIC ${BLIB_LIBRARIES_TO_LINK})
  target_include_directories(${BLIB_LIBNAME} PUBLIC ${CMAKE_BINARY_DIR}/include)
  use_precompiled(${BLIB_LIBNAME} precompiled)
  unite(${BLIB_LIBNAME} 30000 "${BLIB_SOURCE_FILES}")

  set(umbrella "#pragma once\n")
  foreach(header ${headers})
    publish_header(${header})
  endforeach()
  foreach(header ${BLIB_HEADER_FILES})
    get_filename_component(name ${header} NAME)
    string(APPEND umbrella "#include \"ns3/${name}\"\n")
  endforeach()
  write_header(${BLIB_LIBNAME}-module.h "${umbrella}")

  set_property(GLOBAL APPEND PROPERTY pyorch_modules ${BLIB_LIBNAME})
  set_property(GLOBAL PROPERTY pyorch_links_${BLIB_LIBNAME} "${BLIB_LIBRARIES_TO_LINK}")
  build_tests(${BLIB_LIBNAME} "${BLIB_TEST_SOURCES}" "${BLIB_TEST_LIBRARIES_TO_LINK}")
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/examples/CMakeLists.txt)
    add_subdirectory(examples)
  endif()
endfunction()

# The tests of all modules end up in one program, test-runner.
function(build_tests module sources libraries)
  if(NOT sources)
    return()
  endif()
  add_library(${module}-test OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${module}-test PRIVATE ${module} ${libraries})
  target_compile_definitions(${module}-test PRIVATE NS_TEST_SOURCEDIR="${CMAKE_CURRENT_SOURCE_DIR}/test")
  # In an ns-3 tree ns-3's headers are no system headers, so that the macros of ns3/test.h warn: here, too. What those
  # headers themselves would be warned of is not ours.
  set_target_properties(${module}-test PROPERTIES NO_SYSTEM_FROM_IMPORTED ON)
  target_compile_options(${module}-test PRIVATE -Wno-unused-parameter ${PYORCH_TEST_FLAGS})
  use_precompiled(${module}-test precompiled-test precompiled)
  unite(${module}-test 60000 "${sources}")
  # and those of one module alone, for who works on it, in a program of their own
  add_executable(test-runner-${module} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/test-runner.cc)
  target_link_libraries(test-runner-${module} PRIVATE ${module}-test ${module} ${libraries} ns3::core)
  set_property(GLOBAL APPEND PROPERTY pyorch_tests ${module}-test)
  set_property(GLOBAL APPEND PROPERTY pyorch_test_libraries ${module} ${libraries})
endfunction()

function(build_lib_example)
  cmake_parse_arguments(
    EXAMPLE "IGNORE_PCH" "NAME;LIBNAME" "SOURCE_FILES;HEADER_FILES;LIBRARIES_TO_LINK" ${ARGN}
  )
  add_executable(${EXAMPLE_NAME} EXCLUDE_FROM_ALL ${EXAMPLE_SOURCE_FILES})
  target_link_libraries(${EXAMPLE_NAME} PRIVATE ${EXAMPLE_LIBNAME} ${EXAMPLE_LIBRARIES_TO_LINK})
  set_property(GLOBAL APPEND PROPERTY pyorch_examples ${EXAMPLE_NAME})
endfunction()

# Make a target of the headers that most files include, for use_precompiled.
function(add_precompiled name flags)
  add_library(${name} OBJECT precompiled.cc)
  target_link_libraries(${name} PRIVATE ns3::network)
  target_compile_options(${name} PRIVATE ${flags})
  target_precompile_headers(
    ${name} PRIVATE <algorithm> <functional> <map> <memory> <string> <vector> <ns3/log.h> <ns3/object.h>
    <ns3/simulator.h> <ns3/nstime.h> <ns3/string.h> <ns3/uinteger.h> <ns3/data-rate.h>
  )
endfunction()

# Give a target the first of these precompiled headers that there is, if there is any.
function(use_precompiled target)
  foreach(headers ${ARGN})
    if(TARGET ${headers})
      target_precompile_headers(${target} REUSE_FROM ${headers})
      return()
    endif()
  endforeach()
endfunction()

# Compile files of a target together, in the order of its list, up to so many bytes at a time: what they share is parsed
# and generated once, and an edit of one compiles no more than these again. A module of $PYORCH_MODULE_PATH may have names
# that do not go together.
function(unite target most sources)
  if(PYORCH_BASE OR NOT TARGET precompiled)
    return()
  endif()
  set(group 0)
  set(together 0)
  foreach(file ${sources})
    file(SIZE ${CMAKE_CURRENT_SOURCE_DIR}/${file} bytes)
    math(EXPR together "${together} + ${bytes}")
    if(together GREATER most)
      math(EXPR group "${group} + 1")
      set(together ${bytes})
    endif()
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  # Every file with a log has a g_log of its own, in one namespace.
  string(
    CONCAT own_log "#undef g_log\n#define PYORCH_JOINED(a, b) a##b\n#define PYORCH_JOIN(a, b) PYORCH_JOINED(a, b)\n"
           "#define g_log PYORCH_JOIN(PYORCH_FILE, g_log)"
  )
  set_target_properties(
    ${target}
    PROPERTIES UNITY_BUILD ON
               UNITY_BUILD_MODE GROUP
               UNITY_BUILD_UNIQUE_ID PYORCH_FILE
               UNITY_BUILD_CODE_BEFORE_INCLUDE "${own_log}"
  )
  # Types of unnamed namespaces look as if they came from a header, where they would be a mistake.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()

# Call after the last module: the targets that span all of them, and what Python needs to know.
function(finish_modules)
  get_property(modules GLOBAL PROPERTY pyorch_modules)
  get_property(tests GLOBAL PROPERTY pyorch_tests)
  get_property(test_libraries GLOBAL PROPERTY pyorch_test_libraries)
  get_property(examples GLOBAL PROPERTY pyorch_examples)
  list(REMOVE_DUPLICATES test_libraries)

  add_custom_target(modules DEPENDS ${modules})
  add_executable(test-runner EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/test-runner.cc)
  target_link_libraries(test-runner PRIVATE ${tests} ${test_libraries} ns3::core)
  add_custom_target(tests DEPENDS modules test-runner ${examples})

  remove_stale_headers()
  set(lines "")
  foreach(module ${modules})
    get_property(links GLOBAL PROPERTY pyorch_links_${module})
    string(REPLACE "ns3::" "" links "${links}")
    list(JOIN links " " links)
    string(APPEND lines "${module} libns${NS3_VER}-${module}.so ${links}\n")
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/modules.txt "${lines}")
  list(JOIN examples "\n" lines)
  file(WRITE ${CMAKE_BINARY_DIR}/examples.txt "${lines}")
endfunction()

# A header that a module no longer has must not be found any more.
function(remove_stale_headers)
  get_property(headers GLOBAL PROPERTY pyorch_headers)
  file(GLOB present RELATIVE ${CMAKE_HEADER_OUTPUT_DIRECTORY} ${CMAKE_HEADER_OUTPUT_DIRECTORY}/*)
  foreach(header ${present})
    if(NOT header IN_LIST headers)
      file(REMOVE ${CMAKE_HEADER_OUTPUT_DIRECTORY}/${header})
    endif()
  endforeach()
endfunction()
