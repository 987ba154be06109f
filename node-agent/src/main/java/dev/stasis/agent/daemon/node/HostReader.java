package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.engine.NodeFactsReader;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.artifact.NodeFacts;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the machine's own properties from /proc and /sys. */
final class HostReader {

  private static final Pattern KERNEL = Pattern.compile("([0-9]+\\.[0-9]+).*");

  /** Without a criu nothing is offered; the format only requires some version. */
  private static final String NO_CRIU = "0";

  private final ProcFs proc;

  HostReader(ProcFs proc) {
    this.proc = proc;
  }

  /**
   * Reads the properties.
   *
   * @param criu version of the criu that works here
   */
  HostFacts read(NodeGpus gpus, Optional<String> criu) throws IOException {
    NodeFactsReader reader = new NodeFactsReader(proc.root(), criu.orElse(NO_CRIU));
    NodeFacts facts = reader.read(gpus);
    Fingerprint fingerprint = reader.host(facts);
    Matcher kernel = KERNEL.matcher(facts.kernel());
    if (kernel.matches()) {
      fingerprint = fingerprint.with(Property.KERNEL_VERSION, kernel.group(1));
    }
    if (criu.isEmpty()) {
      fingerprint = fingerprint.without(Property.CRIU_VERSION);
    }
    Object uid = Files.getAttribute(proc.root().resolve("self"), "unix:uid");
    return new HostFacts(
        proc.bootId(),
        fingerprint.value(Property.CPU_ARCHITECTURE).orElseThrow(),
        facts.cpuFeatures().stream().sorted().toList(),
        facts.kernel(),
        reader.hasTimeNamespaces(),
        Integer.parseInt(fingerprint.value(Property.CGROUP_VERSION).orElseThrow()),
        proc.memory("MemTotal")
            .orElseThrow(() -> new IOException("meminfo: expected a line MemTotal, got none")),
        Integer.valueOf(0).equals(uid),
        fingerprint.text());
  }
}
