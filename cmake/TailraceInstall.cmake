# SPDX-License-Identifier: Apache-2.0
# The installed tree: programs, libraries, headers, the CMake package with components, pkg-config
# files, a module file and the `tailrace` command. A consumer's view is tested in tests/install.
#
#   component   CMake target        pkg-config          what it needs
#   plugin      tailrace::plugin    tailrace-plugin     nothing (fill_plugin.h)
#   intent      tailrace::intent    tailrace-intent     nothing (intent.h, intent.hpp)
#   core        tailrace::core      tailrace-core       nlohmann_json, xxHash
#   comm        tailrace::comm      tailrace-comm       core, MPI
#   formats     tailrace::formats   tailrace-formats    comm, HDF5, netCDF-C, PnetCDF
#   kernels     tailrace::kernels   tailrace-kernels    formats (src/runner is in it)
#   server      tailrace::server    tailrace-server     MPI (server.h, server.hpp)
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(TAILRACE_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/tailrace)
set(tailrace_include ${CMAKE_INSTALL_INCLUDEDIR})

# Public headers: the C ABI as <tailrace/...>, the C++ rooms as "core/box.hpp" below tailrace/.
function(tailrace_install_headers)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${tailrace_include})
  # A module is compiled by the compiler that uses it: its source is what can be installed.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/fortran/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/tailrace/fortran FILES_MATCHING
    PATTERN "*.f90" PATTERN "*.inc")
  foreach(room IN ITEMS core comm formats runner kernels)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${room} DESTINATION ${tailrace_include}/tailrace
      FILES_MATCHING PATTERN "*.hpp")
  endforeach()
endfunction()

# Static libraries get their public include folder when they are exported, not room by room.
function(tailrace_install_libraries)
  add_library(tailrace_plugin INTERFACE)
  add_library(tailrace_kernels INTERFACE)
  if(TARGET tailrace_kernels_seism)
    target_link_libraries(tailrace_kernels INTERFACE tailrace_kernels_seism tailrace_kernels_slab
      tailrace_kernels_particle tailrace_kernels_amr tailrace_kernels_history)
  endif()
  set(exported tailrace_plugin tailrace_kernels)
  foreach(target IN ITEMS declaring serving core comm formats formats_common formats_posix formats_mpiio formats_hdf5
      formats_netcdf4 formats_pnetcdf kernels_amr kernels_history kernels_particle kernels_seism kernels_slab runner)
    if(TARGET tailrace_${target})
      list(APPEND exported tailrace_${target})
    endif()
  endforeach()
  foreach(target IN LISTS exported)
    if(NOT target MATCHES "^tailrace_(plugin|declaring|serving)$") # which are C
      target_compile_features(${target} INTERFACE cxx_std_20)
    endif()
    string(REGEX REPLACE "^tailrace_" "" name ${target})
    string(REGEX REPLACE "^declaring$" "intent" name ${name})
    string(REGEX REPLACE "^serving$" "server" name ${name})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    target_include_directories(${target} INTERFACE
      $<INSTALL_INTERFACE:${tailrace_include}> $<INSTALL_INTERFACE:${tailrace_include}/tailrace>)
  endforeach()
  install(TARGETS ${exported} EXPORT tailraceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  add_dependencies(tailrace_programs ${exported}) # what is built for a person can be installed
  install(EXPORT tailraceTargets NAMESPACE tailrace:: DESTINATION ${TAILRACE_INSTALL_CMAKEDIR})
endfunction()

function(tailrace_install_programs)
  if(TARGET tailrace-seism)
    install(TARGETS tailrace-seism tailrace-limit tailrace-slab tailrace-particle tailrace-amr
      tailrace-history RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    # The name under which existing job scripts know it.
    install(CODE "
      file(CREATE_LINK tailrace-seism
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/seism-core-slice\" SYMBOLIC)")
  endif()
  foreach(library IN ITEMS plugins tailrace_plugins)
    if(TARGET ${library})
      install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
  endforeach()
endfunction()

# The command and its package, as sources with the extension among them. The packages that it imports
# are put beside it (cmake/setup/install.sh), or are those of its Python (Spack, conda).
function(tailrace_install_command)
  if(NOT TARGET tailrace_python_core)
    return()
  endif()
  set(packages lib/tailrace/python)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tailrace DESTINATION ${packages}
    PATTERN __pycache__ EXCLUDE PATTERN "_core*.so" EXCLUDE)
  install(TARGETS tailrace_python_core LIBRARY DESTINATION ${packages}/tailrace)
  install(FILES ${PROJECT_SOURCE_DIR}/VERSION DESTINATION lib/tailrace)
  install(CODE "
    file(STRINGS \"${PROJECT_BINARY_DIR}/src/core/generated/core/version_info.hpp\" commit REGEX COMMIT_TEXT)
    string(REGEX REPLACE \"^[^\\\"]*\" \"commit = \" commit \"\${commit}\")
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${packages}/tailrace/_commit.py\"
      \"# Written when it was installed.\\n\${commit}\\n\")")
  # From what --help says: by the Python that built this, which may lack what the command imports.
  install(CODE "
    set(pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" -E env \"PYTHONPATH=${PROJECT_SOURCE_DIR}/python\"
      \"${TAILRACE_PYTHON_EXECUTABLE}\" -m tailrace.cli.man_pages \"\${pages}\"
      RESULT_VARIABLE failed ERROR_VARIABLE why)
    if(failed)
      message(WARNING \"no man pages are installed: \${why}\")
    endif()")
  # Not that of the private environment, which goes with the clone.
  file(REAL_PATH ${TAILRACE_PYTHON_EXECUTABLE} TAILRACE_COMMAND_PYTHON)
  set(TAILRACE_COMMAND_PACKAGES ${packages})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tailrace_command.in
    ${PROJECT_BINARY_DIR}/installed/tailrace @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/tailrace DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

function(tailrace_pkgconfig name description requires libs)
  set(PC_NAME ${name})
  set(PC_DESCRIPTION "${description}")
  set(PC_REQUIRES "${requires}")
  set(PC_LIBS "${libs}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tailrace.pc.in
    ${PROJECT_BINARY_DIR}/pkgconfig/tailrace-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/tailrace-${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# What a plain compiler needs to link our static libraries with.
function(tailrace_install_pkgconfig)
  set(mpi "")
  set(hdf5 "")
  set(pnetcdf "")
  set(formats "-ltailrace_formats")
  if(TAILRACE_HAVE_MPI)
    list(JOIN MPI_C_LIBRARIES " " mpi)
    list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
    list(JOIN includes " " PC_MPI_CFLAGS)
    string(APPEND formats " -ltailrace_formats_mpiio")
  endif()
  if(TAILRACE_HAVE_HDF5)
    string(APPEND formats " -ltailrace_formats_hdf5")
    get_filename_component(PC_HDF5_LIBDIR "${TAILRACE_HDF5_LIBRARY}" DIRECTORY)
    set(hdf5 " -L\${hdf5_libdir} -lhdf5 -Wl,-rpath,\${hdf5_libdir}")
  endif()
  if(TAILRACE_HAVE_NETCDF)
    string(REPLACE "-ltailrace_formats " "-ltailrace_formats -ltailrace_formats_netcdf4 "
      formats "${formats}")
    get_filename_component(netcdf_libdir "${TAILRACE_NETCDF_LIBRARY}" DIRECTORY)
    if(netcdf_libdir STREQUAL PC_HDF5_LIBDIR)
      string(REPLACE "-lhdf5" "-lnetcdf -lhdf5" hdf5 "${hdf5}")
    else()
      set(hdf5 " ${TAILRACE_NETCDF_LIBRARY}${hdf5}")
    endif()
  endif()
  if(TAILRACE_HAVE_PNETCDF)
    string(REPLACE "-ltailrace_formats " "-ltailrace_formats -ltailrace_formats_pnetcdf "
      formats "${formats}")
    set(pnetcdf " ${TAILRACE_PNETCDF_LIBRARY}")
  endif()
  string(APPEND formats " -ltailrace_formats_posix -ltailrace_formats_common${hdf5}${pnetcdf}")
  tailrace_pkgconfig(plugin "the ABI of fill functions" "" "")
  tailrace_pkgconfig(intent "declaring intents" "" "-L\${libdir} -ltailrace_intent")
  if(TARGET tailrace_serving)
    tailrace_pkgconfig(server "the I/O server" "" "-L\${libdir} -ltailrace_server ${mpi}")
  endif()
  tailrace_pkgconfig(core "errors, boxes, records, configuration" ""
    "-L\${libdir} -ltailrace_core -lxxhash -lfmt -ldl -lpthread")
  tailrace_pkgconfig(comm "communication, with and without MPI" ""
    "-L\${libdir} -ltailrace_comm ${mpi} -ltailrace_core -lxxhash -lfmt -ldl -lpthread")
  tailrace_pkgconfig(formats "sinks and sources of file formats" ""
    "-L\${libdir} ${formats} -ltailrace_comm ${mpi} -ltailrace_core -lxxhash -lfmt -ldl -lpthread")
  tailrace_pkgconfig(kernels "patterns of output of real applications" ""
    "-L\${libdir} -ltailrace_kernels_seism -ltailrace_kernels_slab -ltailrace_kernels_particle -ltailrace_kernels_amr -ltailrace_kernels_history -ltailrace_runner ${formats} -ltailrace_comm ${mpi} -ltailrace_core -lxxhash -lfmt -ldl -lpthread")
endfunction()

function(tailrace_install_package)
  set(tailrace_have_server FALSE)
  if(TARGET tailrace_serving)
    set(tailrace_have_server TRUE)
  endif()
  tailrace_install_headers()
  tailrace_install_libraries()
  tailrace_install_programs()
  tailrace_install_command()
  tailrace_install_pkgconfig()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tailraceConfig.cmake.in
    ${PROJECT_BINARY_DIR}/tailraceConfig.cmake INSTALL_DESTINATION ${TAILRACE_INSTALL_CMAKEDIR}
    PATH_VARS CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/tailraceConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tailraceConfig.cmake
    ${PROJECT_BINARY_DIR}/tailraceConfigVersion.cmake
    DESTINATION ${TAILRACE_INSTALL_CMAKEDIR})
  # With the prefix in it that `cmake --install --prefix` names: known only then.
  set(modules ${CMAKE_INSTALL_DATADIR}/modulefiles/tailrace)
  install(CODE "
    set(PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
    set(PROJECT_VERSION ${PROJECT_VERSION})
    set(CMAKE_INSTALL_BINDIR ${CMAKE_INSTALL_BINDIR})
    set(CMAKE_INSTALL_LIBDIR ${CMAKE_INSTALL_LIBDIR})
    configure_file(\"${PROJECT_SOURCE_DIR}/cmake/modulefile.in\"
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${modules}/${PROJECT_VERSION}\" @ONLY)")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()
