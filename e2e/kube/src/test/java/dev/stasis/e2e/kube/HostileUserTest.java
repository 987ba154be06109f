package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.api.model.EphemeralContainer;
import io.fabric8.kubernetes.api.model.EphemeralContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A user with {@code edit} in one namespace, under Pod Security's level restricted. */
@ExtendWith(OnACluster.class)
class HostileUserTest {

  private static final Map<String, String> RESTRICTED =
      Map.of("pod-security.kubernetes.io/enforce", "restricted");

  /** What the operator adds to a target. */
  private static final String HOLDER = "stasis-holder";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  @Test
  void nothingOfAHostilePodRunsWhileItIsRestored(Scenario scenario) throws Exception {
    String image = HostileImage.load(folder);
    String secret = "s3cret-" + UUID.randomUUID();
    scenario.label(RESTRICTED);
    scenario.apply(
        """
        apiVersion: v1
        kind: Secret
        metadata:
          name: hub
        stringData:
          token: %s
        """
            .formatted(secret));
    Workload workload =
        Workload.start(scenario, "trainer", pod -> RestrictedPod.asUser1000(hostile(pod, image)));
    // criu once read this file of the container; a FIFO would hold it until its deadline.
    assertThat(scenario.exec("trainer", "/bin/busybox", "mkfifo", "/run/criu.kdat").ok()).isTrue();
    List<Path> marksOfTheHost = marksOfTheHost();

    try (KeptLog words = KeptLog.follow(scenario, "trainer")) {
      CheckpointRequest.apply(scenario, "train-1", "trainer", "afterCheckpoint: Evict")
          .awaitReady();
      scenario.until("the pod is gone", () -> scenario.findPod("trainer") == null);
      Workload back = workload.broughtBackAs("trainer", words.lines());
      RestoreRequest request = RestoreRequest.apply(scenario, "back", "train-1");
      intrude(scenario, image);
      request.awaitSucceeded();
      back.verifyGoesOn();
      assertThat(back.restarts()).isZero();
    }

    assertThat(intruderRuns(scenario.pod("trainer"))).as("whether the intruder runs").isTrue();
    // The intruder, and the process that was restored with the workload, work there.
    assertThat(ls(scenario, "/.stasis")).contains("ckpt2");
    assertThat(ls(scenario, "/run")).containsExactly("criu.kdat");
    assertThat(
            scenario
                .exec("trainer", "/bin/busybox", "find", "/bin", "/sbin", "/usr", "-name", "*.ran")
                .output())
        .isBlank();
    assertThat(marksOfTheHost()).isEqualTo(marksOfTheHost);
    // The programs do leave their marks.
    assertThat(scenario.exec("trainer", "/usr/sbin/iptables").ok()).isTrue();
    assertThat(ls(scenario, "/run")).contains("ran-iptables");
    assertThat(scenario.kubectl("get", "gckpt,grst,pods,events", "-o", "yaml"))
        .contains("--token=$(TOKEN)")
        .doesNotContain(secret);
    assertThat(scenario.kubectl("get", "gpunodeoperations", "-A", "-o", "yaml"))
        .doesNotContain(secret);
    // The first process is the holder, which starts the workload if it ends: with the right value.
    assertThat(scenario.exec("trainer", "/bin/busybox", "cat", "/proc/1/cmdline").output())
        .contains("stasis-runtime", "--token=" + secret);
  }

  private static PodBuilder hostile(PodBuilder pod, String image) {
    String script =
        "%s /.stasis & exec /bin/gpu-counter --mib %d --interval-ms 100"
            .formatted(HostileImage.EXCHANGE, Workload.MIB);
    return pod.editSpec()
        .editFirstContainer()
        .withImage(image)
        .withCommand("/bin/busybox", "sh", "-c", script)
        .withArgs("--token=$(TOKEN)")
        .addNewEnv()
        .withName("TOKEN")
        .withNewValueFrom()
        .withNewSecretKeyRef("token", "hub", false)
        .endValueFrom()
        .endEnv()
        .addNewVolumeMount()
        .withName("run")
        .withMountPath("/run")
        .endVolumeMount()
        .endContainer()
        .addNewVolume()
        .withName("run")
        .withNewEmptyDir()
        .endEmptyDir()
        .endVolume()
        .endSpec();
  }

  /** The kubelet starts ephemeral containers before all others. */
  private static void intrude(Scenario scenario, String image) {
    EphemeralContainer intruder =
        new EphemeralContainerBuilder()
            .withName("intruder")
            .withImage(image)
            .withImagePullPolicy("IfNotPresent")
            .withCommand(HostileImage.EXCHANGE, "/.stasis")
            .addNewVolumeMount()
            .withName(HOLDER)
            .withMountPath("/.stasis")
            .endVolumeMount()
            .withNewSecurityContext()
            .withAllowPrivilegeEscalation(false)
            .withNewCapabilities()
            .withDrop("ALL")
            .endCapabilities()
            .endSecurityContext()
            .build();
    scenario.awaitPod("trainer", "is created", pod -> true);
    // Others write to a pod that is new: then the write is repeated.
    scenario.until(
        "an ephemeral container in the target",
        () ->
            scenario
                    .admin()
                    .pods()
                    .inNamespace(scenario.namespace())
                    .withName("trainer")
                    .ephemeralContainers()
                    .edit(
                        pod ->
                            new PodBuilder(pod)
                                .editSpec()
                                .addToEphemeralContainers(intruder)
                                .endSpec()
                                .build())
                != null);
  }

  private static boolean intruderRuns(Pod pod) {
    return pod.getStatus().getEphemeralContainerStatuses().stream()
        .anyMatch(status -> status.getState().getRunning() != null);
  }

  private static List<String> ls(Scenario scenario, String place) {
    return scenario.exec("trainer", "/bin/busybox", "ls", place).output().lines().toList();
  }

  private static List<Path> marksOfTheHost() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/run"))) {
      return files.filter(file -> file.getFileName().toString().startsWith("ran-")).toList();
    }
  }

  /** Root on another node has written the pod of a restricted user into it. */
  @Test
  void anArtifactWithMoreCapabilitiesThanItsPodIsRefusedByName(Scenario scenario)
      throws IOException {
    try (SharedStore store = SharedStore.make(scenario)) {
      Workload workload = Workload.start(scenario, "trainer");
      ArtifactStatus made =
          Present.in(
              "status.artifact",
              CheckpointRequest.apply(
                      scenario,
                      "train-1",
                      "trainer",
                      "storageRef: {name: " + store.name() + "}",
                      "options: {deletionPolicy: Retain}")
                  .awaitReady()
                  .getArtifact());
      workload.delete();
      scenario.kubectl("delete", "gckpt/train-1", "--wait=true", Scenario.TIMEOUT);
      String location = Present.in("status.artifact.location", made.getLocation());
      restrict(store.folder().resolve(location));
      scenario.label(RESTRICTED);

      scenario.apply(
          CheckpointRequest.imported(
              "train-2",
              "trainer",
              "location: " + location,
              "storageRef: {name: " + store.name() + "}"));
      new CheckpointRequest(scenario, "train-2").awaitReady();
      GpuRestoreStatus status = RestoreRequest.apply(scenario, "back", "train-2").awaitEnd();

      assertThat(status.getPhase()).isEqualTo(RestorePhase.FAILED);
      List<Fault> faults = Present.in("status.faults", status.getFaults());
      assertThat(faults)
          .anySatisfy(
              fault -> assertThat(fault.message()).contains("capabilities of thread", "MKNOD"));
    }
  }

  /** Writes another securityContext into the pod of an artifact, and the digests that fit. */
  private static void restrict(Path artifact) throws IOException {
    Path pod = artifact.resolve("pod.json");
    Pod restricted =
        RestrictedPod.asUser1000(
                new PodBuilder(Serialization.unmarshal(Files.readString(pod), Pod.class)))
            .build();
    Files.writeString(pod, Serialization.asJson(restricted));
    Path file = artifact.resolve("manifest.json");
    ObjectMapper json = new ObjectMapper();
    ObjectNode manifest = (ObjectNode) json.readTree(file.toFile());
    ObjectNode entry = (ObjectNode) manifest.get("files").get("pod.json");
    entry.put("size", Files.size(pod));
    entry.put("sha256", digest(pod));
    json.writeValue(file.toFile(), manifest);
    Files.writeString(artifact.resolve("manifest.json.sha256"), digest(file) + "  manifest.json\n");
  }

  private static String digest(Path file) throws IOException {
    try {
      byte[] bytes = Files.readAllBytes(file);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aUserOfOneNamespaceReachesNoArtifactOfAnother(Scenario scenario) {
    Scenario victim =
        Scenario.begin(scenario.admin(), scenario.installation(), "HostileUserTest.victim");
    try {
      Workload.start(victim, "trainer");
      ArtifactStatus artifact =
          Present.in(
              "status.artifact",
              CheckpointRequest.apply(victim, "train-1", "trainer").awaitReady().getArtifact());
      String location = Present.in("status.artifact.location", artifact.getLocation());
      scenario.label(RESTRICTED);
      scenario.kubectl("create", "rolebinding", "mallory", "--clusterrole=edit", "--user=mallory");
      scenario.until(
          "mallory may restore in a namespace",
          () -> mallory(scenario, "", "auth", "can-i", "create", "gpurestores.stasis.dev").ok());

      String elsewhere = "--namespace=" + victim.namespace();
      refused(mallory(scenario, "", "get", "gckpt", "train-1", elsewhere), "Forbidden");
      String restore = Request.yaml(GpuRestore.class, "theirs", "checkpointRef: {name: train-1}");
      refused(mallory(scenario, restore, "create", "-f", "-", elsewhere), "Forbidden");
      String above = scenario.namespace() + "/../" + location;
      refused(mallory(scenario, imported(scenario, above), "create", "-f", "-"), "location");
      assertThat(mallory(scenario, imported(scenario, location), "create", "-f", "-").ok())
          .isTrue();
      GpuCheckpointStatus refused = new CheckpointRequest(scenario, "theirs").awaitEnd();
      assertThat(refused.getPhase()).isEqualTo(CheckpointPhase.FAILED);
      assertThat(CheckpointRequest.condition(refused, "Ready").reason())
          .isEqualTo("OtherNamespace");
      refused(mallory(scenario, reader(), "create", "-f", "-"), "violates PodSecurity");

      // In the own namespace the name means another object, which does not exist.
      assertThat(mallory(scenario, restore, "create", "-f", "-").ok()).isTrue();
      RestoreRequest request = new RestoreRequest(scenario, "theirs");
      scenario.until(
          "the GpuRestore waits for a checkpoint of its own namespace",
          () ->
              Request.condition(request.status().getConditions(), "Succeeded")
                  .reason()
                  .equals("WaitingForCheckpoint"));
      assertThat(scenario.pods()).isEmpty();
    } finally {
      victim.end(false);
    }
  }

  private static String imported(Scenario scenario, String location) {
    String node = scenario.installation().nodes().get(0);
    return CheckpointRequest.imported(
        "theirs", "trainer", "location: '%s', nodeName: %s".formatted(location, node));
  }

  private static Shell.Result mallory(Scenario scenario, String input, String... arguments) {
    return scenario.feedKubectl(
        input,
        Stream.concat(Stream.of("--as=mallory"), Stream.of(arguments)).toArray(String[]::new));
  }

  private static void refused(Shell.Result result, String why) {
    assertThat(result.ok()).as(result.output()).isFalse();
    assertThat(result.output()).contains(why);
  }

  /** A pod that would read the store as a folder of its node. */
  private static String reader() {
    return """
    apiVersion: v1
    kind: Pod
    metadata:
      name: reader
    spec:
      containers:
      - {name: main, image: stasis.test/gpu-counter:e2e, volumeMounts: [{name: store, mountPath: /store}]}
      volumes:
      - {name: store, hostPath: {path: %s}}
    """
        .formatted(Commands.STORE);
  }
}
