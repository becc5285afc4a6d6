# `cmake --install`: the binary, the libraries, their headers and a package, so that another program can say
#   find_package(sluice)    target_link_libraries(mine PRIVATE sluice::core sluice::sink_postgres)
include(CMakePackageConfigHelpers)

get_property(installed GLOBAL PROPERTY SLUICE_INSTALLED)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
install(TARGETS ${installed} sluice_rdkafka sluice_mysqlcppconn EXPORT sluice ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sluice NAMESPACE sluice:: DESTINATION ${package_folder} FILE sluice-targets.cmake)

foreach(folder core sources sinks stores)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice FILES_MATCHING
    PATTERN "*.h" PATTERN "handles.h" EXCLUDE PATTERN "session.h" EXCLUDE PATTERN "loader.h" EXCLUDE
    PATTERN "load_stream.h" EXCLUDE)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/sinks/sql/session.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice/sinks/sql)

if(SLUICE_RDKAFKA_PREFIX)
  # The system's librdkafka is too old: ours goes along.
  install(FILES ${SLUICE_RDKAFKA_PREFIX}/lib/librdkafka.a DESTINATION ${CMAKE_INSTALL_LIBDIR}/sluice)
endif()

configure_package_config_file(cmake/sluice-config.cmake.in ${PROJECT_BINARY_DIR}/sluice-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sluice-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sluice-config.cmake ${PROJECT_BINARY_DIR}/sluice-config-version.cmake
  DESTINATION ${package_folder})
