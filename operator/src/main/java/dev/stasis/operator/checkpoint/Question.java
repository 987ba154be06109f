package dev.stasis.operator.checkpoint;

import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.function.Consumer;

/**
 * Something that only the API server can answer, and on which the rest of a turn depends.
 *
 * @param ask what to ask
 * @param then what follows from the answer; may ask again
 */
record Question(Ask ask, Consumer<PodWrites.Answer> then) {

  /** What is asked. */
  sealed interface Ask {}

  /** To resize the pod in place. */
  record Resize(Pod resized, boolean dryRun) implements Ask {}

  /** To let the pod of a controller go without another one that starts cold in its place. */
  record Depart(Pod pod, boolean dryRun) implements Ask {}

  /** To evict the pod. */
  record Evict(Pod pod, boolean dryRun) implements Ask {}
}
