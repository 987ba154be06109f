package dev.stasis.e2e.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.engine.CheckpointRequest.Tcp;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.engine.OperationControl;
import dev.stasis.agent.engine.RestoreOutcome;
import dev.stasis.agent.engine.RestoreRequest;
import dev.stasis.agent.engine.StageListener;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.StepTimings;
import dev.stasis.agent.preflight.FailedRequirement;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;

/** Checkpoints and restores, each with the caller's total time. */
final class EngineRuns {

  /** 48 GB through criu took 35 s on the machine of the measurements. */
  private static final Duration LIMIT = Duration.ofMinutes(4);

  private final NodeEngine engine;
  private final Clock clock;
  private final int threads;

  EngineRuns(NodeEngine engine, Clock clock, int threads) {
    this.engine = engine;
    this.clock = clock;
    this.threads = threads;
  }

  /**
   * A checkpoint.
   *
   * @param stages receives the files that are final
   */
  void checkpoint(JsonNode asked, ObjectNode answer, StageListener stages)
      throws InterruptedException {
    CheckpointRequest request =
        new CheckpointRequest(
            UUID.randomUUID().toString(),
            asked.path("name").asText(),
            "benchmark",
            null,
            asked.path("container").asText(),
            Path.of(asked.path("store").asText()),
            After.valueOf(upper(asked, "after")),
            new CheckpointRequest.Options(
                Duration.ofSeconds(30),
                StagePlace.valueOf(upper(asked, "stage")),
                DataPathChoice.valueOf(upper(asked, "path")),
                Tcp.KEEP,
                asked.path("thp").asBoolean(),
                false,
                threads,
                asked.path("later").asBoolean(),
                false),
            null,
            Set.of());
    long begin = System.nanoTime();
    CheckpointOutcome outcome =
        engine
            .checkpoint()
            .run(request, OperationControl.within(clock, LIMIT), StepListener.NONE, stages);
    took(begin, answer);
    if (outcome instanceof CheckpointOutcome.Published published) {
      answer.put("outcome", "Published").put("artifact", published.artifact().path().toString());
      figures(published.figures(), answer);
    } else if (outcome instanceof CheckpointOutcome.Held held) {
      answer.put("outcome", "Held").put("artifact", held.artifact().path().toString());
      figures(held.figures(), answer);
    } else if (outcome instanceof CheckpointOutcome.Suspended suspended) {
      answer.put("outcome", "Suspended");
      figures(suspended.figures(), answer);
    } else if (outcome instanceof CheckpointOutcome.Refused refused) {
      refused(refused.unmet(), answer);
    } else if (outcome instanceof CheckpointOutcome.Failed failed) {
      answer
          .put("outcome", "Failed")
          .put("message", failed.step() + ": " + failed.message() + "; " + failed.source());
      figures(failed.figures(), answer);
    }
  }

  void restore(JsonNode asked, ObjectNode answer) throws InterruptedException {
    RestoreRequest request =
        new RestoreRequest(
            UUID.randomUUID().toString(),
            "benchmark",
            null,
            Path.of(asked.path("artifact").asText()),
            null,
            asked.path("target").asText(),
            new RestoreRequest.Options(Tcp.CLOSE, Duration.ofSeconds(30), threads));
    long begin = System.nanoTime();
    RestoreOutcome outcome =
        engine.restore().run(request, OperationControl.within(clock, LIMIT), StepListener.NONE);
    took(begin, answer);
    if (outcome instanceof RestoreOutcome.Proven proven) {
      answer.put("outcome", "Proven").put("gpuBytes", proven.gpuBytes());
      timings(proven.timings(), answer);
    } else if (outcome instanceof RestoreOutcome.Refused refused) {
      refused(refused.unmet(), answer);
    } else if (outcome instanceof RestoreOutcome.Failed failed) {
      answer.put("outcome", "Failed").put("message", failed.step() + ": " + failed.message());
      timings(failed.timings(), answer);
    }
  }

  void end(String container, ObjectNode answer) throws InterruptedException {
    answer.put("outcome", engine.evicted().end(container).toString());
  }

  /** Resumes the workloads in progress, or ends those that were being restored. */
  void thawAll() throws InterruptedException {
    List<String> containers =
        engine.thaw().inHand().stream().map(work -> work.containerId()).toList();
    for (String container : containers) {
      engine.thaw().run(container, StepListener.NONE);
    }
  }

  private static void took(long begin, ObjectNode answer) {
    answer.put("millis", millis(Duration.ofNanos(System.nanoTime() - begin)));
  }

  private static void figures(CheckpointOutcome.Figures figures, ObjectNode answer) {
    answer.put("frozen", millis(figures.frozen()));
    answer.put("path", figures.path());
    answer.put("gpuBytes", figures.gpuBytes());
    timings(figures.timings(), answer);
  }

  private static void timings(StepTimings timings, ObjectNode answer) {
    ObjectNode steps = answer.putObject("timings");
    timings.asMap().forEach((step, took) -> steps.put(step, millis(took)));
  }

  private static void refused(List<FailedRequirement> unmet, ObjectNode answer) {
    answer.put("outcome", "Refused").put("message", unmet.toString());
  }

  private static double millis(Duration duration) {
    return duration.toNanos() / 1e6;
  }

  private static String upper(JsonNode asked, String field) {
    return asked.path(field).asText().toUpperCase(Locale.ROOT);
  }
}
