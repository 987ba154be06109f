package dev.stasis.kubectl.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What the plugin asks the cluster for. */
public enum Kind {
  /** Freezes a pod. */
  CHECKPOINT("GpuCheckpoint", "gpucheckpoints.stasis.dev", "gckpt"),
  /** Brings it back. */
  RESTORE("GpuRestore", "gpurestores.stasis.dev", "grst"),
  /** Moves it. */
  MIGRATION("GpuMigration", "gpumigrations.stasis.dev", "gmig"),
  /** A node with GPUs. */
  NODE("GpuNode", "gpunodes.stasis.dev", "gnode"),
  /** One piece of work for one agent. */
  OPERATION("GpuNodeOperation", "gpunodeoperations.stasis.dev", "gop"),
  /** Where artifacts lie. */
  STORE("GpuCheckpointStore", "gpucheckpointstores.stasis.dev", "gstore"),
  /** A pod. */
  POD("Pod", "pods", "pod"),
  /** A node of Kubernetes. */
  KUBE_NODE("Node", "nodes", "node"),
  /** A Deployment. */
  DEPLOYMENT("Deployment", "deployments.apps", "deploy"),
  /** A DaemonSet. */
  DAEMON_SET("DaemonSet", "daemonsets.apps", "ds"),
  /** A PodDisruptionBudget. */
  BUDGET("PodDisruptionBudget", "poddisruptionbudgets.policy", "pdb"),
  /** What happened. */
  EVENT("Event", "events", "event");

  /** What users ask for, in the order in which it is listed. */
  public static final List<Kind> REQUESTS = List.of(CHECKPOINT, RESTORE, MIGRATION);

  private final String word;
  private final String resource;
  private final String shortName;

  Kind(String word, String resource, String shortName) {
    this.word = word;
    this.resource = resource;
    this.shortName = shortName;
  }

  /** As it stands in a manifest. */
  public String word() {
    return word;
  }

  /** As kubectl is asked for it. */
  public String resource() {
    return resource;
  }

  /** As it stands before the name in a list. */
  public String shortName() {
    return shortName;
  }

  /** Of a manifest. */
  public static Optional<Kind> of(String word) {
    return Arrays.stream(values()).filter(kind -> kind.word.equals(word)).findFirst();
  }

  /** Of what a user writes before the slash: any name of the kind, in any case. */
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
