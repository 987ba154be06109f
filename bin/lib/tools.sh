# shellcheck shell=bash
# What the scripts of bin/ share: messages, and where the tools of this checkout are found.
# Sourced, never run. The one who sources it has set STASIS_HOME to the repository's root.

: "${STASIS_HOME:?set by the script that sources this file}"
TOOLS="$STASIS_HOME/.tools"

# The oldest that will do. CRIU: 4.1.1 is the first that passes its own check on kernel 6.18.
readonly JDK_MINIMUM=17
readonly MAVEN_MINIMUM=3.8.6
readonly MAVEN_FETCHED=3.9.11
readonly CRIU_MINIMUM=4.1.1

say() { printf '%s\n' "$*"; }

# die MESSAGE [WHAT TO DO]
die() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  if [ $# -gt 1 ]; then printf '  %s\n' "${@:2}" >&2; fi
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# version_at_least FOUND WANTED
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# jdk_major HOME: the major version of a JDK (not of a mere JRE), or nothing.
jdk_major() {
  if [ ! -x "$1/bin/javac" ] || [ ! -r "$1/release" ]; then return 0; fi
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

# Every JDK of this machine, a line each: "MAJOR HOME". The one that the user chose comes first.
list_jdks() {
  local home major on_path=""
  if have javac; then on_path="$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")"; fi
  for home in "${JAVA_HOME:-}" "$on_path" /usr/lib/jvm/* /opt/java/* /opt/jdk*; do
    [ -n "$home" ] || continue
    major="$(jdk_major "$home")"
    if [ -n "$major" ]; then printf '%s %s\n' "$major" "$home"; fi
  done
}

# find_jdk MAJOR: the home of a JDK of exactly this version, or nothing.
find_jdk() { list_jdks | awk -v want="$1" '$1 == want { print $2; exit }'; }

# The JDK that builds: 17, which is what the code is written for, else the first that is newer.
find_build_jdk() {
  local home
  home="$(find_jdk "$JDK_MINIMUM")"
  if [ -z "$home" ]; then
    home="$(list_jdks | awk -v least="$JDK_MINIMUM" '$1 >= least { print $2; exit }')"
  fi
  printf '%s' "$home"
}

maven_version() {
  JAVA_HOME="$(find_build_jdk)" timeout 60 "$1" -v 2>/dev/null | sed -n 's/.*Apache Maven \([0-9][0-9.]*\).*/\1/p'
}

# The Maven that builds, or nothing.
find_maven() {
  local mvn version
  for mvn in "$TOOLS/maven/bin/mvn" "$(command -v mvn || true)"; do
    if [ ! -x "$mvn" ]; then continue; fi
    version="$(maven_version "$mvn")"
    if [ -n "$version" ] && version_at_least "$version" "$MAVEN_MINIMUM"; then
      printf '%s' "$mvn"
      return 0
    fi
  done
}

criu_version() { timeout 20 "$1" --version 2>/dev/null | sed -n 's/^Version: \([0-9][0-9.]*\).*/\1/p'; }

# criu_file_fault FILE: why this program will not do on any machine, in a few words; nothing when it will.
# It has to be static because it is carried into containers that may hold no library at all.
criu_file_fault() {
  local version
  if [ ! -x "$1" ]; then
    printf 'is not there'
    return 0
  fi
  version="$(criu_version "$1")"
  if [ -z "$version" ]; then
    printf 'does not run'
  elif ! version_at_least "$version" "$CRIU_MINIMUM"; then
    printf 'is %s, older than %s' "$version" "$CRIU_MINIMUM"
  elif LC_ALL=C grep -q -a -m 1 -E '/lib(64)?/ld-linux|/lib/ld-' <(head -c 65536 "$1"); then
    printf 'is %s but not static' "$version"
  fi
}

# criu_fault FILE: the same, with its own check of this kernel.
criu_fault() {
  local fault
  fault="$(criu_file_fault "$1")"
  if [ -z "$fault" ] && ! timeout 60 "$1" check >/dev/null 2>&1; then
    fault="$(printf '%s does not pass "criu check" on this kernel' "$(criu_version "$1")")"
  fi
  printf '%s' "$fault"
}

# Counts the changes to criu.patch: one that was built before is built anew.
readonly CRIU_BUILD=stasis-13
is_of_this_setup() { timeout 20 "$1" --version 2>/dev/null | grep -q "^GitID: $CRIU_BUILD"; }

# The criu to use, or nothing: the one that the user names, or ours. One on PATH has the faults that
# criu.patch mends.
find_criu() {
  if [ -n "${STASIS_CRIU:-}" ]; then
    printf '%s' "$STASIS_CRIU"
    return 0
  fi
  if is_of_this_setup "$TOOLS/bin/criu" && [ -z "$(criu_fault "$TOOLS/bin/criu")" ]; then
    printf '%s' "$TOOLS/bin/criu"
  fi
}

# What bin/setup fetches when there is no rclone.
RCLONE_FETCHED=1.75.2

# The rclone to use, or nothing.
find_rclone() {
  if [ -x "$TOOLS/bin/rclone" ]; then printf '%s' "$TOOLS/bin/rclone"; else command -v rclone || true; fi
}

# The prometheus to use, or nothing.
find_prometheus() {
  if [ -x "$TOOLS/bin/prometheus" ]; then printf '%s' "$TOOLS/bin/prometheus"; else command -v prometheus || true; fi
}

# The promtool to use, or nothing.
find_promtool() {
  if [ -x "$TOOLS/bin/promtool" ]; then printf '%s' "$TOOLS/bin/promtool"; else command -v promtool || true; fi
}
