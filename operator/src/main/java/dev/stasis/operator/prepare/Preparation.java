package dev.stasis.operator.prepare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSecurityContextBuilder;
import io.fabric8.kubernetes.api.model.SeccompProfileBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Adds the settings that a pod needs for checkpoint and restore, and records them in an annotation.
 * Settings of the user are not changed. Preparing a prepared pod changes nothing.
 */
final class Preparation {

  /** Value of the label: settings without a cost. */
  static final String PLAIN = "true";

  /** Value of the label: also those for several NCCL ranks, which reduce performance. */
  static final String RANKS = "ranks";

  private static final String RUNTIME_DEFAULT = "RuntimeDefault";
  private static final String SECCOMP = "seccompProfile";

  /** Go listens with MPTCP from 1.24 on, which criu cannot dump. */
  private static final Map<String, String> EVERY_CONTAINER = Map.of("GODEBUG", "multipathtcp=0");

  /** From docs/compatibility.md: the tested setting. */
  private static final Map<String, String> EVERY_RANK = ranks();

  private static final ObjectMapper JSON = new ObjectMapper();

  private final GpuPods gpus;
  private final GateLibrary library;

  Preparation(GpuPods gpus, GateLibrary library) {
    this.gpus = gpus;
    this.library = library;
  }

  private static Map<String, String> ranks() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("NCCL_P2P_DISABLE", "1");
    settings.put("NCCL_CUMEM_HOST_ENABLE", "0");
    settings.put("NCCL_NVLS_ENABLE", "0");
    return settings;
  }

  /**
   * Returns the prepared pod; empty if the pod needs no change.
   *
   * @param level value of the label {@code stasis.dev/prepare} of the pod, else of its namespace
   * @param dataPath value of {@code stasis.dev/data-path}, from the same objects
   */
  Optional<Pod> prepared(Pod pod, @Nullable String level, @Nullable String dataPath) {
    boolean target = Marks.labels(pod).containsKey(Api.CHECKPOINT_LABEL);
    boolean settings = PLAIN.equals(level) || RANKS.equals(level);
    boolean direct = GateLibrary.DIRECT.equals(dataPath);
    if (target || !(settings || direct) || !gpus.has(pod)) {
      return Optional.empty();
    }
    Pod changed = new PodBuilder(pod).build();
    Record found = Record.of(pod);
    List<String> withGpus = gpus.containers(pod);
    if (settings) {
      seccomp(changed, found);
    }
    for (Container container : changed.getSpec().getContainers()) {
      if (settings) {
        environment(container, EVERY_CONTAINER, found);
      }
      if (direct && withGpus.contains(container.getName())) {
        library.into(changed, container, found);
      }
      if (RANKS.equals(level) && withGpus.contains(container.getName())) {
        environment(container, EVERY_RANK, found);
      }
    }
    if (found.set.isEmpty() && found.kept.isEmpty()) {
      return Optional.empty();
    }
    Map<String, String> annotations = new LinkedHashMap<>(Marks.annotations(changed));
    annotations.put(Api.PREPARED_ANNOTATION, found.text());
    changed.getMetadata().setAnnotations(annotations);
    return Optional.of(changed);
  }

  private static void seccomp(Pod pod, Record found) {
    var context = pod.getSpec().getSecurityContext();
    boolean ofPod = context != null && context.getSeccompProfile() != null;
    boolean ofContainer =
        pod.getSpec().getContainers().stream()
            .anyMatch(
                one ->
                    one.getSecurityContext() != null
                        && one.getSecurityContext().getSeccompProfile() != null);
    if (ofPod || ofContainer) {
      boolean ours =
          ofPod
              && !ofContainer
              && RUNTIME_DEFAULT.equals(context.getSeccompProfile().getType())
              && found.before.contains(SECCOMP);
      (ours ? found.set : found.kept).add(SECCOMP);
      return;
    }
    PodSecurityContextBuilder changed =
        context == null ? new PodSecurityContextBuilder() : new PodSecurityContextBuilder(context);
    pod.getSpec()
        .setSecurityContext(
            changed
                .withSeccompProfile(new SeccompProfileBuilder().withType(RUNTIME_DEFAULT).build())
                .build());
    found.set.add(SECCOMP);
  }

  static void environment(Container container, Map<String, String> wanted, Record found) {
    List<EnvVar> variables = new ArrayList<>();
    wanted.forEach(
        (name, value) -> {
          String entry = container.getName() + "/" + name;
          Optional<EnvVar> there =
              container.getEnv().stream().filter(one -> name.equals(one.getName())).findFirst();
          if (there.isPresent()) {
            boolean ours = value.equals(there.get().getValue()) && found.before.contains(entry);
            (ours ? found.set : found.kept).add(entry);
          } else if (container.getEnvFrom() != null && !container.getEnvFrom().isEmpty()) {
            // The value may come from envFrom, and a variable of the container would hide it.
            found.kept.add(entry);
          } else {
            variables.add(new EnvVarBuilder().withName(name).withValue(value).build());
            found.set.add(entry);
          }
        });
    if (!variables.isEmpty()) {
      variables.addAll(0, container.getEnv());
      container.setEnv(variables);
    }
  }

  /** Parses the annotation. Users can write it too, so it is used for nothing else. */
  static final class Record {
    private final Set<String> before;
    private final Set<String> set = new TreeSet<>();
    private final Set<String> kept = new TreeSet<>();

    private Record(Set<String> before) {
      this.before = before;
    }

    static Record of(Pod pod) {
      String text = Marks.annotations(pod).get(Api.PREPARED_ANNOTATION);
      Set<String> before = new TreeSet<>();
      if (text != null) {
        try {
          for (JsonNode entry : JSON.readTree(text).path("set")) {
            before.add(entry.asText());
          }
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
          return new Record(Set.of());
        }
      }
      return new Record(before);
    }

    /** Returns whether an entry was added by us. */
    boolean isSet(String entry) {
      return set.contains(entry);
    }

    String text() {
      ObjectNode json = JSON.createObjectNode();
      set.forEach(json.putArray("set")::add);
      kept.forEach(json.putArray("kept")::add);
      return json.toString();
    }
  }
}
