# shellcheck shell=bash
# A Kubernetes of this machine's own, for tests. Sourced by bin/with-kube and bin/test.

KUBE="${STASIS_KUBE:-$STASIS_HOME/../shared/kube/kube}"
readonly KUBE
# Says what is missing when a step needs a cluster and there is none.
# shellcheck disable=SC2034 # read by the scripts that source this file
readonly NO_KUBE="no Kubernetes: set KUBECONFIG to a test cluster, or STASIS_KUBE to a script like $KUBE"

can_start_kube() { [ -x "$KUBE" ] && [ "$(id -u)" = 0 ]; }

# start_kube NODES: starts a cluster and exports its environment. stop_kube ends it.
start_kube() {
  # Two clusters on one machine would share addresses; an hour is more than any run of tests takes.
  exec 8>"${TMPDIR:-/tmp}/stasis-with-kube.lock"
  flock -w 3600 8 || die "another run has held the cluster of this machine for an hour" "see: fuser -v ${TMPDIR:-/tmp}/stasis-with-kube.lock"
  start_cluster "$1"
}

# start_cluster NODES: without the lock.
start_cluster() {
  local nodes="$1" try
  # On a busy machine a part can outlast the script's own limit: asked again, it continues where it was.
  # The processes of the cluster must not inherit the lock, nor hold the output of this shell.
  for try in 1 2 3; do
    # Its programs are written in Go, and collect garbage less often with more memory: a sixth of their processor time.
    if GOGC="${GOGC:-400}" "$KUBE" up "$nodes" 8>&- >/dev/null; then break; fi
    [ "$try" -lt 3 ] || { stop_kube; die "the cluster did not start" "run: $KUBE up $nodes"; }
  done
  eval "$("$KUBE" env)"
  # Tests assign GPUs with this script; the guard of the tests allows what this shell started itself.
  export STASIS_KUBE="$KUBE" STASIS_TEST_CLUSTER=yes
}

stop_kube() {
  "$KUBE" down 8>&- >/dev/null 2>&1 || true
  exec 8>&-
}
