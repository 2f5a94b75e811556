# Takes the first ```cpp block out of README.md, so that what readers copy is what is compiled and run. A README
# without such a block makes a program that doesn't compile, so that the test fails and says why.
set(readme ${PROJECT_SOURCE_DIR}/README.md)
set(example ${CMAKE_CURRENT_BINARY_DIR}/readme_example.cpp)
set(program "#error \"README.md has no block that begins with ```cpp and ends with ```\"\n")
if(EXISTS ${readme})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${readme})
  file(READ ${readme} text)
  string(FIND "${text}" "\n```cpp\n" begin)
  if(NOT begin EQUAL -1)
    math(EXPR begin "${begin} + 8")
    string(SUBSTRING "${text}" ${begin} -1 text)
    string(FIND "${text}" "\n```" end)
    if(NOT end EQUAL -1)
      string(SUBSTRING "${text}" 0 ${end} program)
      string(APPEND program "\n")
    endif()
  endif()
endif()
set(before "")
if(EXISTS ${example})
  file(READ ${example} before)
endif()
if(NOT before STREQUAL program)
  file(WRITE ${example} "${program}")
endif()

# Only the library, as a reader would link it; built by the test itself, so that a faulty README fails one test and
# not the whole build.
add_executable(readme_example EXCLUDE_FROM_ALL ${example})
target_link_libraries(readme_example PRIVATE crossbill::crossbill)
add_test(NAME readme_example_compiles
  COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target readme_example)
set_tests_properties(readme_example_compiles PROPERTIES FIXTURES_SETUP readme_example RUN_SERIAL ON)
add_test(NAME readme_example_runs COMMAND readme_example WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(readme_example_runs PROPERTIES FIXTURES_REQUIRED readme_example)

# The same against the shared library: all that the example uses must be exported, since the rest is hidden.
if(CROSSBILL_SHARED)
  add_executable(readme_example_shared EXCLUDE_FROM_ALL ${example})
  target_link_libraries(readme_example_shared PRIVATE crossbill::shared)
  add_test(NAME readme_example_shared_compiles
    COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target readme_example_shared)
  set_tests_properties(readme_example_shared_compiles PROPERTIES
    FIXTURES_SETUP readme_example_shared RUN_SERIAL ON)
  add_test(NAME readme_example_shared_runs COMMAND readme_example_shared WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(readme_example_shared_runs PROPERTIES FIXTURES_REQUIRED readme_example_shared)
endif()
