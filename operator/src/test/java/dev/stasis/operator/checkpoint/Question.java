package dev.stasis.operator.checkpoint;

import io.fabric8.kubernetes.api.model.Pod;

/** What the API server was asked about a pod. */
sealed interface Question {

  /** To resize the pod in place. */
  record Resize(Pod resized, boolean dryRun) implements Question {}

  /** To let the pod of a controller go without another one that starts cold in its place. */
  record Depart(boolean dryRun) implements Question {}

  /** To evict the pod. */
  record Evict(Pod pod, boolean dryRun) implements Question {}
}
