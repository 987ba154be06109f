package dev.stasis.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class PropertyTest {
  /** Each line: property, wanted, found, and the sentence of the mismatch, if there is one. */
  @ParameterizedTest(name = "{0}: expected {1}, got {2}")
  @CsvSource(
      nullValues = "-",
      value = {
        "CPU_ARCHITECTURE, amd64, amd64, -",
        "CPU_ARCHITECTURE, amd64, arm64, 'cpu.architecture: expected amd64, got arm64'",
        "CPU_FEATURES, avx avx2, avx avx2, -",
        "CPU_FEATURES, avx avx2, avx2 sse4_1 avx, -",
        "CPU_FEATURES, avx avx2 amx_tile, avx, 'cpu.features: expected amx_tile avx2, not found'",
        "CGROUP_VERSION, 2, 2, -",
        "CGROUP_VERSION, 2, 1, 'kernel.cgroupVersion: expected 2, got 1'",
        "CGROUP_VERSION, 1, 2, 'kernel.cgroupVersion: expected 1, got 2'",
        "CRIU_VERSION, 4.2.1, 4.2.1, -",
        "CRIU_VERSION, 4.2.1, 4.10, -",
        "CRIU_VERSION, 4.2, 4.2.0, -",
        "CRIU_VERSION, 4.2.0, 4.2, -",
        "CRIU_VERSION, 4.2.1, 4.2, 'criu.version: expected at least 4.2.1, got 4.2'",
        "CRIU_VERSION, 4.10, 4.9.9, 'criu.version: expected at least 4.10, got 4.9.9'",
        "GPU_COMPUTE_CAPABILITY, 9.0, 9.0, -",
        "GPU_COMPUTE_CAPABILITY, 9.0, 8.0, 'gpu.computeCapability: expected 9.0, got 8.0'",
        "GPU_COMPUTE_CAPABILITY, 9.0, 10.0, 'gpu.computeCapability: expected 9.0, got 10.0'",
        "GPU_COUNT, 2, 2, -",
        "GPU_COUNT, 2, 4, 'gpu.count: expected 2, got 4'",
        "GPU_DRIVER, 580.159.04, 580.159.04, -",
        "GPU_DRIVER, 580.159.04, 580.159.05, 'gpu.driver: expected 580.159.04, got 580.159.05'",
        "GPU_INTERCONNECT, None, None, -",
        "GPU_INTERCONNECT, NV12, NV18, -",
        "GPU_INTERCONNECT, SYS, NV4, -",
        "GPU_INTERCONNECT, NV18, 0-1=NV18 0-2=NV18 1-2=NV18, -",
        "GPU_INTERCONNECT, 0-1=NV18 0-2=SYS 1-2=SYS, NV18, -",
        "GPU_INTERCONNECT, NV18, NV12, 'gpu.interconnect: expected at least NV18, got NV12'",
        "GPU_INTERCONNECT, PIX, SYS, 'gpu.interconnect: expected at least PIX, got SYS'",
        "GPU_INTERCONNECT, 0-1=NV18 0-2=SYS 1-2=SYS, 0-1=SYS 0-2=SYS 1-2=NV18,"
            + " 'gpu.interconnect: expected at least 0-1=NV18 0-2=SYS 1-2=SYS,"
            + " got 0-1=SYS 0-2=SYS 1-2=NV18'",
        "GPU_MEMORY, 81920, 81920, -",
        "GPU_MEMORY, 81920, 143771, -",
        "GPU_MEMORY, 81920, 81920 | 143771, -",
        "GPU_MEMORY, 143771, 81920, 'gpu.memoryMiB: expected at least 143771, got 81920'",
        "GPU_MEMORY, 40960 | 81920, 81920 | 40960,"
            + " 'gpu.memoryMiB: expected at least 40960 | 81920, got 81920 | 40960'",
        "GPU_MIG, Disabled, Disabled, -",
        "GPU_MIG, Disabled, Enabled, 'gpu.mig: expected Disabled, got Enabled'",
        "GPU_MODEL, NVIDIA H200, NVIDIA H200 | NVIDIA H200, -",
        "GPU_MODEL, NVIDIA H200, NVIDIA H100, 'gpu.model: expected NVIDIA H200, got NVIDIA H100'",
        "GPU_MODEL, A | B, B | A, 'gpu.model: expected A | B, got B | A'",
        "IMAGE_DIGEST, sha256:9ab1, sha256:9ab1, -",
        "IMAGE_DIGEST, sha256:9ab1, sha256:77, 'image.digest: expected sha256:9ab1, got sha256:77'",
        "HIDDEN_FOLDERS, /proc/acpi, /proc/acpi /sys/firmware, -",
        "HIDDEN_FOLDERS, /proc/acpi /proc/scsi, /proc/acpi,"
            + " 'kernel.hiddenFolders: expected /proc/scsi, not found'",
        "RUNTIME_MOUNTS, /run/secrets, /opt/site /run/secrets, -",
        "RUNTIME_MOUNTS, /run/secrets, /opt/site,"
            + " 'runtime.mounts: expected /run/secrets, not found'",
        "INOTIFY_INSTANCES, 130, 128,"
            + " 'kernel.inotifyInstances: expected at least 130, got 128'",
        "INOTIFY_WATCHES, 10000, 65536, -",
        "IO_URING, yes, yes, -",
        "IO_URING, no, no, -",
        "IO_URING, yes, no, 'kernel.ioUring: expected yes, got no'",
        "IPV6, no, yes, -",
        "IPV6, yes, no, 'kernel.ipv6: expected yes, got no'",
        "MAX_MAP_COUNT, 100000, 262144, -",
        "MAX_MAP_COUNT, 100000, 65530,"
            + " 'kernel.maxMapCount: expected at least 100000, got 65530'",
        "MEMFD_EXEC, no, no, -",
        "MEMFD_EXEC, yes, no, 'kernel.memfdExec: expected yes, got no'",
        "OVERCOMMIT, yes, yes, -",
        "OVERCOMMIT, yes, no, 'kernel.overcommit: expected yes, got no'",
        "PID_MAX, 65536, 4194304, -",
        "PID_MAX, 65536, 32768, 'kernel.pidMax: expected at least 65536, got 32768'",
        "POD_PIDS, 2000, 1024," + " 'kubelet.podPidsLimit: expected at least 2000, got 1024'",
        "THROTTLED_CPUS, 96, 8, 'kernel.throttledCpus: expected at least 96, got 8'",
        "TIME_NAMESPACES, yes, yes, -",
        "TIME_NAMESPACES, no, yes, -",
        "TIME_NAMESPACES, no, no, -",
        "TIME_NAMESPACES, yes, no, 'kernel.timeNamespaces: expected yes, got no'",
        "KERNEL_VERSION, 6.12, 6.18, -",
        "KERNEL_VERSION, 6.18, 6.12, 'kernel.version: expected at least 6.18, got 6.12'",
        "MOUNTS, '', /data, -",
        "MOUNTS, /data, /data /etc/hosts, -",
        "MOUNTS, /data /models, /data, 'mounts: expected /models, not found'"
      })
  void theRuleOfEachPropertyHolds(
      Property property, String wanted, String found, @Nullable String sentence) {
    Fingerprint want = Fingerprint.empty().with(property, wanted);
    Fingerprint has = Fingerprint.empty().with(property, found);

    Compatibility compatibility = Compatibility.check(want, has);

    assertThat(compatibility.sentence()).isEqualTo(sentence == null ? "" : sentence);
  }

  @ParameterizedTest
  @EnumSource
  void aPropertyThatANodeDoesNotReportIsAMismatch(Property property) {
    Fingerprint wanted = Examples.workload();

    assertThat(Compatibility.check(wanted, wanted.without(property)).mismatches())
        .containsExactly(
            new Mismatch(property, wanted.value(property).orElseThrow(), Mismatch.UNKNOWN));
  }

  @Test
  void onlyTheKernelVersionIsSoft() {
    assertThat(Arrays.stream(Property.values()).filter(property -> !property.hard()))
        .containsExactly(Property.KERNEL_VERSION);
  }

  @Test
  void everyHardPropertyOfANodeHasItsOwnLabel() {
    Set<Property> labelled =
        Arrays.stream(Property.values())
            .filter(property -> property.label().isPresent())
            .collect(Collectors.toCollection(() -> EnumSet.noneOf(Property.class)));

    Set<Property> wanted =
        Arrays.stream(Property.values())
            .filter(property -> property.hard() && property.scope() != Scope.POD)
            .collect(Collectors.toCollection(() -> EnumSet.noneOf(Property.class)));
    // topology.stasis.dev/gpus-N says these two: the number in its key, the links in its hash.
    wanted.removeAll(Set.of(Property.GPU_COUNT, Property.GPU_INTERCONNECT));
    assertThat(labelled).isEqualTo(wanted);
  }

  @Test
  void keysAreUniqueAndFoundAgain() {
    assertThat(Arrays.stream(Property.values()).map(Property::key)).doesNotHaveDuplicates();
    for (Property property : Property.values()) {
      assertThat(Property.ofKey(property.key())).contains(property);
    }
    assertThat(Property.ofKey("gpu.colour")).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MOUNTS")
  void everyPropertyIsDocumented(Property property) throws IOException {
    String text = Files.readString(Path.of("../docs/compatibility.md"));

    assertThat(text.substring(text.indexOf("## What another node must have")).lines())
        .anyMatch(line -> line.matches("[|].*`" + Pattern.quote(property.key()) + "`.*[|].*"));
  }
}
