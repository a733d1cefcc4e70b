# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Paddock authors

# paddock_room(<top> <room> SOURCES files… [HEADERS files…] [PUBLIC libs…] [PRIVATE libs…])
# One room = one static library paddock_<top>_<room> with the alias Paddock::<top>::<room>.
# Includes are rooted at the top of the tree, so that each include line names the room it crosses into.
function(paddock_room top room)
    cmake_parse_arguments(R "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
    set(target paddock_${top}_${room})
    if(R_SOURCES)
        add_library(${target} STATIC ${R_SOURCES} ${R_HEADERS})
        target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
        target_link_libraries(${target} PUBLIC paddock_options ${R_PUBLIC} PRIVATE paddock_warnings ${R_PRIVATE})
        paddock_pch(${target} ${top})
    else()
        add_library(${target} INTERFACE)
        target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR})
        target_link_libraries(${target} INTERFACE paddock_options ${R_PUBLIC})
    endif()
    add_library(Paddock::${top}::${room} ALIAS ${target})
endfunction()

# Two shared precompiled headers, one without widgets for core and tests of core, one with widgets for ui and app.
function(paddock_pch target top)
    if(NOT PADDOCK_PCH)
        return()
    endif()
    if(top STREQUAL "core" OR target STREQUAL "paddock_ui_store") # the stores know no widgets
        target_precompile_headers(${target} REUSE_FROM paddock_pch_core)
    else()
        target_precompile_headers(${target} REUSE_FROM paddock_pch_ui)
    endif()
endfunction()

# paddock_test(<name> TOP core|ui SOURCES files… LIBS libs… [LABELS labels…] [TIMEOUT seconds])
# A Qt Test program; its name is the ctest name.
function(paddock_test name)
    cmake_parse_arguments(T "" "TOP;TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
    if(NOT T_TOP)
        set(T_TOP core)
    endif()
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 120)
    endif()
    add_executable(${name} ${T_SOURCES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE paddock_options paddock_warnings Qt6::Test ${T_LIBS})
    target_compile_definitions(${name} PRIVATE PADDOCK_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                               PADDOCK_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    paddock_pch(${name} ${T_TOP})
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}"
                                            ENVIRONMENT "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8"
                                            SKIP_RETURN_CODE 77)
endfunction()
