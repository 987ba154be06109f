package dev.stasis.agent.daemon.kubelet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import k8s.cri.v1.Container;
import k8s.cri.v1.ContainerFilter;
import k8s.cri.v1.ContainerState;
import k8s.cri.v1.ContainerStatus;
import k8s.cri.v1.ContainerStatusRequest;
import k8s.cri.v1.ContainerStatusResponse;
import k8s.cri.v1.Image;
import k8s.cri.v1.ImageServiceGrpc;
import k8s.cri.v1.ImageSpec;
import k8s.cri.v1.ImageStatusRequest;
import k8s.cri.v1.ListContainersRequest;
import k8s.cri.v1.RuntimeConfigRequest;
import k8s.cri.v1.RuntimeConfigResponse;
import k8s.cri.v1.RuntimeServiceGrpc;
import k8s.cri.v1.VersionRequest;
import k8s.cri.v1.VersionResponse;

/** The node's container runtime (containerd, CRI-O), through the CRI. */
public final class CriRuntime implements PodContainers {

  /** The kubelet sets this label on each container; both runtimes index it. */
  private static final String POD_UID = "io.kubernetes.pod.uid";

  /** Usually milliseconds; a runtime that starts many containers at once takes a second. */
  private static final long ANSWER_SECONDS = 10;

  private final NodeSocket socket;
  private final ProcFs proc;

  /**
   * Creates a client.
   *
   * @param socket the runtime's socket
   * @param proc /proc of the machine, in which the runtime's pids are valid
   */
  public CriRuntime(NodeSocket socket, ProcFs proc) {
    this.socket = socket;
    this.proc = proc;
  }

  @Override
  public String version() throws NodeApiException {
    VersionResponse version =
        socket.ask("Version", () -> runtime().version(VersionRequest.getDefaultInstance()));
    return version.getRuntimeName() + " " + version.getRuntimeVersion();
  }

  @Override
  public Optional<String> cgroupDriver() throws NodeApiException {
    return socket.ask(
        "RuntimeConfig",
        () -> {
          try {
            RuntimeConfigResponse config =
                runtime().runtimeConfig(RuntimeConfigRequest.getDefaultInstance());
            return config.hasLinux()
                ? Optional.of(config.getLinux().getCgroupDriver().name().toLowerCase(Locale.ROOT))
                : Optional.<String>empty();
          } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() == Status.Code.UNIMPLEMENTED) {
              return Optional.<String>empty();
            }
            throw e;
          }
        });
  }

  @Override
  public Located locate(String podUid, String container) throws NodeApiException {
    Optional<Container> newest =
        newest(podUid).stream().filter(one -> name(one).equals(container)).findFirst();
    if (newest.isEmpty()) {
      return notRunning(podUid, container, "none");
    }
    Optional<ContainerStatusResponse> asked = status(newest.get().getId());
    if (asked.isEmpty()) {
      return notRunning(podUid, container, "one that was just removed");
    }
    ContainerStatus status = asked.get().getStatus();
    if (status.getState() != ContainerState.CONTAINER_RUNNING) {
      return notRunning(podUid, container, words(status));
    }
    RuntimeInfo info = RuntimeInfo.parse(asked.get().getInfoMap());
    Optional<ProcessId> process = proc.id(info.pid()).filter(id -> isIn(id, status.getId()));
    if (process.isEmpty()) {
      return notRunning(podUid, container, "one whose process " + info.pid() + " has ended");
    }
    return new Located.Running(
        container(podUid, status, info.image()),
        new ContainerProcess(process.get(), info.argv(), info.env()));
  }

  @Override
  public Optional<PodContainer> byId(String containerId) throws NodeApiException {
    Optional<ContainerStatusResponse> asked = status(containerId);
    if (asked.isEmpty() || !asked.get().getStatus().containsLabels(POD_UID)) {
      return Optional.empty();
    }
    ContainerStatus status = asked.get().getStatus();
    String image = RuntimeInfo.parse(asked.get().getInfoMap()).image();
    return Optional.of(container(status.getLabelsOrThrow(POD_UID), status, image));
  }

  /** Returns the newest attempt of each container of the pod. */
  private Collection<Container> newest(String podUid) throws NodeApiException {
    ListContainersRequest request =
        ListContainersRequest.newBuilder()
            .setFilter(ContainerFilter.newBuilder().putLabelSelector(POD_UID, podUid))
            .build();
    Map<String, Container> newest = new TreeMap<>();
    BinaryOperator<Container> newer =
        BinaryOperator.maxBy(
            Comparator.comparingInt((Container one) -> one.getMetadata().getAttempt())
                .thenComparing(Container::getCreatedAt));
    socket
        .ask("ListContainers", () -> runtime().listContainers(request))
        .getContainersList()
        .forEach(one -> newest.merge(name(one), one, newer));
    return newest.values();
  }

  /** Empty if the runtime no longer has such a container. */
  private Optional<ContainerStatusResponse> status(String id) throws NodeApiException {
    ContainerStatusRequest request =
        ContainerStatusRequest.newBuilder().setContainerId(id).setVerbose(true).build();
    try {
      return Optional.of(runtime().containerStatus(request));
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.NOT_FOUND) {
        return Optional.empty();
      }
      throw socket.unanswered("ContainerStatus", e);
    }
  }

  private PodContainer container(String podUid, ContainerStatus status, String askedImage)
      throws NodeApiException {
    Map<String, String> labels = status.getLabelsMap();
    PodMount.PodFolders folders = new PodMount.PodFolders(podUid);
    return new PodContainer(
        labels.getOrDefault("io.kubernetes.pod.namespace", ""),
        labels.getOrDefault("io.kubernetes.pod.name", ""),
        podUid,
        status.getMetadata().getName(),
        status.getId(),
        image(status, askedImage),
        status.getMountsList().stream().map(folders::mount).toList());
  }

  private PodContainer.Image image(ContainerStatus status, String asked) throws NodeApiException {
    String ref = status.getImageId().isEmpty() ? status.getImageRef() : status.getImageId();
    ImageStatusRequest request =
        ImageStatusRequest.newBuilder().setImage(ImageSpec.newBuilder().setImage(ref)).build();
    Image found = socket.ask("ImageStatus", () -> images().imageStatus(request)).getImage();
    String name = asked.isEmpty() ? status.getImage().getImage() : asked;
    // An image that was removed while its container runs is still known by the name used for it.
    return found.getId().isEmpty()
        ? new PodContainer.Image(name, ref, ref.contains("@") ? List.of(ref) : List.of())
        : new PodContainer.Image(name, found.getId(), found.getRepoDigestsList());
  }

  /** A process with a reused pid is in another cgroup. */
  private boolean isIn(ProcessId process, String containerId) {
    return proc.cgroups(process.pid()).stream()
        .anyMatch(membership -> membership.path().contains(containerId));
  }

  private static String name(Container container) {
    return container.getMetadata().getName();
  }

  private static Located notRunning(String podUid, String container, String found) {
    return new Located.NotRunning(
        "container " + container + " of pod " + podUid + ": expected a running one, got " + found);
  }

  private static String words(ContainerStatus status) {
    return switch (status.getState()) {
      case CONTAINER_CREATED -> "one that has not started yet";
      case CONTAINER_EXITED ->
          "one that has exited with code "
              + status.getExitCode()
              + (status.getReason().isEmpty() ? "" : " (" + status.getReason() + ")");
      default -> "one whose state is unknown to the runtime";
    };
  }

  private RuntimeServiceGrpc.RuntimeServiceBlockingStub runtime() {
    return RuntimeServiceGrpc.newBlockingStub(socket.channel())
        .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS);
  }

  private ImageServiceGrpc.ImageServiceBlockingStub images() {
    return ImageServiceGrpc.newBlockingStub(socket.channel())
        .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS);
  }

  /**
   * The verbose part of a runtime's container status. It is not part of the CRI, but containerd and
   * CRI-O use the same names, and nothing else contains the pid.
   *
   * @param pid pid of the first process; 0 if missing
   * @param argv argv of the runtime spec
   * @param env env of the runtime spec
   * @param image the image as the pod names it; empty if missing
   */
  record RuntimeInfo(int pid, List<String> argv, List<String> env, String image) {

    private static final ObjectMapper JSON = new ObjectMapper();

    static RuntimeInfo parse(Map<String, String> info) throws NodeApiException {
      JsonNode node;
      try {
        node = JSON.readTree(info.getOrDefault("info", "{}"));
      } catch (JsonProcessingException e) {
        throw new NodeApiException(
            "ContainerStatus: expected JSON in info, got " + e.getMessage(), e);
      }
      JsonNode process = node.path("runtimeSpec").path("process");
      JsonNode image = node.path("config").path("image");
      return new RuntimeInfo(
          node.path("pid").asInt(0),
          strings(process.path("args")),
          strings(process.path("env")),
          image.path("user_specified_image").asText(""));
    }

    private static List<String> strings(JsonNode array) {
      List<String> strings = new ArrayList<>();
      array.forEach(one -> strings.add(one.asText()));
      return strings;
    }
  }
}
