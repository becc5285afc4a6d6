# build_presets PRESET...: configures and builds presets of CMakePresets.json: all of each, or what targets_of PRESET names
# where the caller defines that. Sourced, never run.

build_presets() {
  local preset targets
  local -a options
  need_packages "${BUILD_PACKAGES[@]}"
  for preset in "$@"; do
    [ "$preset" = demo ] || { need_packages "${TEST_BUILD_PACKAGES[@]}"; break; }
  done
  need_librdkafka
  options=(-DSLUICE_RDKAFKA_PREFIX="$SLUICE_RDKAFKA_PREFIX")
  # A person's build goes on over a warning of a newer compiler; ours must not. And it is built once, so as a whole.
  [ -z "${CI:-}" ] || options+=(-DSLUICE_WERROR=ON -DCMAKE_UNITY_BUILD=ON)
  cd "$SLUICE_ROOT"
  for preset in "$@"; do
    quietly "configuring build/$preset" cmake --preset "$preset" "${options[@]}"
    targets=all
    [ -z "$(type -t targets_of)" ] || targets=$(targets_of "$preset")
    quietly "building build/$preset" cmake --build --preset "$preset" --parallel "$(nproc)" --target $targets
  done
}
