package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Subject.Member;
import dev.stasis.agent.process.InetSocket;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Ranks of a job whose other ranks are in other pods. A restore closes their connections, which
 * ends the job: NCCL and gloo do not connect again. A checkpoint in place leaves the connections
 * open, but the kernels of the other ranks wait for seconds, and driver 580 ended one of them when
 * this rank was resumed (Xid 109, seen on two H200).
 */
final class RankCheck implements Check {

  /** Number of all ranks, and of those on this machine: torchrun, Open MPI, MPICH. */
  private static final Map<String, String> SIZES =
      Map.of(
          "WORLD_SIZE", "LOCAL_WORLD_SIZE",
          "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
          "PMI_SIZE", "MPI_LOCALNRANKS");

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    Set<Long> outside =
        subject.around().sockets().stream()
            .filter(socket -> isConnectedOutside(socket, subject.around().interfaceAddresses()))
            .map(InetSocket::inode)
            .collect(Collectors.toSet());
    if (outside.isEmpty()) {
      return List.of();
    }
    int ranksHere = subject.cuda().size();
    return subject.processes().stream()
        .filter(member -> holdsOne(member, outside))
        .flatMap(member -> ranksElsewhere(member, ranksHere).stream())
        .findFirst()
        .map(Requirement.DISTRIBUTED_JOB::found)
        .stream()
        .toList();
  }

  private static boolean isConnectedOutside(InetSocket socket, Set<InetAddress> own) {
    return socket.isEstablished()
        && !socket.remote().isLoopbackAddress()
        && !own.contains(socket.remote());
  }

  private static boolean holdsOne(Member member, Set<Long> sockets) {
    return member.files().stream()
        .anyMatch(
            file ->
                file.target().startsWith("socket:[")
                    && file.inode().isPresent()
                    && sockets.contains(file.inode().getAsLong()));
  }

  /** Without a number of local ranks, each process that uses CUDA is taken for one. */
  private static Optional<String> ranksElsewhere(Member member, int ranksHere) {
    for (Map.Entry<String, String> sizes : SIZES.entrySet()) {
      int all = number(member, sizes.getKey()).orElse(0);
      int local = number(member, sizes.getValue()).orElse(ranksHere);
      if (all > local) {
        return Optional.of(
            "%s=%d, %d of them here, and a connection to another pod or host in process %s (%s)"
                .formatted(sizes.getKey(), all, local, member.id(), member.stat().comm()));
      }
    }
    return Optional.empty();
  }

  private static Optional<Integer> number(Member member, String variable) {
    try {
      return Optional.ofNullable(member.environment().get(variable)).map(Integer::valueOf);
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }
}
