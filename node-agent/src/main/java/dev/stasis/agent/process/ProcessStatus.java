package dev.stasis.agent.process;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields of {@code status} that {@code stat} does not have.
 *
 * @param tracerPid the tracer's pid, 0 for none
 * @param uids real, effective, saved and file system user
 * @param gids the same four of the group
 * @param nsPids its pid in each pid namespace, from the reader's namespace to its own
 * @param noNewPrivileges whether no_new_privs is set
 * @param capEffective the effective capabilities as a bit set
 * @param cpus the processors on which it may run
 * @param pendingSignals signals pending for the thread or its process, bit 0 for signal 1
 */
public record ProcessStatus(
    int ppid,
    int tracerPid,
    Ids uids,
    Ids gids,
    List<Integer> nsPids,
    boolean noNewPrivileges,
    long capEffective,
    CpuSet cpus,
    long pendingSignals) {

  /** The four ids that the kernel stores for a user or a group. */
  public record Ids(int real, int effective, int saved, int fileSystem) {
    static Ids parse(String text) {
      List<Integer> all = numbers(text);
      return new Ids(all.get(0), all.get(1), all.get(2), all.get(3));
    }
  }

  public ProcessStatus {
    nsPids = List.copyOf(nsPids);
  }

  /** The lines of a status file by name. */
  static Map<String, String> fields(String text) {
    Map<String, String> fields = new HashMap<>();
    text.lines()
        .forEach(
            line -> {
              int colon = line.indexOf(':');
              if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).trim());
              }
            });
    return fields;
  }

  static ProcessStatus parse(String text) {
    Map<String, String> fields = fields(text);
    return new ProcessStatus(
        Integer.parseInt(wanted(fields, "PPid")),
        Integer.parseInt(wanted(fields, "TracerPid")),
        Ids.parse(wanted(fields, "Uid")),
        Ids.parse(wanted(fields, "Gid")),
        numbers(wanted(fields, "NSpid")),
        "1".equals(fields.get("NoNewPrivs")),
        Long.parseUnsignedLong(wanted(fields, "CapEff"), 16),
        CpuSet.parse(fields.getOrDefault("Cpus_allowed_list", "")),
        Long.parseUnsignedLong(wanted(fields, "SigPnd"), 16)
            | Long.parseUnsignedLong(wanted(fields, "ShdPnd"), 16));
  }

  /** Returns its pid in its own pid namespace. */
  public int ownPid() {
    return nsPids.get(nsPids.size() - 1);
  }

  /** Whether it is process 1 of a pid namespace that is not the reader's. */
  public boolean isFirstInItsNamespace() {
    return nsPids.size() > 1 && ownPid() == 1;
  }

  public boolean isPending(int signal) {
    return (pendingSignals >> (signal - 1) & 1) == 1;
  }

  static String wanted(Map<String, String> fields, String name) {
    String value = fields.get(name);
    if (value == null || value.isEmpty()) {
      throw new IllegalArgumentException("status: expected a line " + name + ", got none");
    }
    return value;
  }

  static List<Integer> numbers(String text) {
    // Unsigned: the kernel shows an id without a mapping in this user namespace as 4294967295.
    return Arrays.stream(text.split("\\s+")).map(Integer::parseUnsignedInt).toList();
  }
}
