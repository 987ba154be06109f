package dev.stasis.operator.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The verdict of kstatus on an object, by the rules that it has for custom resources (package
 * status of sigs.k8s.io/cli-utils): Flux, Argo CD and others wait while it is in progress.
 */
public final class Kstatus {

  /** The file of the objects for the library itself (e2e/kstatus); null: they are not recorded. */
  private static final @Nullable String RECORD = System.getProperty("stasis.kstatus.record");

  /** The verdicts of the library. */
  public enum Verdict {
    IN_PROGRESS,
    FAILED,
    CURRENT,
    TERMINATING
  }

  /** Returns the verdict on an object. */
  public Verdict verdict(CustomResource<?, ? extends ConditionedStatus> object) {
    record(object);
    if (object.getMetadata().getDeletionTimestamp() != null) {
      return Verdict.TERMINATING;
    }
    ConditionedStatus status = object.getStatus();
    if (status == null) {
      return Verdict.CURRENT;
    }
    Long generation = object.getMetadata().getGeneration();
    Long observed = status.getObservedGeneration();
    boolean isBehind = generation != null && observed != null && !observed.equals(generation);
    return isBehind ? Verdict.IN_PROGRESS : verdict(status);
  }

  /** Returns the verdict on an object whose latest generation was observed. */
  public Verdict verdict(ConditionedStatus status) {
    if (is(status, "Reconciling")) {
      return Verdict.IN_PROGRESS;
    }
    if (is(status, "Stalled")) {
      return Verdict.FAILED;
    }
    boolean readyIsNotTrue =
        conditions(status).stream()
            .anyMatch(it -> it.type().equals("Ready") && it.status() != ConditionValue.TRUE);
    return readyIsNotTrue ? Verdict.IN_PROGRESS : Verdict.CURRENT;
  }

  /**
   * Fails if the verdict on a request with conditions does not fit its phase; not while it is
   * deleted.
   */
  public void check(CustomResource<?, ? extends ConditionedStatus> object) {
    ConditionedStatus status = Objects.requireNonNull(object.getStatus());
    Verdict verdict = verdict(object);
    if (verdict != Verdict.TERMINATING && !conditions(status).isEmpty()) {
      assertThat(verdict).as("kstatus, %s", conditions(status)).isIn(expected(status));
    }
  }

  private static void record(CustomResource<?, ?> object) {
    if (RECORD != null) {
      try {
        Files.writeString(
            Path.of(RECORD),
            new KubernetesSerialization().asJson(object) + "\n",
            StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static Set<Verdict> expected(ConditionedStatus status) {
    if (status instanceof GpuCheckpointStatus checkpoint) {
      return expected(checkpoint);
    }
    if (status instanceof GpuRestoreStatus restore) {
      return switch (Objects.requireNonNull(restore.getPhase())) {
        case PENDING, STARTING, RESTORING, VERIFYING -> EnumSet.of(Verdict.IN_PROGRESS);
        case SUCCEEDED, COLD_STARTED -> EnumSet.of(Verdict.CURRENT);
        case FAILED, CANCELLED -> EnumSet.of(Verdict.FAILED);
        case UNRECOGNIZED -> EnumSet.allOf(Verdict.class);
      };
    }
    return switch (Objects.requireNonNull(((GpuMigrationStatus) status).getPhase())) {
      case PENDING, TARGET_STARTING, FREEZING, TRANSFERRING, RESTORING, VERIFYING, SWITCHING_OVER ->
          EnumSet.of(Verdict.IN_PROGRESS);
      case SUCCEEDED -> EnumSet.of(Verdict.CURRENT);
      case ROLLED_BACK, FAILED, CANCELLED -> EnumSet.of(Verdict.FAILED);
      case UNRECOGNIZED -> EnumSet.allOf(Verdict.class);
    };
  }

  private static Set<Verdict> expected(GpuCheckpointStatus checkpoint) {
    CheckpointPhase phase = Objects.requireNonNull(checkpoint.getPhase());
    boolean rests =
        Set.of("NotSuspended", "Resumed", "HasTurn")
            .contains(String.valueOf(checkpoint.getReason()));
    return switch (phase) {
      // A workload that runs as its user requires waits for nothing.
      case PENDING -> rests ? EnumSet.of(Verdict.CURRENT) : EnumSet.of(Verdict.IN_PROGRESS);
      case FREEZING, SAVING, RESUMING, IMPORTING -> EnumSet.of(Verdict.IN_PROGRESS);
      // It waits for a GPU, or to be suspended again.
      case SUSPENDED, READY ->
          checkpoint.getSuspensions() == null
              ? EnumSet.of(Verdict.CURRENT)
              : EnumSet.of(Verdict.CURRENT, Verdict.IN_PROGRESS);
      case EXPLAINED -> EnumSet.of(Verdict.CURRENT);
      case FAILED, CANCELLED -> EnumSet.of(Verdict.FAILED);
      case UNRECOGNIZED -> EnumSet.allOf(Verdict.class);
    };
  }

  private static boolean is(ConditionedStatus status, String type) {
    return conditions(status).stream()
        .anyMatch(it -> it.type().equals(type) && it.status() == ConditionValue.TRUE);
  }

  private static List<Condition> conditions(ConditionedStatus status) {
    return Objects.requireNonNullElse(status.getConditions(), List.of());
  }
}
