package dev.stasis.agent.cli;

import dev.stasis.agent.engine.CudaProcess;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.engine.WorkJournal;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import picocli.CommandLine.Command;

/** Lists the frozen workloads of this node, from the journals alone. */
@Command(
    name = "frozen",
    description = {
      "Lists the frozen workloads of this node, with time, requester and used resources.",
      "Requires only the journals: no agent, API server, driver or criu."
    })
final class FrozenCommand extends NodeCommand {

  private final ProcFs proc = new ProcFs();

  FrozenCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException {
    List<Work> all = new WorkJournal(stateDir()).all();
    List<Map<String, Object>> frozen = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    Table table = new Table("CONTAINER", "STATE", "SINCE", "AGO", "FOR", "HELD", "NEXT");
    for (Work work : all) {
      Seen seen = see(work);
      frozen.add(json(work, seen));
      table.row(
          CheckpointAnswer.shortId(work.containerId()),
          seen.state(),
          work.since().truncatedTo(ChronoUnit.SECONDS).toString(),
          new Span(age(work)).toString(),
          work.owner(),
          held(work),
          seen.next());
    }
    if (all.isEmpty()) {
      lines.add("no frozen workloads on this node");
    } else {
      lines.addAll(table.lines());
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("frozen", frozen);
    return new Report(ExitCode.DONE, json, lines, List.of());
  }

  /** State read from the machine in addition to a journal. */
  private record Seen(String state, OptionalInt agent, boolean alive, String next) {}

  private Seen see(Work work) throws IOException {
    OptionalInt agent =
        new LockHolder(proc.root().resolve("locks"), stateDir()).of(work.containerId());
    boolean sameBoot = work.bootId().equals(proc.bootId());
    boolean alive = sameBoot && proc.alive(work.init());
    String id = CheckpointAnswer.shortId(work.containerId());
    String thaw = "stasis-node thaw " + id;
    if (work.phase() == Work.Phase.UNKNOWN) {
      return new Seen(phase(work), agent, true, "read work.json: " + work.owner());
    }
    if (!sameBoot) {
      return new Seen("lost by a reboot", agent, false, thaw + " (closes the journal)");
    }
    if (agent.isPresent()) {
      return new Seen(
          phase(work), agent, alive, "wait: process " + agent.getAsInt() + " is using it");
    }
    if (!alive) {
      return new Seen("has ended", agent, false, thaw + " (closes the journal)");
    }
    return new Seen(
        work.phase() == Work.Phase.WORKING ? "interrupted " + what(work) : phase(work),
        agent,
        true,
        switch (work.phase()) {
          case HELD ->
              work.mayRunElsewhere()
                  ? "a copy may run elsewhere: stasis-node end %s, or %s".formatted(id, thaw)
                  : thaw + " or: stasis-node end " + id;
          case ENDING -> thaw + " (ends the remaining processes)";
          case WORKING ->
              work.kind() == Work.Kind.RESTORE ? thaw + " (ends the restored processes)" : thaw;
          default -> thaw;
        });
  }

  private static String what(Work work) {
    return work.kind() == Work.Kind.RESTORE ? "restore" : "freeze";
  }

  private static String phase(Work work) {
    return switch (work.phase()) {
      case WORKING -> work.kind() == Work.Kind.RESTORE ? "being restored" : "being frozen";
      case PUBLISHING -> "running, being saved";
      case SUSPENDED -> "suspended";
      case HELD -> "saved and held";
      case ENDING -> "being ended";
      case UNKNOWN -> "unknown";
    };
  }

  private Duration age(Work work) {
    Duration age = Duration.between(work.since(), environment().clock().instant());
    return age.isNegative() ? Duration.ZERO : age;
  }

  /** The claim on GPUs, and the host memory or disk space of a stage. */
  private static String held(Work work) {
    List<String> held = new ArrayList<>();
    claims(work)
        .forEach(
            (gpu, bytes) ->
                held.add(new Bytes(bytes) + " of " + gpu.substring(0, Math.min(12, gpu.length()))));
    if (work.stage() != null) {
      held.add("stage " + work.stage());
    }
    return held.isEmpty() ? "-" : String.join(", ", held);
  }

  private static Map<String, Long> claims(Work work) {
    Map<String, Long> claims = new TreeMap<>();
    for (CudaProcess process : work.cuda()) {
      process.deviceBytes().forEach((gpu, bytes) -> claims.merge(gpu.text(), bytes, Long::sum));
    }
    return claims;
  }

  private Map<String, Object> json(Work work, Seen seen) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("container", work.containerId());
    json.put("operation", work.id());
    json.put("kind", Answers.word(work.kind().name()));
    json.put("phase", Answers.word(work.phase().name()));
    json.put("state", seen.state());
    json.put("mayRunElsewhere", work.mayRunElsewhere());
    json.put("owner", work.owner());
    json.put("since", work.since().toString());
    json.put("ageMilliseconds", age(work).toMillis());
    json.put("alive", seen.alive());
    json.put("agentPid", seen.agent().isPresent() ? seen.agent().getAsInt() : null);
    json.put("pid", work.init().pid());
    json.put(
        "processes",
        work.cuda().stream()
            .map(
                process -> {
                  Map<String, Object> one = new LinkedHashMap<>();
                  one.put("pid", process.process().pid());
                  one.put("startTime", process.process().startTime());
                  one.put("gpuBytes", process.totalBytes());
                  return one;
                })
            .toList());
    json.put("claimedBytes", claims(work));
    json.put("stage", work.stage());
    json.put("artifact", work.artifact());
    json.put("regionJournals", work.regionJournals());
    json.put("journal", Path.of("work", work.containerId(), "work.json").toString());
    json.put("next", seen.next());
    return json;
  }

  /**
   * Finds the process that holds a lock of the state folder, in the kernel's list. Taking the lock
   * instead would fail a process that needs it at this moment.
   *
   * @param locks usually {@code /proc/locks}
   * @param stateDir the node's state folder
   */
  record LockHolder(Path locks, Path stateDir) {

    /** Returns the pid of the process that acts on the container; empty if there is none. */
    OptionalInt of(String containerId) throws IOException {
      Path file = stateDir.resolve("locks").resolve(containerId + ".lock");
      if (!Files.exists(file) || !Files.exists(locks)) {
        return OptionalInt.empty();
      }
      String inode = ":" + Files.getAttribute(file, "unix:ino");
      // 3: POSIX  ADVISORY  WRITE 1234 00:1b:56789 0 EOF
      return Files.readAllLines(locks).stream()
          .map(line -> line.trim().split("\\s+"))
          .filter(
              words -> words.length >= 6 && words[5].endsWith(inode) && words[4].matches("[0-9]+"))
          .mapToInt(words -> Integer.parseInt(words[4]))
          .findFirst();
    }
  }
}
