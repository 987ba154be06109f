package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.DriverWorker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Tells whether this node can freeze GPU containers and bring them back. */
@Command(
    name = "check",
    description = "Tells whether this node can freeze GPU containers, and what to do if it cannot.")
final class CheckCommand extends NodeCommand {

  @Mixin private final EngineOptions engine = new EngineOptions();

  @Option(
      names = "--store",
      paramLabel = "DIR",
      description = "Measure the disk of this store too; 256 MiB are written and taken away")
  private @Nullable Path store;

  CheckCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException, InterruptedException {
    List<Finding> findings = new ArrayList<>(new NodeChecks(engine, stateDir()).run());
    try (DriverWorker worker = worker()) {
      findings.addAll(new DriverChecks(worker).run());
    }
    SpeedChecks speed = new SpeedChecks();
    findings.add(speed.memory(engine.memoryStage()));
    if (store == null) {
      findings.add(
          new Finding("disk speed", Finding.Mark.NOTE, "not measured", "give --store DIR"));
    } else {
      findings.add(speed.disk(store));
    }
    return tell(findings);
  }

  /** The answer. */
  static Report tell(List<Finding> findings) {
    Table table = new Table("CHECK", "", "FOUND");
    List<Map<String, Object>> checks = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    int bad = 0;
    for (Finding finding : findings) {
      table.row(finding.name(), finding.mark().word(), finding.found());
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("check", finding.name());
      one.put("result", finding.mark().word());
      one.put("found", finding.found());
      one.put("advice", finding.advice().isEmpty() ? null : finding.advice());
      checks.add(one);
      bad += finding.mark() == Finding.Mark.BAD ? 1 : 0;
    }
    List<String> rows = table.lines();
    lines.add(rows.get(0));
    for (int i = 0; i < findings.size(); i++) {
      lines.add(rows.get(i + 1));
      if (!findings.get(i).advice().isEmpty()) {
        lines.add("    -> " + findings.get(i).advice());
      }
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("good", bad == 0);
    json.put("checks", checks);
    List<String> errors =
        bad == 0 ? List.of() : List.of("stasis-node: this node cannot work: " + bad + " bad");
    return new Report(bad == 0 ? ExitCode.DONE : ExitCode.FAILED, json, lines, errors);
  }
}
