package dev.stasis.e2e.kube;

import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import io.fabric8.kubernetes.client.utils.Serialization;

/** A GpuRestore that somebody applied. */
record RestoreRequest(Scenario scenario, String name) {

  /** Applies one of that checkpoint; {@code more} are further lines of its spec. */
  static RestoreRequest apply(Scenario scenario, String name, String checkpoint, String... more) {
    StringBuilder yaml =
        new StringBuilder(
            """
            apiVersion: stasis.dev/v1alpha1
            kind: GpuRestore
            metadata:
              name: %s
            spec:
              checkpointName: %s
            """
                .formatted(name, checkpoint));
    for (String line : more) {
      yaml.append("  ").append(line).append('\n');
    }
    scenario.apply(yaml.toString());
    return new RestoreRequest(scenario, name);
  }

  GpuRestoreStatus status() {
    GpuRestore found = scenario.find(GpuRestore.class, name);
    return found == null || found.getStatus() == null ? new GpuRestoreStatus() : found.getStatus();
  }

  /** Waits for a phase; says at once when another end was reached. */
  GpuRestoreStatus await(RestorePhase wanted) {
    scenario.await(
        GpuRestore.class,
        name,
        "is " + wanted,
        found -> {
          if (found.getStatus() == null || found.getStatus().getPhase() == null) {
            return false;
          }
          RestorePhase phase = found.getStatus().getPhase();
          if (phase != wanted && phase.isFinal()) {
            throw new AssertionError(
                "wanted %s, found:%n%s".formatted(wanted, Serialization.asYaml(found.getStatus())));
          }
          return phase == wanted;
        });
    return status();
  }

  GpuRestoreStatus awaitSucceeded() {
    return await(RestorePhase.SUCCEEDED);
  }

  /** Waits until it is over, however. */
  GpuRestoreStatus awaitEnd() {
    scenario.await(
        GpuRestore.class,
        name,
        "is at its end",
        found ->
            found.getStatus() != null
                && found.getStatus().getPhase() != null
                && found.getStatus().getPhase().isFinal());
    return status();
  }

  /** Name of the pod in which the workload runs again. */
  static String pod(GpuRestoreStatus status) {
    if (status.getPod() == null || status.getPod().name() == null) {
      throw new AssertionError("no pod in " + Serialization.asYaml(status));
    }
    return status.getPod().name();
  }
}
