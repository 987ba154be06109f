# shellcheck shell=bash
# The distribution's packages: what is installed, what could be, and a record of what setup brought.

# A line a thing that setup brought: "apt NAME".
RECORD="$TOOLS/installed"

# Several waits on one mirror are bounded: 30 s without a byte, three tries; another apt may hold the lock for minutes.
APT=(env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=600
  -o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)

package_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }

# The version that apt would install, or nothing when it knows of none.
candidate_version() {
  have apt-cache || return 0
  LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9][^ ]*\).*/\1/p'
}

# The first JDK that this distribution has (Debian 13 has no 17).
jdk_package() {
  local major
  for major in 17 21 25; do
    if [ -n "$(candidate_version "openjdk-$major-jdk-headless")" ]; then
      printf 'openjdk-%s-jdk-headless' "$major"
      return 0
    fi
  done
  printf 'openjdk-17-jdk-headless'
}

lists_are_missing() {
  local package
  for package in "$@"; do
    if [ -z "$(candidate_version "$package")" ]; then return 0; fi
  done
  return 1
}

# Packages that an installation would add, a line each; those that are only upgraded are not among them.
packages_added_by() {
  LC_ALL=C apt-get -s install --no-install-recommends "$@" 2>/dev/null | awk '$1 == "Inst" && $3 !~ /^\[/ { print $2 }'
}

update_lists() {
  say "setup: apt-get update"
  # A source that is out of reach is no reason to stop here: what counts is whether the packages are found.
  timeout 600 "${APT[@]}" update >>"$TOOLS/log/apt.log" 2>&1 9>&- || true
}

# install_packages NAME...
install_packages() {
  local package added missing=()
  have apt-get || die "this is no Debian or Ubuntu: there is no apt-get" "install these by your own means, then run it again: $*"
  if lists_are_missing "$@"; then
    update_lists
    # Which JDK there is, is only known now.
    look_around
    set -- "${WANTED[@]}"
  fi
  for package in "$@"; do
    if [ -z "$(candidate_version "$package")" ]; then missing+=("$package"); fi
  done
  [ "${#missing[@]}" = 0 ] || die "apt knows no package ${missing[*]}" \
    "are the distribution's sources (on Ubuntu: also universe) in /etc/apt, and in reach? see $TOOLS/log/apt.log"
  added="$(packages_added_by "$@")"
  say "setup: installing $(wc -w <<<"$added") packages for: $*"
  if ! run_install "$@"; then
    # Lists that are older than the mirror name files that are gone.
    update_lists
    run_install "$@" || {
      record_packages "$added"
      die "apt-get install failed" "see the end of $TOOLS/log/apt.log:" "$(tail -n 5 "$TOOLS/log/apt.log")"
    }
  fi
  record_packages "$added"
}

# 1200 s: about 200 MB of packages over a slow line.
run_install() { timeout 1200 "${APT[@]}" install --no-install-recommends "$@" >>"$TOOLS/log/apt.log" 2>&1 </dev/null 9>&-; }

record_packages() {
  local package
  for package in $1; do
    if package_installed "$package"; then printf 'apt %s\n' "$package" >>"$RECORD"; fi
  done
}

recorded_packages() {
  local package
  [ -r "$RECORD" ] || return 0
  sed -n 's/^apt //p' "$RECORD" | sort -u | while read -r package; do
    if package_installed "$package"; then printf '%s\n' "$package"; fi
  done
}

# Removes what setup installed, but nothing that something else on the machine has come to need.
remove_packages() {
  local go=() stay=() blocked
  mapfile -t go < <(recorded_packages)
  if [ "${#go[@]}" = 0 ]; then
    say "setup: no package was installed by setup"
    return 0
  fi
  # dpkg says which of them others depend on; without those, more may be needed, so again until none is.
  while [ "${#go[@]}" -gt 0 ]; do
    mapfile -t blocked < <(LC_ALL=C dpkg --dry-run --purge "${go[@]}" 2>&1 |
      sed -n 's/.*dependency problems prevent removal of \([a-z0-9.+-]*\).*/\1/p' | sort -u)
    if [ "${#blocked[@]}" = 0 ]; then break; fi
    stay+=("${blocked[@]}")
    mapfile -t go < <(printf '%s\n' "${go[@]}" | grep -v -x -F -f <(printf '%s\n' "${blocked[@]}"))
  done
  if [ "${#stay[@]}" -gt 0 ]; then say "setup: kept, because other packages need them: ${stay[*]}"; fi
  if [ "${#go[@]}" = 0 ]; then return 0; fi
  say "setup: removing ${#go[@]} packages: ${go[*]}"
  # 600 s: nothing is downloaded.
  timeout 600 "${APT[@]}" purge "${go[@]}" >>"$TOOLS/log/apt.log" 2>&1 </dev/null 9>&- ||
    die "apt-get purge failed; nothing else was removed" "see $TOOLS/log/apt.log"
}
