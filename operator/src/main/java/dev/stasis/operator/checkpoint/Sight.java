package dev.stasis.operator.checkpoint;

import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.owner.PodEvictor;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Optional;

/**
 * What is seen beside the object.
 *
 * @param cluster everything that is watched
 * @param pods what the API server is asked about pods
 * @param evictor evicts the pod
 * @param pod the pod that is meant: that of status.pod.uid, else that of spec.podRef.name
 * @param jobDeadline when the Job of the pod ends it; empty for none
 * @param now the time
 * @param config the settings
 */
record Sight(
    Cluster cluster,
    PodWrites pods,
    PodEvictor evictor,
    Optional<Pod> pod,
    Optional<Instant> jobDeadline,
    Instant now,
    StasisConfig config) {}
