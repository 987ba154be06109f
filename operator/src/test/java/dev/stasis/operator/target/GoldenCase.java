package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.compat.Placement;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.room.RoomPlan;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A folder of {@code src/test/resources/target}: {@code source.yaml} is the pod that was frozen,
 * {@code wish.yaml} what is asked, {@code target.yaml} or {@code refused.txt} what comes of it. For
 * a pod that its controller makes, {@code made.yaml} is that pod.
 */
record GoldenCase(Path folder) {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  /** What {@code wish.yaml} holds; what is not there is as in the most usual case. */
  record Asked(
      @Nullable String container,
      @Nullable List<String> argv,
      @Nullable String image,
      @Nullable List<String> imageNodes,
      @Nullable String way,
      @Nullable Set<String> selectorKeys,
      @Nullable Target target,
      @Nullable Set<String> taken,
      @Nullable Set<String> excluded,
      @Nullable TimeSpan deadline,
      @Nullable SidecarPolicy others,
      @Nullable String memory) {}

  TargetPlan plan() {
    return new TargetMaker(holder("registry.example/stasis-runtime:0.1.0"))
        .make(frozenPod(), wish());
  }

  FrozenPod frozenPod() {
    Asked asked = asked();
    return new FrozenPod(
        "train-1",
        Instant.parse("2026-11-21T10:00:00Z"),
        Instant.parse("2026-11-14T10:00:00Z"),
        pod("source.yaml"),
        Objects.requireNonNullElse(asked.container(), "main"),
        Objects.requireNonNullElse(asked.argv(), List.of("python3", "train.py")),
        image(asked),
        "gpu-17",
        placement(),
        Objects.requireNonNullElse(asked.others(), SidecarPolicy.FAIL));
  }

  Wish wish() {
    Asked asked = asked();
    Optional<Quantity> memory = Optional.ofNullable(asked.memory()).map(Quantity::new);
    return new Wish(
        "ml/train-1-back",
        "5e0c8f7a-41b6-4f0e-9d1c-0b6d8f1f2a33",
        1,
        Objects.requireNonNullElse(asked.target(), new Target(null, null, null, null)),
        way(asked),
        Objects.requireNonNullElse(asked.taken(), Set.of()),
        new TreeSet<>(Objects.requireNonNullElse(asked.excluded(), Set.of())),
        Objects.requireNonNullElse(asked.deadline(), TimeSpan.of("30m")).duration(),
        memory.map(quantity -> new RoomPlan.Memory(memory, quantity)));
  }

  private record Settings(String image, List<String> command, Set<String> injected)
      implements StasisConfig.Holder {}

  /** Settings with that image, and with containers of webhooks that the golden files have. */
  static StasisConfig.Holder holder(String image) {
    return new Settings(
        image,
        List.of("/stasis-runtime", "install", "--dir", Holder.FOLDER),
        Set.of("istio-proxy", "istio-init", "istio-validation", "linkerd-proxy", "vault-agent"));
  }

  /** What came of it, as text. */
  static String text(TargetPlan plan) {
    if (plan instanceof TargetPlan.Refused refused) {
      return String.join("\n", refused.faults().stream().map(Fault::message).toList()) + "\n";
    }
    TargetPlan.Made made = (TargetPlan.Made) plan;
    return YAML.asYaml(made.pod())
        + "# starts anew: "
        + made.otherContainers()
        + "\n"
        + String.join("", made.dropped().stream().map(it -> "# dropped: " + it + "\n").toList());
  }

  String goldenName(TargetPlan plan) {
    return plan instanceof TargetPlan.Refused ? "refused.txt" : "target.yaml";
  }

  String read(String name) {
    try {
      return Files.readString(folder.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Pod pod(String yaml, Class<Pod> type) {
    return YAML.unmarshal(yaml, type);
  }

  private Pod pod(String name) {
    return pod(read(name), Pod.class);
  }

  private Asked asked() {
    return YAML.unmarshal(read("wish.yaml"), Asked.class);
  }

  private Way way(Asked asked) {
    return switch (Objects.requireNonNullElse(asked.way(), "alone")) {
      case "alone" -> new Way.Alone(false);
      case "orphan" -> new Way.Alone(true);
      case "apart" -> new Way.Apart(Objects.requireNonNullElse(asked.selectorKeys(), Set.of()));
      case "inPlace" -> new Way.InPlace(pod("made.yaml"));
      default -> throw new IllegalArgumentException("way: " + asked.way());
    };
  }

  private static Image image(Asked asked) {
    String image =
        Objects.requireNonNullElse(
            asked.image(), "registry.example/train@sha256:" + "ab".repeat(32));
    return image.startsWith("sha256:")
        ? new Image.ById(
            image, new TreeSet<>(Objects.requireNonNullElse(asked.imageNodes(), List.of())))
        : new Image.ByDigest(image);
  }

  private static Placement placement() {
    return new Placement(
        new TreeMap<>(
            Map.of(
                "topology.stasis.dev/gpus-1",
                new TreeSet<>(Set.of("0a1b2c3d4e5f", "f5e4d3c2b1a0")),
                "topology.stasis.dev/cpu-architecture",
                new TreeSet<>(Set.of("amd64")),
                "topology.stasis.dev/gpu-driver",
                new TreeSet<>(Set.of("580.105.08")))));
  }
}
