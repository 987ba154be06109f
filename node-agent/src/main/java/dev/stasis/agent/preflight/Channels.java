package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Contexts.Holder;
import dev.stasis.agent.preflight.Contexts.SharedMemory;
import dev.stasis.agent.preflight.Subject.Member;
import dev.stasis.agent.process.InetSocket;
import dev.stasis.agent.process.OpenFile;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Direct connections of two processes. Two that write into the same pipe, as all do with the
 * container's output, or that are connected to a third one, are not connected directly.
 */
final class Channels {

  private final List<InetSocket> inet;
  private final Map<Long, Long> unixPeers;

  Channels(List<InetSocket> inet, Map<Long, Long> unixPeers) {
    this.inet = inet;
    this.unixPeers = unixPeers;
  }

  /** Returns the memory that both have, and that at least one can write. */
  static List<SharedMemory> memory(Holder one, Holder other) {
    return one.memory().stream()
        .filter(
            file ->
                other.memory().stream()
                    .anyMatch(its -> its.isSameAs(file) && (its.writable() || file.writable())))
        .toList();
  }

  /** Returns a pipe or a connection between them. */
  Optional<String> between(Member one, Member other) {
    return pipe(one, other)
        .or(() -> pipe(other, one))
        .or(() -> unix(one, other))
        .or(() -> connection(one, other));
  }

  private static Optional<String> pipe(Member from, Member to) {
    Set<Long> written = inodes(from, file -> file.isPipe() && file.isWritable());
    return inodes(to, file -> file.isPipe() && file.isReadable()).stream()
        .filter(written::contains)
        .findFirst()
        .map("a pipe (pipe:[%d])"::formatted);
  }

  private Optional<String> unix(Member one, Member other) {
    Set<Long> its = sockets(other);
    return sockets(one).stream()
        .filter(inode -> its.contains(unixPeers.getOrDefault(inode, 0L)))
        .findFirst()
        .map("a Unix socket (socket:[%d])"::formatted);
  }

  private Optional<String> connection(Member one, Member other) {
    Set<Long> ones = sockets(one);
    Set<Long> others = sockets(other);
    List<InetSocket> its =
        inet.stream()
            .filter(socket -> socket.remotePort() != 0 && others.contains(socket.inode()))
            .toList();
    return inet.stream()
        .filter(socket -> socket.remotePort() != 0 && ones.contains(socket.inode()))
        .filter(socket -> its.stream().anyMatch(peer -> peer.isPeerOf(socket) && peer != socket))
        .findFirst()
        .map(socket -> "a connection (%s)".formatted(socket.protocol()));
  }

  private static Set<Long> sockets(Member member) {
    return inodes(member, file -> file.target().startsWith("socket:["));
  }

  private static Set<Long> inodes(Member member, Predicate<OpenFile> kind) {
    return member.files().stream()
        .filter(kind)
        .flatMap(file -> file.inode().stream().boxed())
        .collect(Collectors.toCollection(HashSet::new));
  }
}
