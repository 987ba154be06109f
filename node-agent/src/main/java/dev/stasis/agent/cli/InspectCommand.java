package dev.stasis.agent.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Hardware;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.ProcessFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows an artifact's manifest, and verifies its content. */
@Command(name = "inspect", description = "Shows an artifact; --verify reads and checks all of it.")
final class InspectCommand extends NodeCommand {

  @Parameters(paramLabel = "ARTIFACT", description = "The artifact's folder")
  private Path folder = Path.of(".");

  @Option(names = "--verify", description = "Read every byte and compare every digest")
  private boolean verify;

  InspectCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException {
    Opened opened;
    try (ProgressLine line = new ProgressLine(console(), System::nanoTime)) {
      ArtifactReader reader =
          new ArtifactReader((done, total) -> line.progress("verify", done, total));
      Path path = folder.toAbsolutePath().normalize();
      opened = verify ? reader.open(path, null) : reader.inspect(path);
    }
    if (opened instanceof Opened.Refused refused) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("outcome", "Refused");
      json.put("kind", refused.kind().name());
      json.put("property", refused.property());
      json.put("wanted", refused.wanted());
      json.put("found", refused.found());
      return new Report(
          ExitCode.REFUSED, json, List.of(), List.of("stasis-node: refused: " + refused.message()));
    }
    return tell(((Opened.Verified) opened).artifact());
  }

  private Report tell(Artifact artifact) throws IOException {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("path", artifact.path().toString());
    json.put("digest", artifact.sha256());
    json.put("verified", verify);
    json.put(
        "manifest",
        new ObjectMapper()
            .readTree(Files.readAllBytes(artifact.path().resolve(Manifest.FILE_NAME))));
    return new Report(ExitCode.DONE, json, lines(artifact), List.of());
  }

  private List<String> lines(Artifact artifact) {
    Manifest manifest = artifact.manifest();
    List<String> lines = new ArrayList<>();
    lines.add("artifact   " + artifact.path());
    lines.add(
        "digest     "
            + artifact.sha256()
            + (verify
                ? ", every byte verified"
                : ", only the manifest verified (--verify reads all files)"));
    lines.add(
        "made       %s on %s for %s, by %s"
            .formatted(
                manifest.origin().created(),
                manifest.node().hostname(),
                manifest.origin().owner(),
                manifest.origin().toolVersion()));
    lines.add(
        "size       %s, of %s GPU memory"
            .formatted(
                new Bytes(manifest.sizes().bytes()), new Bytes(manifest.sizes().gpuBytes())));
    lines.add(
        "data path  %s: %s"
            .formatted(Answers.word(manifest.dataPath().kind().name()), manifest.dataPath().why()));
    lines.add(
        "needs      kernel %s, criu %s, driver %s, %s"
            .formatted(
                manifest.node().kernel(),
                manifest.node().criuVersion(),
                manifest.node().driverVersion(),
                manifest.node().architecture()));
    Manifest.Image image = manifest.image();
    if (image != null) {
      lines.add("image      " + image.reference() + " " + image.digest());
    }
    for (Hardware.Gpu gpu : manifest.hardware().gpus()) {
      lines.add(
          "GPU %d      %s, %s, %s"
              .formatted(gpu.order(), gpu.model(), new Bytes(gpu.memoryBytes()), gpu.uuid()));
    }
    lines.add("");
    Table processes = new Table("PID", "GPU MEMORY", "COMMAND");
    for (ProcessFacts process : manifest.processes()) {
      long bytes = process.gpuBytes().values().stream().mapToLong(Long::longValue).sum();
      processes.row(
          Integer.toString(process.ownPid()),
          process.cuda() ? new Bytes(bytes).toString() : "-",
          String.join(" ", process.command()));
    }
    lines.addAll(processes.lines());
    lines.add("");
    Table steps = new Table("STEP", "TIME");
    new TreeMap<>(manifest.timings())
        .forEach((step, millis) -> steps.row(step, new Span(Duration.ofMillis(millis)).toString()));
    lines.addAll(steps.lines());
    return lines;
  }
}
