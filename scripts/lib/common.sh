# Shared by the scripts of this folder: where things are cached, and how progress is told. Sourced, never run.
set -euo pipefail
SLUICE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Everything that is fetched or built outside the source tree lands here, so that a second run pays nothing.
SLUICE_CACHE=${SLUICE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice}
mkdir -p "$SLUICE_CACHE"

say() { printf '\033[1m[sluice]\033[0m %s\n' "$*" >&2; }
die() { printf '\033[1m[sluice]\033[0m error: %s\n' "$*" >&2; exit 1; }

# quietly WHAT COMMAND...: runs the command with its output in a log, which is shown only when the command fails.
quietly() {
  local what=$1 log start=$SECONDS
  shift
  log=$(mktemp "${TMPDIR:-/tmp}/sluice-step.XXXXXX")
  say "$what ..."
  if "$@" >"$log" 2>&1; then
    say "$what: done in $((SECONDS - start)) s"
    rm -f "$log"
  else
    tail -n 60 "$log" >&2
    die "$what failed; the whole output is in $log"
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else
    command -v sudo >/dev/null || die "need root for: $* (run as root, or install sudo)"
    sudo -E "$@"
  fi
}

# apt_isolated DIR "deb-src|deb" apt-tool ARGS...: apt with a state of its own that knows only Debian's sid suite,
# so that the system's own package lists and packages stay untouched.
apt_isolated() {
  local dir=$1 kind=$2 tool=$3 mirror
  shift 3
  mirror=$(sed -n 's/^URIs: *\(http[^ ]*\/debian\/\{0,1\}\)$/\1/p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
  [ -n "$mirror" ] || mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\(http[^ ]*\/debian\/\{0,1\}\) .*/\2/p' /etc/apt/sources.list 2>/dev/null | head -n 1)
  [ -n "$mirror" ] || mirror=http://deb.debian.org/debian
  mkdir -p "$dir"/state/lists/partial "$dir"/cache/archives/partial
  : >"$dir/status"
  printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s sid main\n' "$kind" "$mirror" >"$dir/sources.list"
  "$tool" -o Dir::State="$dir/state" -o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache" \
    -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root "$@"
}

missing_packages() {
  local p
  for p in "$@"; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || printf '%s ' "$p"
  done
}

# Installs those of the named Debian packages that are not there yet.
need_packages() {
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null || die "this script knows Debian only; install the equivalents of: $missing"
  quietly "updating the package lists" as_root apt-get update -q
  # shellcheck disable=SC2086
  quietly "installing $missing" as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
