package dev.stasis.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FingerprintTest {
  @Test
  void theTextIsReadableSortedAndStable() {
    assertThat(Examples.workload().text())
        .isEqualTo(
            """
            cpu.architecture=amd64
            cpu.features=avx avx2 avx512f
            criu.version=4.2.1
            gpu.computeCapability=9.0
            gpu.count=2
            gpu.driver=580.159.04
            gpu.interconnect=NV18
            gpu.memoryMiB=143771
            gpu.mig=Disabled
            gpu.model=NVIDIA H200
            image.digest=sha256:9ab1
            kernel.cgroupVersion=2
            kernel.hiddenFolders=/proc/acpi /sys/firmware
            kernel.inotifyInstances=8192
            kernel.inotifyWatches=524288
            kernel.ioUring=yes
            kernel.ipv6=yes
            kernel.maxMapCount=262144
            kernel.memfdExec=yes
            kernel.overcommit=yes
            kernel.pidMax=4194304
            kernel.throttledCpus=96
            kernel.timeNamespaces=yes
            kernel.version=6.18
            kubelet.podPidsLimit=4096
            mounts=/data /dev/shm /etc/hosts
            runtime.mounts=/opt/site /run/secrets
            """);
    // A changed hash would take every node's label away from the workloads that look for it.
    assertThat(Examples.workload().only(Scope.GPUS).hash()).isEqualTo("c77e17794be2");
  }

  @Test
  void everyTextIsReadAgain() {
    Random random = new Random(4);
    for (int i = 0; i < 500; i++) {
      Fingerprint fingerprint = Examples.randomFingerprint(random);
      assertThat(Fingerprint.parse(fingerprint.text())).isEqualTo(fingerprint);
    }
  }

  @Test
  void theOrderOfWordsAndRepeatedValuesAreIgnored() {
    Fingerprint one =
        Fingerprint.empty()
            .with(Property.CPU_FEATURES, "sse avx  sse")
            .with(Property.GPU_MODEL, "NVIDIA H200 | NVIDIA H200")
            .with(Property.GPU_INTERCONNECT, "0-1=NV18 0-2=NV18 1-2=NV18");
    Fingerprint other =
        Fingerprint.empty()
            .with(Property.GPU_INTERCONNECT, "NV18")
            .with(Property.GPU_MODEL, "NVIDIA H200")
            .with(Property.CPU_FEATURES, List.of("avx", "sse"));

    assertThat(one).isEqualTo(other).hasSameHashCodeAs(other).hasToString(other.text());
    assertThat(one.hash()).isEqualTo(other.hash());
  }

  @Test
  void aPathWithASpaceStaysOneWord() {
    Fingerprint fingerprint =
        Fingerprint.empty().with(Property.MOUNTS, List.of("/my data", "/a\\b", "/x\ny"));

    assertThat(fingerprint.text()).isEqualTo("mounts=/a\\134b /my\\040data /x\\012y\n");
    assertThat(Fingerprint.parse(fingerprint.text())).isEqualTo(fingerprint);
  }

  @Test
  void aPropertyOfAnotherVersionIsIgnored() {
    assertThat(Fingerprint.parse("gpu.colour=green\n\ngpu.count=1\n"))
        .isEqualTo(Fingerprint.empty().with(Property.GPU_COUNT, "1"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "no equals sign; fingerprint: expected lines like gpu.count=1, got \"no equals sign\"",
        "gpu.memoryMiB=80 GB; gpu.memoryMiB: expected a value of the form"
            + " [0-9]{1,18}( \\| [0-9]{1,18})*, got \"80 GB\"",
        "kernel.version=6.18-rc1; kernel.version: expected a value of the form"
            + " [0-9]{1,9}(\\.[0-9]{1,9})*, got \"6.18-rc1\"",
        "kernel.timeNamespaces=true; kernel.timeNamespaces: expected a value of the form yes|no,"
            + " got \"true\"",
        "gpu.interconnect=NVL; link: expected one of SYS, NODE, PHB, PXB, PIX, NV1 to NV999,"
            + " got \"NVL\"",
        "gpu.interconnect=0:1=SYS; interconnect: expected pairs like 0-1=NV18, got \"0:1=SYS\""
      })
  void aBadLineIsNamed(String line, String message) {
    assertThatThrownBy(() -> Fingerprint.parse(line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void aScopeKeepsOnlyItsOwn() {
    Fingerprint workload = Examples.workload();

    assertThat(workload.only(Scope.POD).values())
        .containsOnlyKeys(Property.IMAGE_DIGEST, Property.MOUNTS);
    assertThat(
            workload.only(Scope.POD).and(workload.only(Scope.NODE)).and(workload.only(Scope.GPUS)))
        .isEqualTo(workload);
  }
}
