package dev.stasis.agent.daemon.probes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Probe;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The probes of a container, separated by whether they can be answered during a freeze. */
public final class ContainerProbes {

  private final Container container;
  private final Set<ContainerProbe> answerable = new LinkedHashSet<>();
  private final List<String> others = new ArrayList<>();

  /** Returns the probes of this container. */
  public ContainerProbes(Container container) {
    this.container = container;
    add("livenessProbe", container.getLivenessProbe());
    add("readinessProbe", container.getReadinessProbe());
    add("startupProbe", container.getStartupProbe());
  }

  /** Those that can be answered, without duplicates. */
  public List<ContainerProbe> answerable() {
    return List.copyOf(answerable);
  }

  /** One sentence for each probe that cannot be answered. */
  public List<String> others() {
    return List.copyOf(others);
  }

  private void add(String which, @Nullable Probe probe) {
    if (probe == null) {
      return;
    }
    if (probe.getHttpGet() != null) {
      add(which, probe.getHttpGet());
    } else if (probe.getTcpSocket() != null) {
      port(which, probe.getTcpSocket().getPort())
          .ifPresent(port -> answerable.add(new ContainerProbe.Tcp(port)));
    } else if (probe.getGrpc() != null) {
      answerable.add(new ContainerProbe.Grpc(probe.getGrpc().getPort()));
    } else {
      others.add(
          which + ": expected httpGet, tcpSocket or grpc, got exec, which runs in the workload");
    }
  }

  private void add(String which, HTTPGetAction get) {
    if ("HTTPS".equals(get.getScheme())) {
      others.add(which + ": expected plain HTTP, got HTTPS, for which only the workload has a key");
    } else if (get.getHost() != null && !get.getHost().isEmpty()) {
      others.add(which + ": expected a probe of the pod itself, got one of host " + get.getHost());
    } else {
      String path = Objects.requireNonNullElse(get.getPath(), "/");
      port(which, get.getPort())
          .ifPresent(
              port ->
                  answerable.add(
                      new ContainerProbe.Http(port, path.startsWith("/") ? path : "/" + path)));
    }
  }

  private OptionalInt port(String which, IntOrString port) {
    if (port.getIntVal() != null) {
      return OptionalInt.of(port.getIntVal());
    }
    OptionalInt named =
        container.getPorts().stream()
            .filter(one -> Objects.equals(one.getName(), port.getStrVal()))
            .mapToInt(ContainerPort::getContainerPort)
            .findFirst();
    if (named.isEmpty()) {
      others.add(which + ": expected a port named " + port.getStrVal() + ", got none");
    }
    return named;
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
