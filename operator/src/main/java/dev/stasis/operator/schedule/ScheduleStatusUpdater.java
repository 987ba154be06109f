package dev.stasis.operator.schedule;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.api.v1beta1.schedule.ScheduledRun;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Writes runs, checkpoints and restores of a schedule into its status. */
final class ScheduleStatusUpdater {

  /** The maximum number of restores kept. Those that have not ended are always kept. */
  private static final int RESTORES = 100;

  /** Updates times, runs and checkpoints. */
  void runs(ScheduleState state, Optional<RunPlanner.Plan> plan) {
    GpuCheckpointScheduleStatus status = state.status();
    plan.ifPresent(
        it -> {
          it.due().ifPresent(due -> setLastScheduleTime(status, due));
          if (it.settled()) {
            it.due().ifPresent(status::setSettledScheduleTime);
          }
        });
    boolean suspended = Boolean.TRUE.equals(state.spec().getSuspend());
    status.setNextScheduleTime(suspended ? null : plan.flatMap(RunPlanner.Plan::next).orElse(null));
    status.setMatchedPods(state.pods().size());
    List<ScheduledRun> active =
        state.checkpoints().stream()
            .filter(ScheduledCheckpoint::isActive)
            .map(ScheduleStatusUpdater::run)
            .toList();
    status.setActive(active.isEmpty() ? null : active);
    history(state, plan.map(RunPlanner.Plan::skipped).orElse(List.of()));
    kept(state);
  }

  /** Only the last time is caught up, so the runs of the one before are over. */
  private static void setLastScheduleTime(GpuCheckpointScheduleStatus status, Instant due) {
    Instant before = status.getLastScheduleTime();
    if (before != null && before.isBefore(due)) {
      status.setSettledScheduleTime(before);
    }
    status.setLastScheduleTime(due);
  }

  private static void history(ScheduleState state, List<ScheduledRun> skipped) {
    Map<String, ScheduledRun> all = new LinkedHashMap<>();
    Objects.requireNonNullElse(state.status().getHistory(), List.<ScheduledRun>of())
        .forEach(run -> all.put(key(run), run));
    skipped.forEach(run -> all.put(key(run), run));
    state.checkpoints().forEach(it -> all.put(it.name(), run(it)));
    List<ScheduledRun> newestFirst =
        all.values().stream()
            .sorted(
                Comparator.comparing(ScheduledRun::time)
                    .reversed()
                    .thenComparing(ScheduledRun::pod))
            .limit(state.spec().getOptions().getHistoryLimit())
            .toList();
    state.status().setHistory(newestFirst.isEmpty() ? null : newestFirst);
  }

  private static String key(ScheduledRun run) {
    return Objects.requireNonNullElse(run.checkpoint(), "skipped " + run.pod() + " " + run.time());
  }

  private static ScheduledRun run(ScheduledCheckpoint checkpoint) {
    CheckpointTimings timings = checkpoint.status().getTimings();
    return new ScheduledRun(
        checkpoint.name(),
        checkpoint.pod(),
        checkpoint.due(),
        checkpoint.phase(),
        checkpoint.condition().map(Condition::reason).orElse(null),
        checkpoint.bytes() == 0 ? null : checkpoint.bytes(),
        checkpoint.bytes() == 0 ? null : new HumanBytes(checkpoint.bytes()).text(),
        timings == null ? null : timings.getFrozen());
  }

  private static void kept(ScheduleState state) {
    GpuCheckpointScheduleStatus status = state.status();
    List<ScheduledCheckpoint> good =
        state.checkpoints().stream().filter(ScheduledCheckpoint::isRestorable).toList();
    long bytes = good.stream().mapToLong(ScheduledCheckpoint::bytes).sum();
    status.setKept(good.size());
    status.setKeptBytes(bytes);
    status.setKeptSize(new HumanBytes(bytes).text());
    Optional<ScheduledCheckpoint> newest =
        state.restorableNow().max(ScheduledCheckpoint.OLDEST_FIRST);
    status.setNewestGood(newest.map(ScheduledCheckpoint::name).orElse(null));
    status.setNewestGoodTime(newest.map(ScheduledCheckpoint::frozen).orElse(null));
    Optional<Instant> last =
        state.checkpoints().stream()
            .flatMap(it -> it.ready().stream())
            .max(Comparator.naturalOrder());
    Instant before = status.getLastSuccessfulTime();
    last.filter(time -> before == null || time.isAfter(before))
        .ifPresent(status::setLastSuccessfulTime);
  }

  void restorePhases(ScheduleState state) {
    write(
        state,
        state.automaticRestores().stream()
            .map(
                it ->
                    state
                        .restore(it.restore())
                        .map(restore -> it.withPhase(ScheduleState.phase(restore)))
                        .orElse(it))
            .toList());
  }

  /** Returns how many restores can be added while none of the others ends. */
  long room(ScheduleState state) {
    return room(state, state.automaticRestores());
  }

  private static long room(ScheduleState state, List<AutomaticRestore> all) {
    return RESTORES - all.stream().filter(it -> isOpen(state, it)).count();
  }

  /** Returns whether it has not ended. One whose GpuRestore was deleted ends with the window. */
  private static boolean isOpen(ScheduleState state, AutomaticRestore restore) {
    RestorePhase phase = restore.phase();
    return phase == null
        || (!phase.isFinal()
            && (state.restore(restore.restore()).isPresent() || isRecent(state, restore)));
  }

  private static boolean isRecent(ScheduleState state, AutomaticRestore restore) {
    RestoreOnFailure policy = state.spec().getRestoreOnFailure();
    return policy != null
        && restore.time().isAfter(state.now().minus(policy.getWindow().duration()));
  }

  /** Adds a restore, or replaces the one of its name. */
  void add(ScheduleState state, AutomaticRestore added) {
    List<AutomaticRestore> all = new ArrayList<>(state.automaticRestores());
    all.removeIf(it -> it.restore().equals(added.restore()));
    all.add(0, added);
    write(state, all);
  }

  void set(ScheduleState state, AutomaticRestore restore, RestorePhase phase) {
    write(
        state,
        state.automaticRestores().stream()
            .map(it -> it.restore().equals(restore.restore()) ? it.withPhase(phase) : it)
            .toList());
  }

  private static void write(ScheduleState state, List<AutomaticRestore> all) {
    long room = room(state, all);
    List<AutomaticRestore> kept = new ArrayList<>();
    for (AutomaticRestore restore : all) {
      if (isOpen(state, restore)) {
        kept.add(restore);
      } else if (room > 0
          && (isRecent(state, restore)
              || kept.size() < state.spec().getOptions().getHistoryLimit())) {
        kept.add(restore);
        room--;
      }
    }
    state.status().setRestores(kept.isEmpty() ? null : kept);
  }
}
