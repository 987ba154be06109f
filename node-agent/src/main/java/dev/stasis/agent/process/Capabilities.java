package dev.stasis.agent.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The five sets of capabilities of a thread, bit 0 for capability 0. */
public record Capabilities(
    long inheritable, long permitted, long effective, long bounding, long ambient) {

  public static final int SETGID = 6;
  public static final int SETUID = 7;
  public static final int SYS_ADMIN = 21;

  private static final List<String> NAMES =
      List.of(
          "CHOWN",
          "DAC_OVERRIDE",
          "DAC_READ_SEARCH",
          "FOWNER",
          "FSETID",
          "KILL",
          "SETGID",
          "SETUID",
          "SETPCAP",
          "LINUX_IMMUTABLE",
          "NET_BIND_SERVICE",
          "NET_BROADCAST",
          "NET_ADMIN",
          "NET_RAW",
          "IPC_LOCK",
          "IPC_OWNER",
          "SYS_MODULE",
          "SYS_RAWIO",
          "SYS_CHROOT",
          "SYS_PTRACE",
          "SYS_PACCT",
          "SYS_ADMIN",
          "SYS_BOOT",
          "SYS_NICE",
          "SYS_RESOURCE",
          "SYS_TIME",
          "SYS_TTY_CONFIG",
          "MKNOD",
          "LEASE",
          "AUDIT_WRITE",
          "AUDIT_CONTROL",
          "SETFCAP",
          "MAC_OVERRIDE",
          "MAC_ADMIN",
          "SYSLOG",
          "WAKE_ALARM",
          "BLOCK_SUSPEND",
          "AUDIT_READ",
          "PERFMON",
          "BPF",
          "CHECKPOINT_RESTORE");

  static Capabilities parse(Map<String, String> status) {
    return new Capabilities(
        set(status, "CapInh"),
        set(status, "CapPrm"),
        set(status, "CapEff"),
        set(status, "CapBnd"),
        set(status, "CapAmb"));
  }

  private static long set(Map<String, String> status, String name) {
    return Long.parseUnsignedLong(ProcessStatus.wanted(status, name), 16);
  }

  /** The permitted set: all capabilities that the thread has or can raise. */
  public long any() {
    return inheritable | permitted | effective | bounding | ambient;
  }

  /** Returns whether a program executed by the thread can get that capability. */
  public boolean allow(int capability) {
    return (bounding >>> capability & 1) == 1;
  }

  /** Returns the names of a set as users write them in a securityContext. */
  public static String names(long set) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < Long.SIZE; i++) {
      if ((set >>> i & 1) == 1) {
        names.add(i < NAMES.size() ? NAMES.get(i) : Integer.toString(i));
      }
    }
    return names.isEmpty() ? "none" : String.join(", ", names);
  }
}
