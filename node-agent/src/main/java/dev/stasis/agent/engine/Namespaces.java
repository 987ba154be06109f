package dev.stasis.agent.engine;

import dev.stasis.agent.process.UnixConnection;
import dev.stasis.artifact.InterfaceAddress;
import java.util.List;

/**
 * What only a program within the namespaces of a container can read.
 *
 * @param addresses those of the network interfaces
 * @param connected the Unix sockets that have a peer
 * @param ipcObjects what the IPC namespace holds, each with its kind
 */
record Namespaces(
    List<InterfaceAddress> addresses, List<UnixConnection> connected, List<String> ipcObjects) {

  static final Namespaces NONE = new Namespaces(List.of(), List.of(), List.of());

  Namespaces {
    addresses = List.copyOf(addresses);
    connected = List.copyOf(connected);
    ipcObjects = List.copyOf(ipcObjects);
  }
}
