# Helpers of the shell tests. Each test is a function; check NAME runs it in a folder of its own.
failed=0
# Here, so that no script can forget it.
trap 'exit $failed' EXIT
check() {
  W=$(mktemp -d /tmp/stasis-test.XXXXXX)
  # Not as a condition: there the shell does not end the function at a command that fails.
  (set -e; "$1") >"$W/out" 2>&1
  if [ $? -eq 0 ]; then echo "ok $1"; else
    echo "FAIL $1"; sed 's/^/     /' "$W/out"; failed=1
  fi
  for p in $(cat "$W"/kill 2>/dev/null); do kill -9 "$p" 2>/dev/null || true; done
  rm -rf "$W"
}
# until_true COMMAND...: waits up to half a minute for something that another process does.
until_true() {
  n=0
  until "$@" 2>/dev/null; do
    n=$((n + 1)); [ $n -le 1500 ] || { echo "never true: $*"; return 1; }; sleep 0.02
  done
}
is() { [ "$1" = "$2" ] || { echo "expected $2, got $1"; return 1; }; }
