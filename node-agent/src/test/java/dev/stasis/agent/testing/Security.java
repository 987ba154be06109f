package dev.stasis.agent.testing;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a pod's securityContext makes of its container.
 *
 * @param uid user and group of its first process
 * @param capabilities those that its processes can have
 * @param noNewPrivileges whether exec gives no rights
 * @param filtered whether it has a seccomp filter
 * @param appArmorProfile that confines it; null for none
 */
public record Security(
    int uid,
    List<String> capabilities,
    boolean noNewPrivileges,
    boolean filtered,
    @Nullable String appArmorProfile) {

  private static final List<String> USUAL_CAPABILITIES =
      List.of(
          "CAP_CHOWN",
          "CAP_DAC_OVERRIDE",
          "CAP_FOWNER",
          "CAP_FSETID",
          "CAP_KILL",
          "CAP_SETGID",
          "CAP_SETUID",
          "CAP_SETPCAP",
          "CAP_NET_BIND_SERVICE",
          "CAP_SYS_CHROOT",
          "CAP_MKNOD",
          "CAP_AUDIT_WRITE",
          "CAP_SETFCAP");

  public Security {
    capabilities = List.copyOf(capabilities);
  }

  /** Without any securityContext. */
  public static Security usual() {
    return new Security(0, USUAL_CAPABILITIES, false, false, null);
  }

  /** All capabilities dropped, allowPrivilegeEscalation false. */
  public static Security restricted(int uid) {
    return new Security(uid, List.of(), true, false, null);
  }

  public Security as(int other) {
    return new Security(other, capabilities, noNewPrivileges, filtered, appArmorProfile);
  }

  public Security withFilter() {
    return new Security(uid, capabilities, noNewPrivileges, true, appArmorProfile);
  }

  public Security withCapabilities(String... more) {
    Stream<String> all = Stream.concat(capabilities.stream(), Stream.of(more));
    return new Security(uid, all.toList(), noNewPrivileges, filtered, appArmorProfile);
  }

  public Security without(String capability) {
    Stream<String> left = capabilities.stream().filter(each -> !each.equals(capability));
    return new Security(uid, left.toList(), noNewPrivileges, filtered, appArmorProfile);
  }

  public Security confinedBy(String profile) {
    return new Security(uid, capabilities, noNewPrivileges, filtered, profile);
  }

  /** A filter that no test program notices. */
  Optional<Map<String, Object>> seccomp() {
    return filtered
        ? Optional.of(
            Map.of(
                "defaultAction",
                "SCMP_ACT_ALLOW",
                "architectures",
                List.of("SCMP_ARCH_X86_64"),
                "syscalls",
                List.of(Map.of("names", List.of("kexec_load"), "action", "SCMP_ACT_ERRNO"))))
        : Optional.empty();
  }
}
