package dev.stasis.kubectl.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The kinds that the plugin requests. */
public enum Kind {
  /** A checkpoint. */
  CHECKPOINT("GpuCheckpoint", "gpucheckpoints.stasis.dev", "gckpt"),
  /** A restore. */
  RESTORE("GpuRestore", "gpurestores.stasis.dev", "grst"),
  /** A migration. */
  MIGRATION("GpuMigration", "gpumigrations.stasis.dev", "gmig"),
  /** A node with GPUs. */
  NODE("GpuNode", "gpunodes.stasis.dev", "gnode"),
  /** An operation of one agent. */
  OPERATION("GpuNodeOperation", "gpunodeoperations.stasis.dev", "gop"),
  /** A store of artifacts. */
  STORE("GpuCheckpointStore", "gpucheckpointstores.stasis.dev", "gstore"),
  /** A pod. */
  POD("Pod", "pods", "pod"),
  /** A namespace. */
  NAMESPACE("Namespace", "namespaces", "ns"),
  /** A Node of Kubernetes. */
  KUBE_NODE("Node", "nodes", "node"),
  /** A Deployment. */
  DEPLOYMENT("Deployment", "deployments.apps", "deploy"),
  /** A DaemonSet. */
  DAEMON_SET("DaemonSet", "daemonsets.apps", "ds"),
  /** A PodDisruptionBudget. */
  BUDGET("PodDisruptionBudget", "poddisruptionbudgets.policy", "pdb"),
  /** An Event. */
  EVENT("Event", "events", "event");

  /** The kinds that users create, in the order of lists. */
  public static final List<Kind> REQUESTS = List.of(CHECKPOINT, RESTORE, MIGRATION);

  private final String word;
  private final String resource;
  private final String shortName;

  Kind(String word, String resource, String shortName) {
    this.word = word;
    this.resource = resource;
    this.shortName = shortName;
  }

  /** The kind in a manifest. */
  public String value() {
    return word;
  }

  /** The resource name for kubectl. */
  public String resource() {
    return resource;
  }

  /** The prefix of names in a list. */
  public String shortName() {
    return shortName;
  }

  /** Returns the kind of a manifest. */
  public static Optional<Kind> of(String word) {
    return Arrays.stream(values()).filter(kind -> kind.word.equals(word)).findFirst();
  }

  /** Returns the kind that a user writes before the slash: any name of the kind, in any case. */
  public static Optional<Kind> written(String prefix) {
    return Arrays.stream(values())
        .filter(
            kind ->
                kind.word.equalsIgnoreCase(prefix)
                    || kind.shortName.equalsIgnoreCase(prefix)
                    || kind.resource.equalsIgnoreCase(prefix)
                    || kind.resource.startsWith(prefix + ".")
                    || (kind.word + "s").equalsIgnoreCase(prefix))
        .findFirst();
  }
}
