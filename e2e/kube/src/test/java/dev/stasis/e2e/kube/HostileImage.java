package dev.stasis.e2e.kube;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/**
 * The workload's image with a program of its own in every place where criu once looked for one.
 * Each leaves a file {@code /run/ran-NAME}, and {@code NAME.ran} beside itself where it may.
 */
final class HostileImage {

  /** Exchanges folders below the one that it is given. */
  static final String EXCHANGE = "/bin/exchange";

  private static final String NAME = "stasis.test/hostile:e2e";

  private static final List<String> PROGRAMS =
      List.of(
          "iptables",
          "ip6tables",
          "iptables-restore",
          "nft",
          "ip",
          "sh",
          "tar",
          "cp",
          "modprobe",
          "criu");

  private static final List<String> PLACES = List.of("bin", "sbin", "usr/bin", "usr/sbin");

  private HostileImage() {}

  /** Loads it into the nodes and returns its name; skips the test where they run elsewhere. */
  static String load(Path folder) throws IOException {
    Checkout checkout = Checkout.ofThisBuild();
    List<LocalNode> nodes = LocalNode.fromEnvironment(System.getenv(), checkout);
    Assumptions.assumeFalse(
        nodes.isEmpty(), "skipped: the image is loaded only into nodes of this machine");
    Shell shell = new Shell();
    Path mark = compiled(shell, checkout.root().resolve("node-agent/src/test/c/mark.c"), folder);
    Map<String, Path> programs = new HashMap<>();
    for (String place : PLACES) {
      PROGRAMS.forEach(program -> programs.put(place + "/" + program, mark));
    }
    programs.put(
        EXCHANGE.substring(1),
        compiled(shell, checkout.root().resolve("e2e/kube/src/test/c/exchange.c"), folder));
    Path busybox = Path.of(shell.must("sh", "-c", "command -v busybox").strip());
    Path tar =
        new WorkloadImage(
                checkout, Files.createDirectories(folder.resolve("image")), NAME, programs)
            .write(busybox);
    shell.must(nodes.get(0).kube(), "load", tar.toString());
    return NAME;
  }

  private static Path compiled(Shell shell, Path source, Path folder) {
    Path program = folder.resolve(source.getFileName().toString().replace(".c", ""));
    shell.must("gcc", "-O2", "-Wall", "-static", "-o", program.toString(), source.toString());
    return program;
  }
}
