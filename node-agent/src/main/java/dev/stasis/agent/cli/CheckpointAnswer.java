package dev.stasis.agent.cli;

import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.artifact.ArtifactStage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reports the result of a checkpoint. */
record CheckpointAnswer(String asked) {

  Report report(CheckpointOutcome outcome) {
    if (outcome instanceof CheckpointOutcome.Published published) {
      return done(
          "Published",
          "checkpointed; the workload keeps running",
          published.artifact(),
          published.figures(),
          List.of());
    }
    if (outcome instanceof CheckpointOutcome.Held held) {
      return done(
          "Held",
          "checkpointed; the workload is frozen",
          held.artifact(),
          held.figures(),
          List.of(
              "end it when it is no longer needed:  stasis-node end " + shortId(held.containerId()),
              "or resume it:                        stasis-node thaw "
                  + shortId(held.containerId())));
    }
    if (outcome instanceof CheckpointOutcome.Suspended suspended) {
      return suspended(suspended);
    }
    if (outcome instanceof CheckpointOutcome.Refused refused) {
      return Answers.refused(refused.unmet());
    }
    return failed((CheckpointOutcome.Failed) outcome);
  }

  private Report done(
      String word,
      String sentence,
      ArtifactStage.SealedArtifact artifact,
      CheckpointOutcome.Figures figures,
      List<String> next) {
    Map<String, Object> json = begin(word);
    Map<String, Object> stored = new LinkedHashMap<>();
    stored.put("path", artifact.path().toString());
    stored.put("digest", artifact.sha256());
    stored.put("storedBytes", artifact.manifest().sizes().bytes());
    json.put("artifact", stored);
    figures(json, figures);
    List<String> lines = new ArrayList<>();
    lines.add("container " + shortId(asked) + " " + sentence);
    lines.add("");
    lines.add("artifact   " + artifact.path());
    lines.add("digest     " + artifact.sha256());
    lines.add(
        "size       "
            + new Bytes(artifact.manifest().sizes().bytes())
            + ", of "
            + new Bytes(figures.gpuBytes())
            + " GPU memory");
    if (!figures.frozen().isZero()) {
      lines.add("frozen     " + new Span(figures.frozen()));
    }
    lines.add("data path  " + figures.path());
    lines.add("");
    lines.addAll(Answers.stepTable(figures.timings()));
    if (!next.isEmpty()) {
      lines.add("");
      lines.addAll(next);
    }
    return new Report(ExitCode.DONE, json, lines, List.of());
  }

  private Report suspended(CheckpointOutcome.Suspended suspended) {
    Map<String, Object> json = begin("Suspended");
    json.put("containerId", suspended.containerId());
    json.put("freedBytes", suspended.freedBytes());
    figures(json, suspended.figures());
    List<String> lines = new ArrayList<>();
    lines.add(
        "container "
            + shortId(asked)
            + " suspended; "
            + new Bytes(suspended.freedBytes())
            + " of GPU memory were freed");
    lines.add("");
    lines.addAll(Answers.stepTable(suspended.figures().timings()));
    lines.add("");
    lines.add("resume it:  stasis-node thaw " + shortId(suspended.containerId()));
    return new Report(ExitCode.DONE, json, lines, List.of());
  }

  private Report failed(CheckpointOutcome.Failed failed) {
    Map<String, Object> json = begin("Failed");
    json.put("step", failed.step());
    json.put("reason", failed.reason().value());
    json.put("message", failed.message());
    json.put("source", Answers.source(failed.source()));
    figures(json, failed.figures());
    List<String> errors = new ArrayList<>();
    errors.add(
        "stasis-node: checkpoint failed in step %s (%s): %s"
            .formatted(failed.step(), failed.reason().value(), failed.message()));
    errors.add(
        switch (failed.source().kind()) {
          case RUNNING -> "  rolled back: the workload runs";
          case GONE -> "  the workload has ended: " + failed.source().detail();
          case FROZEN, UNKNOWN ->
              "  the workload is %s: %s; next: stasis-node frozen, then stasis-node thaw %s"
                  .formatted(
                      failed.source().kind() == SourceState.Kind.FROZEN
                          ? "frozen"
                          : "in an unknown state",
                      failed.source().detail(),
                      shortId(asked));
        });
    return new Report(codeOf(failed.source()), json, List.of(), errors);
  }

  /** The consequences of the workload's state after a failure for the caller. */
  static ExitCode codeOf(SourceState state) {
    return switch (state.kind()) {
      case RUNNING -> ExitCode.FAILED;
      case GONE -> ExitCode.GONE;
      case FROZEN, UNKNOWN -> ExitCode.ACT;
    };
  }

  private Map<String, Object> begin(String outcome) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("outcome", outcome);
    json.put("container", asked);
    return json;
  }

  private static void figures(Map<String, Object> json, CheckpointOutcome.Figures figures) {
    json.put("gpuBytes", figures.gpuBytes());
    json.put("frozenMilliseconds", figures.frozen().toMillis());
    json.put("dataPath", figures.path());
    json.put("steps", Answers.steps(figures.timings()));
  }

  /** The length of ids in container tools. */
  static String shortId(String id) {
    return id.matches("[0-9a-f]{64}") ? id.substring(0, 12) : id;
  }
}
