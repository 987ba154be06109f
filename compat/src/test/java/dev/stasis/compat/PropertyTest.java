package dev.stasis.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class PropertyTest {
  /** Each line: property, wanted, found, and the sentence of the mismatch, if there is one. */
  @ParameterizedTest(name = "{0}: wanted {1}, found {2}")
  @CsvSource(
      nullValues = "-",
      value = {
        "CPU_ARCHITECTURE, amd64, amd64, -",
        "CPU_ARCHITECTURE, amd64, arm64, 'cpu.architecture: wanted amd64, found arm64'",
        "CPU_FEATURES, avx avx2, avx avx2, -",
        "CPU_FEATURES, avx avx2, avx2 sse4_1 avx, -",
        "CPU_FEATURES, avx avx2 amx_tile, avx, 'cpu.features: wanted amx_tile avx2, not found'",
        "CRIU_VERSION, 4.2.1, 4.2.1, -",
        "CRIU_VERSION, 4.2.1, 4.10, -",
        "CRIU_VERSION, 4.2, 4.2.0, -",
        "CRIU_VERSION, 4.2.0, 4.2, -",
        "CRIU_VERSION, 4.2.1, 4.2, 'criu.version: wanted at least 4.2.1, found 4.2'",
        "CRIU_VERSION, 4.10, 4.9.9, 'criu.version: wanted at least 4.10, found 4.9.9'",
        "GPU_COMPUTE_CAPABILITY, 9.0, 9.0, -",
        "GPU_COMPUTE_CAPABILITY, 9.0, 8.0, 'gpu.computeCapability: wanted 9.0, found 8.0'",
        "GPU_COMPUTE_CAPABILITY, 9.0, 10.0, 'gpu.computeCapability: wanted 9.0, found 10.0'",
        "GPU_COUNT, 2, 2, -",
        "GPU_COUNT, 2, 4, 'gpu.count: wanted 2, found 4'",
        "GPU_DRIVER, 580.159.04, 580.159.04, -",
        "GPU_DRIVER, 580.159.04, 580.159.05, 'gpu.driver: wanted 580.159.04, found 580.159.05'",
        "GPU_INTERCONNECT, None, None, -",
        "GPU_INTERCONNECT, NV12, NV18, -",
        "GPU_INTERCONNECT, SYS, NV4, -",
        "GPU_INTERCONNECT, NV18, 0-1=NV18 0-2=NV18 1-2=NV18, -",
        "GPU_INTERCONNECT, 0-1=NV18 0-2=SYS 1-2=SYS, NV18, -",
        "GPU_INTERCONNECT, NV18, NV12, 'gpu.interconnect: wanted at least NV18, found NV12'",
        "GPU_INTERCONNECT, PIX, SYS, 'gpu.interconnect: wanted at least PIX, found SYS'",
        "GPU_INTERCONNECT, 0-1=NV18 0-2=SYS 1-2=SYS, 0-1=SYS 0-2=SYS 1-2=NV18,"
            + " 'gpu.interconnect: wanted at least 0-1=NV18 0-2=SYS 1-2=SYS,"
            + " found 0-1=SYS 0-2=SYS 1-2=NV18'",
        "GPU_MEMORY, 81920, 81920, -",
        "GPU_MEMORY, 81920, 143771, -",
        "GPU_MEMORY, 81920, 81920 | 143771, -",
        "GPU_MEMORY, 143771, 81920, 'gpu.memoryMiB: wanted at least 143771, found 81920'",
        "GPU_MEMORY, 40960 | 81920, 81920 | 40960,"
            + " 'gpu.memoryMiB: wanted at least 40960 | 81920, found 81920 | 40960'",
        "GPU_MIG, Disabled, Disabled, -",
        "GPU_MIG, Disabled, Enabled, 'gpu.mig: wanted Disabled, found Enabled'",
        "GPU_MODEL, NVIDIA H200, NVIDIA H200 | NVIDIA H200, -",
        "GPU_MODEL, NVIDIA H200, NVIDIA H100, 'gpu.model: wanted NVIDIA H200, found NVIDIA H100'",
        "GPU_MODEL, A | B, B | A, 'gpu.model: wanted A | B, found B | A'",
        "IMAGE_DIGEST, sha256:9ab1, sha256:9ab1, -",
        "IMAGE_DIGEST, sha256:9ab1, sha256:77, 'image.digest: wanted sha256:9ab1, found sha256:77'",
        "TIME_NAMESPACES, yes, yes, -",
        "TIME_NAMESPACES, no, yes, -",
        "TIME_NAMESPACES, no, no, -",
        "TIME_NAMESPACES, yes, no, 'kernel.timeNamespaces: wanted yes, found no'",
        "KERNEL_VERSION, 6.12, 6.18, -",
        "KERNEL_VERSION, 6.18, 6.12, 'kernel.version: wanted at least 6.18, found 6.12'",
        "MOUNTS, '', /data, -",
        "MOUNTS, /data, /data /etc/hosts, -",
        "MOUNTS, /data /models, /data, 'mounts: wanted /models, not found'"
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
  void whatThePlaceDoesNotSayIsAMismatch(Property property) {
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
}
