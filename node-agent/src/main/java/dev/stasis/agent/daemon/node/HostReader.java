package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.engine.NodeFactsReader;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.v1beta1.node.NodeHost;
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

  /** Reads the properties, except the container runtime. */
  NodeHost read(NodeGpus gpus, Optional<String> criu) throws IOException {
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
    NodeHost host = new NodeHost();
    host.setBootId(proc.bootId());
    host.setArchitecture(fingerprint.value(Property.CPU_ARCHITECTURE).orElseThrow());
    host.setCpuFeatures(facts.cpuFeatures().stream().sorted().toList());
    host.setKernel(facts.kernel());
    host.setTimeNamespaces(reader.hasTimeNamespaces());
    host.setCgroupVersion(
        Integer.valueOf(fingerprint.value(Property.CGROUP_VERSION).orElseThrow()));
    host.setCriu(criu.orElse(null));
    host.setDriver(gpus.driverVersion().isEmpty() ? null : gpus.driverVersion());
    int cuda = gpus.cudaVersion();
    host.setCuda(cuda == 0 ? null : cuda / 1000 + "." + cuda % 1000 / 10);
    host.setMemoryBytes(
        proc.memory("MemTotal")
            .orElseThrow(() -> new IOException("meminfo: expected a line MemTotal, got none")));
    host.setFingerprint(fingerprint.text());
    return host;
  }

  boolean isRoot() throws IOException {
    return Integer.valueOf(0).equals(Files.getAttribute(proc.root().resolve("self"), "unix:uid"));
  }
}
