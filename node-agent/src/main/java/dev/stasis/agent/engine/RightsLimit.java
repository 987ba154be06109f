package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.Capabilities;
import dev.stasis.agent.process.ProcessStatus.Ids;
import dev.stasis.agent.process.ThreadRights;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The maximum rights of a process in the target pod: what was admitted for the pod, not what its
 * first process has now. A program with file capabilities or a setuid bit may have more than that
 * process, but never more than the bounding set allows. A workload with rights that it could have
 * obtained in this container by itself is therefore not refused.
 *
 * @param holder the rights of the target's first process
 * @param inherited the seccomp filters that criu's children inherit from the agent
 * @param known the capabilities of this kernel; criu drops others
 */
record RightsLimit(ThreadRights holder, int inherited, long known) {

  /** Returns everything in which a thread's rights exceed the limit. */
  List<FailedRequirement> exceededBy(ThreadRights rights, String thread) {
    List<FailedRequirement> unmet = new ArrayList<>();
    capabilities(rights, thread).ifPresent(unmet::add);
    if (holder.noNewPrivileges() && !rights.noNewPrivileges()) {
      unmet.add(new FailedRequirement("no_new_privs of " + thread, "1, as in the target", "0"));
    }
    filters(rights, thread).ifPresent(unmet::add);
    ids(thread, "user", Capabilities.SETUID, all(holder.uids()), all(rights.uids()))
        .ifPresent(unmet::add);
    Set<Integer> groups = all(holder.gids());
    groups.addAll(holder.groups());
    Set<Integer> of = all(rights.gids());
    of.addAll(rights.groups());
    ids(thread, "group", Capabilities.SETGID, groups, of).ifPresent(unmet::add);
    return unmet;
  }

  private Optional<FailedRequirement> capabilities(ThreadRights rights, String thread) {
    long more = rights.capabilities().any() & known & ~holder.capabilities().bounding();
    return more == 0
        ? Optional.empty()
        : Optional.of(
            new FailedRequirement(
                "capabilities of " + thread,
                "at most those of the target: "
                    + Capabilities.names(holder.capabilities().bounding()),
                "also " + Capabilities.names(more)));
  }

  private Optional<FailedRequirement> filters(ThreadRights rights, String thread) {
    int needed = holder.seccompFilters() - inherited;
    if (holder.seccomp() != ThreadRights.SECCOMP_FILTER || needed <= 0) {
      return Optional.empty();
    }
    boolean filtered =
        rights.seccomp() == ThreadRights.SECCOMP_FILTER && rights.seccompFilters() >= needed;
    return filtered
        ? Optional.empty()
        : Optional.of(
            new FailedRequirement(
                "seccomp filters of " + thread,
                "at least " + needed + ", as the target has",
                rights.seccomp() == ThreadRights.SECCOMP_FILTER
                    ? "" + rights.seccompFilters()
                    : "mode " + rights.seccomp()));
  }

  /**
   * Without no_new_privs a setuid program of the image gives any id; with it, only the capability
   * does.
   */
  private Optional<FailedRequirement> ids(
      String thread, String what, int capability, Set<Integer> allowed, Set<Integer> actual) {
    if (!holder.noNewPrivileges() || holder.capabilities().allow(capability)) {
      return Optional.empty();
    }
    Set<Integer> more = new HashSet<>(actual);
    more.removeAll(allowed);
    return more.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new FailedRequirement(what + " ids of " + thread, "of " + allowed, "also " + more));
  }

  private static Set<Integer> all(Ids ids) {
    return new HashSet<>(List.of(ids.real(), ids.effective(), ids.saved(), ids.fileSystem()));
  }
}
