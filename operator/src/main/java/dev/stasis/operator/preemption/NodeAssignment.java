package dev.stasis.operator.preemption;

import java.util.List;

/**
 * A node for a pod, and the victims that make room on it.
 *
 * @param victims the pods to evict; empty if the pod already fits
 * @param why the decision in numbers
 */
record NodeAssignment(String node, List<VictimCandidate> victims, String why) {}
