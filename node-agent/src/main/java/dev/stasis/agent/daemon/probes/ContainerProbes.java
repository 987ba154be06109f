package dev.stasis.agent.daemon.probes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Probe;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The probes of a container that can be answered during a freeze. */
public final class ContainerProbes {

  private final Container container;
  private final Set<ContainerProbe> answerable = new LinkedHashSet<>();

  public ContainerProbes(Container container) {
    this.container = container;
    add(container.getLivenessProbe());
    add(container.getReadinessProbe());
    add(container.getStartupProbe());
  }

  /** Those that can be answered, without duplicates. */
  public List<ContainerProbe> answerable() {
    return List.copyOf(answerable);
  }

  private void add(@Nullable Probe probe) {
    if (probe == null) {
      return;
    }
    if (probe.getHttpGet() != null) {
      add(probe.getHttpGet());
    } else if (probe.getTcpSocket() != null) {
      port(probe.getTcpSocket().getPort())
          .ifPresent(port -> answerable.add(new ContainerProbe.Tcp(port)));
    } else if (probe.getGrpc() != null) {
      answerable.add(new ContainerProbe.Grpc(probe.getGrpc().getPort()));
    }
    // An exec probe runs in the workload.
  }

  /** Only the workload has a key for HTTPS, and another host is not the workload. */
  private void add(HTTPGetAction get) {
    if (!"HTTPS".equals(get.getScheme()) && (get.getHost() == null || get.getHost().isEmpty())) {
      String path = Objects.requireNonNullElse(get.getPath(), "/");
      port(get.getPort())
          .ifPresent(
              port ->
                  answerable.add(
                      new ContainerProbe.Http(port, path.startsWith("/") ? path : "/" + path)));
    }
  }

  /** Empty for a name that the container gives to none of its ports. */
  private OptionalInt port(IntOrString port) {
    return port.getIntVal() != null
        ? OptionalInt.of(port.getIntVal())
        : container.getPorts().stream()
            .filter(one -> Objects.equals(one.getName(), port.getStrVal()))
            .mapToInt(ContainerPort::getContainerPort)
            .findFirst();
  }

  /** A probe of a container that can be answered outside the workload. */
  public sealed interface ContainerProbe {

    /** The port in the pod's network. */
    int port();

    /**
     * A GET over plain HTTP.
     *
     * @param path path with query, as in the kubelet's request
     */
    record Http(int port, String path) implements ContainerProbe {}

    /** gRPC's health check. */
    record Grpc(int port) implements ContainerProbe {}

    /** A connection. */
    record Tcp(int port) implements ContainerProbe {}
  }
}
