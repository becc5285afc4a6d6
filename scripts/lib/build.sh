# build_presets PRESET...: configures and builds presets of CMakePresets.json. Sourced, never run.

build_presets() {
  local preset
  local -a options
  need_packages "${BUILD_PACKAGES[@]}"
  for preset in "$@"; do
    [ "$preset" = demo ] || { need_packages "${TEST_BUILD_PACKAGES[@]}"; break; }
  done
  need_librdkafka
  options=(-DSLUICE_RDKAFKA_PREFIX="$SLUICE_RDKAFKA_PREFIX")
  # A person's build goes on over a warning of a newer compiler; ours must not.
  [ -z "${CI:-}" ] || options+=(-DSLUICE_WERROR=ON)
  cd "$SLUICE_ROOT"
  for preset in "$@"; do
    quietly "configuring build/$preset" cmake --preset "$preset" "${options[@]}"
    quietly "building build/$preset" cmake --build --preset "$preset" --parallel "$(nproc)"
  done
}
