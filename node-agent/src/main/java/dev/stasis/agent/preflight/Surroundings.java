package dev.stasis.agent.preflight;

import dev.stasis.agent.process.InetSocket;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.UnixConnection;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the processes of a container share.
 *
 * @param namespaces types and inodes of the namespaces of its first process
 * @param mounts its mounts, in the kernel's order
 * @param packedMounts where those are whose files go into the artifact
 * @param fileVolumes those of them that are a single file
 * @param podMounts where the pod itself has mounts, each with its subPath in its volume, or an
 *     empty text; null outside Kubernetes
 * @param nodeMounts what the container runtime of the node mounts in every container
 * @param sockets the sockets in its network namespace that are bound or connected
 * @param interfaceAddresses those of its network interfaces, which the next pod has too, with other
 *     values
 * @param protocols of each socket that a process holds, by inode
 * @param connected the Unix sockets in its network namespace that have a peer
 * @param unread the netlink sockets with messages that wait to be read, by inode
 * @param ipcObjects what the IPC namespace holds of System V and of POSIX message queues
 * @param watched a path for each watched inode for which one was found, by {@code
 *     MAJOR:MINOR:INODE}
 * @param foreignLabel an AppArmor profile or SELinux label in it that a restore cannot apply
 * @param addressStays whether the user says that a target pod has the same address
 */
public record Surroundings(
    Map<String, Long> namespaces,
    List<Mount> mounts,
    Set<String> packedMounts,
    Set<String> fileVolumes,
    @Nullable Map<String, String> podMounts,
    Set<String> nodeMounts,
    List<InetSocket> sockets,
    Set<InetAddress> interfaceAddresses,
    Map<Long, String> protocols,
    List<UnixConnection> connected,
    Set<Long> unread,
    List<String> ipcObjects,
    Map<String, String> watched,
    @Nullable String foreignLabel,
    boolean addressStays) {

  public Surroundings {
    namespaces = Map.copyOf(namespaces);
    mounts = List.copyOf(mounts);
    packedMounts = Set.copyOf(packedMounts);
    fileVolumes = Set.copyOf(fileVolumes);
    podMounts = podMounts == null ? null : Map.copyOf(podMounts);
    nodeMounts = Set.copyOf(nodeMounts);
    sockets = List.copyOf(sockets);
    interfaceAddresses = Set.copyOf(interfaceAddresses);
    protocols = Map.copyOf(protocols);
    connected = List.copyOf(connected);
    unread = Set.copyOf(unread);
    ipcObjects = List.copyOf(ipcObjects);
    watched = Map.copyOf(watched);
  }
}
