package dev.stasis.agent.process;

import java.util.List;
import java.util.Map;

/**
 * The rights of a thread.
 *
 * @param tid the thread
 * @param groups supplementary groups
 * @param noNewPrivileges whether no_new_privs is set
 * @param seccomp 0 none, 1 strict, 2 filter
 * @param seccompFilters number of its filters
 * @param tracerPid the tracer's pid, 0 for none
 */
public record ThreadRights(
    int tid,
    ProcessStatus.Ids uids,
    ProcessStatus.Ids gids,
    List<Integer> groups,
    Capabilities capabilities,
    boolean noNewPrivileges,
    int seccomp,
    int seccompFilters,
    int tracerPid) {

  public static final int SECCOMP_FILTER = 2;

  public ThreadRights {
    groups = List.copyOf(groups);
  }

  static ThreadRights parse(int tid, String text) {
    Map<String, String> status = ProcessStatus.fields(text);
    String groups = status.getOrDefault("Groups", "");
    int seccomp = Integer.parseInt(status.getOrDefault("Seccomp", "0"));
    // Kernels before 5.9 do not report the number.
    String filters = status.getOrDefault("Seccomp_filters", seccomp == SECCOMP_FILTER ? "1" : "0");
    return new ThreadRights(
        tid,
        ProcessStatus.Ids.parse(ProcessStatus.wanted(status, "Uid")),
        ProcessStatus.Ids.parse(ProcessStatus.wanted(status, "Gid")),
        groups.isEmpty() ? List.of() : ProcessStatus.numbers(groups),
        Capabilities.parse(status),
        "1".equals(status.get("NoNewPrivs")),
        seccomp,
        Integer.parseInt(filters),
        Integer.parseInt(ProcessStatus.wanted(status, "TracerPid")));
  }
}
