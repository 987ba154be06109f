package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.common.Hooks;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs the hooks of one freeze. Those after it run once, even if the freeze failed. */
final class FreezeHooks {

  private final HookRunner runner;
  private final @Nullable Hooks hooks;
  private final PodLookup.Place place;
  private final Clock clock;
  private final Executor executor;
  private final AtomicReference<@Nullable CompletableFuture<HookRunner.Ran>> after =
      new AtomicReference<>();
  private volatile HookRunner.Ran before = new HookRunner.Ran(List.of(), false);
  private volatile Duration took = Duration.ZERO;

  FreezeHooks(AgentParts parts, @Nullable Hooks hooks, PodLookup.Place place, Executor executor) {
    this.runner = new HookRunner(parts.exec());
    this.hooks = hooks;
    this.place = place;
    this.clock = parts.clock();
    this.executor = executor;
  }

  /** Runs the hooks before the freeze; cancel and deadline of the operation end them. */
  HookRunner.Ran before(ActiveOperation operation) throws InterruptedException {
    if (hooks == null) {
      return before;
    }
    long begin = System.nanoTime();
    before =
        runner.run(
            hooks.before(),
            "before",
            place,
            new HookRunner.Limit(clock, operation.deadline(), operation.cancelled()));
    took = Duration.ofNanos(System.nanoTime() - begin);
    return before;
  }

  /** Returns the duration of the hooks before the freeze. */
  Duration took() {
    return took;
  }

  /** Starts the hooks after the freeze; a second call has no effect. */
  void beginAfter() {
    CompletableFuture<HookRunner.Ran> first = new CompletableFuture<>();
    if (after.compareAndSet(null, first)) {
      first.completeAsync(this::afterwards, executor);
    }
  }

  /**
   * Waits for the hooks after the freeze, which have a time limit; returns the failures of all
   * hooks.
   */
  List<String> failures() {
    List<String> failures = new ArrayList<>(before.failures());
    CompletableFuture<HookRunner.Ran> running = after.get();
    if (running != null) {
      failures.addAll(running.join().failures());
    }
    return failures;
  }

  private HookRunner.Ran afterwards() {
    try {
      return runner.run(
          hooks == null ? null : hooks.after(), "after", place, HookRunner.Limit.after(clock));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new HookRunner.Ran(List.of("hooks after the freeze: the agent is stopping"), false);
    }
  }
}
