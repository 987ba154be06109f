package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.CheckpointTimings;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.api.v1alpha1.schedule.AutomaticRestore;
import dev.stasis.api.v1alpha1.schedule.GpuCheckpointScheduleStatus;
import dev.stasis.api.v1alpha1.schedule.RestoreOnFailure;
import dev.stasis.api.v1alpha1.schedule.ScheduledRun;
import dev.stasis.operator.status.Size;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Puts into the status what a schedule did. */
final class Bookkeeping {

  /** As many restores stay as a window may have, whatever the history's limit. */
  private static final int RESTORES = 100;

  private final Keeping keeping;

  Bookkeeping(Keeping keeping) {
    this.keeping = keeping;
  }

  /** Times, runs, and what is kept. */
  void runs(View view, Optional<Runs.Plan> plan) {
    GpuCheckpointScheduleStatus status = view.status();
    plan.ifPresent(
        it -> {
          it.due().ifPresent(status::setLastScheduleTime);
          if (it.settled()) {
            it.due().ifPresent(status::setSettledScheduleTime);
          }
        });
    boolean suspended = Boolean.TRUE.equals(view.spec().getSuspend());
    status.setNextScheduleTime(suspended ? null : plan.flatMap(Runs.Plan::next).orElse(null));
    status.setMatchedPods(view.pods().size());
    List<ScheduledRun> active =
        view.taken().stream().filter(Taken::isAtWork).map(Bookkeeping::run).toList();
    status.setActive(active.isEmpty() ? null : active);
    history(view, plan.map(Runs.Plan::skipped).orElse(List.of()));
    kept(view);
  }

  private static void history(View view, List<ScheduledRun> skipped) {
    Map<String, ScheduledRun> all = new LinkedHashMap<>();
    Objects.requireNonNullElse(view.status().getHistory(), List.<ScheduledRun>of())
        .forEach(run -> all.put(key(run), run));
    skipped.forEach(run -> all.put(key(run), run));
    view.taken().forEach(taken -> all.put(taken.name(), run(taken)));
    List<ScheduledRun> newestFirst =
        all.values().stream()
            .sorted(
                Comparator.comparing(ScheduledRun::time)
                    .reversed()
                    .thenComparing(ScheduledRun::pod))
            .limit(view.spec().getHistoryLimit())
            .toList();
    view.status().setHistory(newestFirst.isEmpty() ? null : newestFirst);
  }

  private static String key(ScheduledRun run) {
    return Objects.requireNonNullElse(run.checkpoint(), "skipped " + run.pod() + " " + run.time());
  }

  private static ScheduledRun run(Taken taken) {
    CheckpointTimings timings = taken.status().getTimings();
    return new ScheduledRun(
        taken.name(),
        taken.pod(),
        taken.due(),
        taken.phase(),
        taken.condition().map(Condition::reason).orElse(null),
        taken.bytes() == 0 ? null : taken.bytes(),
        taken.bytes() == 0 ? null : new Size(taken.bytes()).text(),
        timings == null ? null : timings.getFrozen());
  }

  private void kept(View view) {
    GpuCheckpointScheduleStatus status = view.status();
    List<Taken> good = view.taken().stream().filter(Taken::isGood).toList();
    long bytes = good.stream().mapToLong(Taken::bytes).sum();
    status.setKept(good.size());
    status.setKeptBytes(bytes);
    status.setKeptSize(new Size(bytes).text());
    Optional<Taken> newest = keeping.newestGood(view);
    status.setNewestGood(newest.map(Taken::name).orElse(null));
    status.setNewestGoodTime(newest.map(Taken::frozen).orElse(null));
    Optional<Instant> last =
        view.taken().stream().flatMap(it -> it.ready().stream()).max(Comparator.naturalOrder());
    Instant before = status.getLastSuccessfulTime();
    last.filter(time -> before == null || time.isAfter(before))
        .ifPresent(status::setLastSuccessfulTime);
  }

  /** What has become of the restores that were begun. */
  void follow(View view) {
    write(
        view,
        view.broughtBack().stream()
            .map(
                back ->
                    view.restore(back.restore())
                        .map(restore -> with(back, phase(restore)))
                        .orElse(back))
            .toList());
  }

  /** One more. */
  void add(View view, AutomaticRestore back) {
    List<AutomaticRestore> all = new ArrayList<>(view.broughtBack());
    all.removeIf(it -> it.restore().equals(back.restore()));
    all.add(0, back);
    write(view, all);
  }

  /** One has come to that. */
  void set(View view, AutomaticRestore back, RestorePhase phase) {
    write(
        view,
        view.broughtBack().stream()
            .map(it -> it.restore().equals(back.restore()) ? with(it, phase) : it)
            .toList());
  }

  private static void write(View view, List<AutomaticRestore> all) {
    RestoreOnFailure wish = view.spec().getRestoreOnFailure();
    Instant since = wish == null ? view.now() : view.now().minus(wish.getWindow().duration());
    List<AutomaticRestore> kept = new ArrayList<>();
    for (AutomaticRestore back : all) {
      boolean counts =
          back.phase() == null || !back.phase().isFinal() || back.time().isAfter(since);
      if (kept.size() < RESTORES && (counts || kept.size() < view.spec().getHistoryLimit())) {
        kept.add(back);
      }
    }
    view.status().setRestores(kept.isEmpty() ? null : kept);
  }

  private static RestorePhase phase(GpuRestore restore) {
    RestorePhase phase = restore.getStatus() == null ? null : restore.getStatus().getPhase();
    return Objects.requireNonNullElse(phase, RestorePhase.PENDING);
  }

  private static AutomaticRestore with(AutomaticRestore back, RestorePhase phase) {
    return new AutomaticRestore(
        back.restore(),
        back.checkpoint(),
        back.pod(),
        back.podUid(),
        back.time(),
        back.reason(),
        back.skipped(),
        phase);
  }
}
