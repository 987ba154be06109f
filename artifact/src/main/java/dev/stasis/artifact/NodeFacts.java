package dev.stasis.artifact;

import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The properties of the workload's node that affect a restore.
 *
 * @param hostname the node's own name
 * @param kernel the kernel release
 * @param architecture the kernel's name, for example {@code x86_64}
 * @param cpuFeatures CPU flags that a restored process may already depend on
 * @param criuVersion the criu that wrote the images
 * @param driverVersion the GPU driver, null without one
 * @param cudaVersion the result of cuDriverGetVersion (13000 is 13.0), null without a driver
 */
public record NodeFacts(
    String hostname,
    String kernel,
    String architecture,
    Set<String> cpuFeatures,
    String criuVersion,
    @Nullable String driverVersion,
    @Nullable Integer cudaVersion) {
  public NodeFacts {
    Objects.requireNonNull(hostname, "hostname");
    Objects.requireNonNull(kernel, "kernel");
    Objects.requireNonNull(architecture, "architecture");
    Objects.requireNonNull(criuVersion, "criuVersion");
    cpuFeatures = Collections.unmodifiableSet(new TreeSet<>(cpuFeatures));
  }
}
