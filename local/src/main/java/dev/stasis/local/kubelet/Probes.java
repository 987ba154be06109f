package dev.stasis.local.kubelet;

import dev.stasis.local.host.HostProgram;
import dev.stasis.local.runc.Runc;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Probe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The probes of one running container. They run commands in it; other kinds are refused before. */
final class Probes {

  private final Container spec;
  private final String id;
  private final Runc runc;
  private final ScheduledExecutorService scheduler;
  private final Runnable changed;
  private final List<ScheduledFuture<?>> running = new ArrayList<>();
  private volatile boolean started;
  private volatile boolean ready;
  private volatile @Nullable String unhealthy;

  Probes(
      Container spec, String id, Runc runc, ScheduledExecutorService scheduler, Runnable changed) {
    this.spec = spec;
    this.id = id;
    this.runc = runc;
    this.scheduler = scheduler;
    this.changed = changed;
  }

  /** Refuses kinds that this kubelet does not support. */
  static void check(Container spec) throws PodRefusal {
    for (Probe probe : all(spec)) {
      if (probe.getExec() == null) {
        throw PodRefusal.notHere("container " + spec.getName() + ": a probe by HTTP, TCP or gRPC");
      }
    }
  }

  private static List<Probe> all(Container spec) {
    List<Probe> probes = new ArrayList<>();
    for (Probe probe :
        new Probe[] {spec.getStartupProbe(), spec.getReadinessProbe(), spec.getLivenessProbe()}) {
      if (probe != null) {
        probes.add(probe);
      }
    }
    return probes;
  }

  synchronized void start() {
    if (spec.getStartupProbe() == null) {
      nowStarted();
    } else {
      Counter counter = new Counter(spec.getStartupProbe());
      schedule(spec.getStartupProbe(), () -> startup(counter));
    }
  }

  synchronized void stop() {
    running.forEach(future -> future.cancel(false));
    running.clear();
  }

  boolean started() {
    return started;
  }

  boolean ready() {
    return ready;
  }

  /** Returns why the container must be killed. */
  Optional<String> unhealthy() {
    return Optional.ofNullable(unhealthy);
  }

  private void startup(Counter counter) {
    if (started) {
      return;
    }
    counter.probe();
    if (counter.succeeded()) {
      stop();
      nowStarted();
    } else if (counter.failed()) {
      unhealthy = "startup probe failed";
    }
    changed.run();
  }

  private synchronized void nowStarted() {
    started = true;
    ready = spec.getReadinessProbe() == null;
    if (spec.getReadinessProbe() != null) {
      Counter counter = new Counter(spec.getReadinessProbe());
      schedule(spec.getReadinessProbe(), () -> readiness(counter));
    }
    if (spec.getLivenessProbe() != null) {
      Counter counter = new Counter(spec.getLivenessProbe());
      schedule(spec.getLivenessProbe(), () -> liveness(counter));
    }
  }

  private void readiness(Counter counter) {
    counter.probe();
    boolean before = ready;
    ready = ready ? !counter.failed() : counter.succeeded();
    if (ready != before) {
      changed.run();
    }
  }

  private void liveness(Counter counter) {
    counter.probe();
    if (counter.failed()) {
      unhealthy = "liveness probe failed";
      changed.run();
    }
  }

  private void schedule(Probe probe, Runnable tick) {
    running.add(
        scheduler.scheduleWithFixedDelay(
            tick,
            Objects.requireNonNullElse(probe.getInitialDelaySeconds(), 0),
            Objects.requireNonNullElse(probe.getPeriodSeconds(), 10),
            TimeUnit.SECONDS));
  }

  /** Consecutive successes and failures. */
  private final class Counter {
    private final Probe probe;
    private int successes;
    private int failures;

    private Counter(Probe probe) {
      this.probe = probe;
    }

    private void probe() {
      Duration limit = Duration.ofSeconds(Objects.requireNonNullElse(probe.getTimeoutSeconds(), 1));
      boolean well =
          runc.exec(id, probe.getExec().getCommand(), limit) instanceof HostProgram.Result.Ended end
              && end.code() == 0;
      successes = well ? successes + 1 : 0;
      failures = well ? 0 : failures + 1;
    }

    private boolean succeeded() {
      return successes >= Objects.requireNonNullElse(probe.getSuccessThreshold(), 1);
    }

    private boolean failed() {
      return failures >= Objects.requireNonNullElse(probe.getFailureThreshold(), 3);
    }
  }
}
