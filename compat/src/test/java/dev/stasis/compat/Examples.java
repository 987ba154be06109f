package dev.stasis.compat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Fingerprints and nodes to test with: known ones, and random ones from a seed. */
final class Examples {
  static final Gpu H200 = new Gpu("NVIDIA H200", 143771, "9.0", false);
  static final Gpu A100 = new Gpu("NVIDIA A100-SXM4-80GB", 81920, "8.0", false);
  static final String DRIVER = "580.159.04";

  /** For each property, values in canonical form; the first is that of {@link #workload()}. */
  static final Map<Property, List<String>> VALUES =
      Map.ofEntries(
          Map.entry(Property.CPU_ARCHITECTURE, List.of("amd64", "arm64")),
          Map.entry(Property.CPU_FEATURES, List.of("avx avx2 avx512f", "avx avx2", "sse")),
          Map.entry(Property.CGROUP_VERSION, List.of("2", "1")),
          Map.entry(Property.CRIU_VERSION, List.of("4.2.1", "4.1", "3.19")),
          Map.entry(Property.GPU_COMPUTE_CAPABILITY, List.of("9.0", "8.0", "9.0 | 8.0")),
          Map.entry(Property.GPU_COUNT, List.of("2", "1", "4")),
          Map.entry(Property.GPU_DRIVER, List.of(DRIVER, "575.57.08", "590.10")),
          Map.entry(Property.GPU_INTERCONNECT, List.of("NV18", "SYS", "0-1=PIX 0-2=SYS 1-2=SYS")),
          Map.entry(Property.GPU_MEMORY, List.of("143771", "81920", "81920 | 40960")),
          Map.entry(Property.GPU_MIG, List.of("Disabled", "Enabled")),
          Map.entry(Property.GPU_MODEL, List.of("NVIDIA H200", "NVIDIA H100", "NVIDIA A100")),
          Map.entry(Property.IMAGE_DIGEST, List.of("sha256:9ab1", "sha256:77aa")),
          Map.entry(Property.HIDDEN_FOLDERS, List.of("/proc/acpi /sys/firmware", "/proc/acpi", "")),
          Map.entry(Property.INOTIFY_INSTANCES, List.of("8192", "128")),
          Map.entry(Property.INOTIFY_WATCHES, List.of("524288", "65536")),
          Map.entry(Property.IO_URING, List.of("yes", "no")),
          Map.entry(Property.IPV6, List.of("yes", "no")),
          Map.entry(Property.MAX_MAP_COUNT, List.of("262144", "65530")),
          Map.entry(Property.MEMFD_EXEC, List.of("yes", "no")),
          Map.entry(Property.OVERCOMMIT, List.of("yes", "no")),
          Map.entry(Property.PID_MAX, List.of("4194304", "32768")),
          Map.entry(Property.POD_PIDS, List.of("4096", "1024")),
          Map.entry(Property.THROTTLED_CPUS, List.of("96", "8")),
          Map.entry(Property.TIME_NAMESPACES, List.of("yes", "no")),
          Map.entry(Property.KERNEL_VERSION, List.of("6.18", "6.12", "5.15")),
          Map.entry(Property.RUNTIME_MOUNTS, List.of("/opt/site /run/secrets", "/run/secrets", "")),
          Map.entry(Property.MOUNTS, List.of("/data /dev/shm /etc/hosts", "/etc/hosts", "")));

  private Examples() {}

  /** A pod with two linked H200. */
  static Fingerprint workload() {
    Fingerprint workload = Fingerprint.empty();
    for (Property property : Property.values()) {
      workload = workload.with(property, VALUES.getOrDefault(property, List.of()).get(0));
    }
    return workload;
  }

  static Fingerprint randomFingerprint(Random random) {
    Fingerprint fingerprint = Fingerprint.empty();
    for (Property property : Property.values()) {
      if (random.nextInt(8) > 0) {
        fingerprint =
            fingerprint.with(property, pick(random, VALUES.getOrDefault(property, List.of())));
      }
    }
    return fingerprint;
  }

  static Fingerprint randomHost(Random random) {
    return randomFingerprint(random).only(Scope.NODE);
  }

  /** Up to six GPUs, often all alike, with random links. */
  static GpuSet randomGpus(Random random) {
    List<Gpu> gpus = new ArrayList<>();
    boolean mixed = random.nextInt(4) == 0;
    for (int count = 1 + random.nextInt(6); count > 0; count--) {
      Gpu gpu = mixed && random.nextBoolean() ? A100 : H200;
      long missing = random.nextInt(5) == 0 ? 1024 : 0;
      gpus.add(new Gpu(gpu.model(), gpu.memoryMiB() - missing, gpu.computeCapability(), false));
    }
    List<Link> kinds = List.of(Link.nvlink(18), Link.nvlink(4), Link.of(Link.Kind.SYS));
    boolean alike = random.nextBoolean();
    Links links = Links.of(gpus.size(), (i, j) -> alike ? kinds.get(0) : pick(random, kinds));
    return new GpuSet(random.nextInt(4) == 0 ? "590.10" : DRIVER, gpus, links);
  }

  /** The GPUs at these places, as a container that got them sees them. */
  static GpuSet choice(GpuSet all, List<Integer> places) {
    return new GpuSet(
        all.driver(),
        places.stream().map(all.gpus()::get).toList(),
        Links.of(places.size(), (i, j) -> all.links().between(places.get(i), places.get(j))));
  }

  /** Every choice of {@code n} of {@code total} places, in order. */
  static List<List<Integer>> choices(int total, int n) {
    List<List<Integer>> choices = new ArrayList<>();
    for (int bits = 0; bits < 1 << total; bits++) {
      if (Integer.bitCount(bits) == n) {
        List<Integer> places = new ArrayList<>();
        for (int place = 0; place < total; place++) {
          if ((bits >> place & 1) == 1) {
            places.add(place);
          }
        }
        choices.add(places);
      }
    }
    return choices;
  }

  private static <T> T pick(Random random, List<T> values) {
    return values.get(random.nextInt(values.size()));
  }
}
