# shellcheck shell=bash
# The Debian packages of the images, and which of them are written down in images/packages.lock: a line each, "DISTRIBUTION PACKAGE VERSION
# SHA256". Sourced by scripts that have sourced bin/lib/tools.sh.

LOCK="${STASIS_IMAGE_LOCK:-$STASIS_HOME/images/packages.lock}"

distribution() { (. /etc/os-release && printf '%s-%s' "$ID" "${VERSION_ID:-unknown}"); }

# locked PACKAGE: its version and SHA-256 for this distribution, or nothing.
locked() { awk -v d="$(distribution)" -v p="$1" '$1 == d && $2 == p { print $3, $4 }' "$LOCK"; }

locked_names() { awk -v d="$(distribution)" '$1 == d { print $2 }' "$LOCK"; }

# not_locked MESSAGE: an error where a lock is asked for, else a warning.
not_locked() {
  local advice=("run: apt-get update && images/lock, look at the difference, and commit images/packages.lock")
  if [ -n "${STASIS_IMAGES_LOCKED:-}" ]; then die "$1" "${advice[@]}"; fi
  printf 'images/packages.lock: %s\n  %s\n' "$1" "${advice[*]}" >&2
}

# download_package PACKAGE: into this folder, as the lock has it. apt checks the signature of the archive in any case.
download_package() {
  local version sum file
  read -r version sum <<<"$(locked "$1")"
  if [ -z "$version" ]; then
    not_locked "$1: expected a line for $(distribution), got none"
  # 300 s: some megabytes.
  elif timeout 300 apt-get -qq download "$1=$version" 2>/dev/null; then
    file="$(ls "$1"_*.deb)"
    [ "$(sha256sum <"$file" | cut -d ' ' -f 1)" = "$sum" ] ||
      die "$1 $version: expected SHA-256 $sum, got $(sha256sum <"$file" | cut -d ' ' -f 1)" "the same version has other bytes: find out why before anything else"
    return 0
  else
    not_locked "$1: expected version $version, which this machine's apt has no more"
  fi
  timeout 300 apt-get -qq download "$1"
}
