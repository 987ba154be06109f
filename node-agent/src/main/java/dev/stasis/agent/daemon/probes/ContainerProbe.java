package dev.stasis.agent.daemon.probes;

/** A probe of a container that can be answered from outside of the workload. */
public sealed interface ContainerProbe {

  /** The port in the pod's network. */
  int port();

  /**
   * A GET over plain HTTP.
   *
   * @param path with its query, as the kubelet asks for it
   */
  record Http(int port, String path) implements ContainerProbe {}

  /** gRPC's own health check. */
  record Grpc(int port) implements ContainerProbe {}

  /** A connection. */
  record Tcp(int port) implements ContainerProbe {}
}
