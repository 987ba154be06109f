package dev.stasis.artifact;

import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The node under the workload, as far as a restore depends on it.
 *
 * @param hostname the node's own name
 * @param kernel the kernel's release
 * @param architecture as the kernel names it, for example {@code x86_64}
 * @param cpuFeatures the flags of the CPU that a restored process may have decided to use
 * @param criuVersion the criu that wrote the images
 * @param driverVersion the GPU driver, null without one
 * @param cudaVersion what cuDriverGetVersion says (13000 is 13.0), null without a driver
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
