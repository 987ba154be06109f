package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Subject.Member;
import dev.stasis.agent.process.InetSocket;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.UnixConnection;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sockets of a kind that criu cannot dump, and those with an address that no other pod has. An
 * address of the pod's network interfaces is replaced by that of the new pod.
 */
final class SocketCheck implements Check {

  /** In the kernel's terms. criu fails at any other kind. */
  private static final Set<String> DUMPED =
      Set.of(
          "TCP",
          "TCPv6",
          "UDP",
          "UDPv6",
          "UDP-Lite",
          "UDPLITEv6",
          "RAW",
          "RAWv6",
          "PING",
          "PINGv6",
          "UNIX",
          "UNIX-STREAM",
          "NETLINK",
          "PACKET");

  /** Number of sockets named in one sentence; a server may have thousands. */
  private static final int NAMED = 3;

  private static final int LISTENING = 10;

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    List<FailedRequirement> unmet = new ArrayList<>();
    Map<Long, String> holders = new LinkedHashMap<>();
    for (Member member : subject.processes()) {
      for (OpenFile file : member.files()) {
        if (file.target().startsWith("socket:[") && file.inode().isPresent()) {
          long inode = file.inode().getAsLong();
          String process = "process %s (%s)".formatted(member.id(), member.stat().comm());
          holders.putIfAbsent(inode, process);
          String protocol = subject.around().protocols().get(inode);
          if (protocol != null && !DUMPED.contains(protocol)) {
            Requirement kind =
                protocol.startsWith("MPTCP") ? Requirement.MPTCP : Requirement.SOCKET;
            unmet.add(
                kind.found("%s as descriptor %d of %s".formatted(protocol, file.fd(), process)));
          }
          if (subject.around().unread().contains(inode)) {
            unmet.add(
                Requirement.NETLINK.found(
                    "unread messages on descriptor %d of %s".formatted(file.fd(), process)));
          }
        }
      }
    }
    unixPeers(subject.around(), holders, unmet);
    if (!subject.around().addressStays()) {
      strangeAddress(subject.around(), holders, unmet);
    }
    return unmet;
  }

  /** criu dumps a connection only with both ends. */
  private static void unixPeers(
      Surroundings around, Map<Long, String> holders, List<FailedRequirement> unmet) {
    for (UnixConnection one : around.connected()) {
      String holder = holders.get(one.inode());
      if (holder != null && !holders.containsKey(one.peer())) {
        Requirement kind =
            one.isDatagram() && one.peerIsNamed()
                ? Requirement.UNIX_DATAGRAM
                : Requirement.UNIX_PEER;
        unmet.add(
            kind.found(
                "socket %d of %s, connected to socket %d of a process outside"
                    .formatted(one.inode(), holder, one.peer())));
      }
    }
  }

  private static void strangeAddress(
      Surroundings around, Map<Long, String> holders, List<FailedRequirement> unmet) {
    List<InetSocket> sockets = around.sockets();
    List<InetSocket> bound =
        sockets.stream()
            .filter(socket -> holders.containsKey(socket.inode()))
            .filter(socket -> isSpecific(socket.local()))
            .filter(socket -> !around.interfaceAddresses().contains(socket.local()))
            // The other connections are closed by a restore, and are not bound.
            .filter(socket -> !socket.isConnection() || isWithItself(socket, sockets))
            .toList();
    if (!bound.isEmpty()) {
      List<String> named =
          bound.stream()
              .limit(NAMED)
              .map(socket -> words(socket) + " of " + holders.get(socket.inode()))
              .toList();
      String more = bound.size() > NAMED ? " and %d more".formatted(bound.size() - NAMED) : "";
      unmet.add(Requirement.SOCKET_ADDRESS.found(String.join(", ", named) + more));
    }
  }

  /** Returns whether the address belongs to only some network namespaces. */
  private static boolean isSpecific(InetAddress address) {
    return !address.isAnyLocalAddress()
        && !address.isLoopbackAddress()
        && !address.isMulticastAddress();
  }

  private static boolean isWithItself(InetSocket socket, List<InetSocket> sockets) {
    return socket.isEstablished()
        && sockets.stream()
            .anyMatch(other -> other.isEstablished() && other.isPeerOf(socket) && other != socket);
  }

  private static String words(InetSocket socket) {
    String local = address(socket.local(), socket.localPort());
    String table = socket.protocol().replace("6", "");
    if (socket.isConnection()) {
      return "a connection with itself from %s to %s"
          .formatted(local, address(socket.remote(), socket.remotePort()));
    }
    return (table.equals("tcp") && socket.state() == LISTENING ? "a tcp listener" : table)
        + " on "
        + local;
  }

  private static String address(InetAddress address, int port) {
    String text = address.getHostAddress();
    return (text.contains(":") ? "[" + text + "]" : text) + ":" + port;
  }
}
