package dev.stasis.e2e.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.WorkerSettings;
import dev.stasis.agent.direct.KeeperSettings;
import dev.stasis.agent.engine.EngineSettings;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.engine.StageListener;
import dev.stasis.agent.process.ProcFs;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;

/**
 * Reads requests from standard input, one JSON object per line, and answers each with one. When the
 * input ends, workloads that are still frozen are thawed.
 */
public final class EngineBench {

  private static final String USAGE =
      "usage: EngineBench STATE_DIR MEMORY_STAGE CRIU_DIR STASIS_RUNTIME CRIU CRIU_VERSION THREADS";

  private final ObjectMapper json = new ObjectMapper();
  private final EngineRuns runs;
  private final StreamRuns streams;
  private final DriverCallTimes calls;

  private EngineBench(EngineRuns runs, StreamRuns streams, DriverCallTimes calls) {
    this.runs = runs;
    this.streams = streams;
    this.calls = calls;
  }

  /** Runs until standard input ends. */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args.length != 7) {
      System.err.println(USAGE);
      System.exit(2);
    }
    PrintStream answers = System.out;
    // A logger on standard output would mix its lines with the answers.
    System.setOut(System.err);
    Path state = Path.of(args[0]);
    int threads = Integer.parseInt(args[6]);
    EngineSettings settings =
        new EngineSettings(
            state,
            Path.of(args[1]),
            Path.of(args[2]),
            Path.of(args[3]),
            Path.of(args[4]),
            args[5],
            threads,
            false,
            KeeperSettings.of(KeeperSettings.PROGRAM));
    Clock clock = Clock.systemUTC();
    try (DriverWorker worker = new DriverWorker(WorkerSettings.here(state))) {
      NodeEngine engine = new NodeEngine(settings, worker, clock);
      engine.settleAbandoned();
      EngineRuns runs = new EngineRuns(engine, clock, threads);
      new EngineBench(runs, new StreamRuns(clock), new DriverCallTimes(worker, new ProcFs()))
          .serve(answers);
      runs.thawAll();
    }
  }

  private void serve(PrintStream out) throws IOException, InterruptedException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      ObjectNode answer = json.createObjectNode();
      try {
        answer(json.readTree(line), answer);
      } catch (IOException | RuntimeException e) {
        answer.put("outcome", "Fault").put("message", e.toString());
      }
      out.println(answer);
      out.flush();
    }
  }

  private void answer(JsonNode asked, ObjectNode answer) throws IOException, InterruptedException {
    switch (asked.path("do").asText()) {
      case "checkpoint" -> runs.checkpoint(asked, answer, StageListener.NONE);
      case "checkpoint-and-send" -> ahead(asked, answer);
      case "restore" -> runs.restore(asked, answer);
      case "end" -> runs.end(asked.path("container").asText(), answer);
      case "send" -> streams.send(asked, answer);
      case "copy" -> streams.copy(asked, answer);
      case "state" -> calls.state(asked.path("pid").asInt(), asked.path("calls").asInt(), answer);
      case "gpus" -> calls.gpus(answer);
      default ->
          throw new IllegalArgumentException(
              "do: expected one of "
                  + List.of(
                      "checkpoint",
                      "checkpoint-and-send",
                      "restore",
                      "end",
                      "send",
                      "copy",
                      "state",
                      "gpus")
                  + ", got "
                  + asked.path("do"));
    }
  }

  /** As in a GpuMigration: finished files are sent while the rest is written. */
  private void ahead(JsonNode asked, ObjectNode answer) throws IOException, InterruptedException {
    try (AheadRun ahead =
        new AheadRun(
            Clock.systemUTC(),
            Path.of(asked.path("to").asText()),
            asked.path("name").asText(),
            asked.path("streams").asInt())) {
      long begin = System.nanoTime();
      runs.checkpoint(asked, answer, ahead);
      if (answer.path("outcome").asText().equals("Held")) {
        answer.put("received", ahead.finish(Path.of(answer.path("artifact").asText())).toString());
        answer.put("total", (System.nanoTime() - begin) / 1e6);
      }
    }
  }
}
