package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.preflight.Unmet;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a security module confines the target, a restore does not take that away. */
class RightsCheckTest {

  private static final int AGENT = 1;
  private static final int HOLDER = 2;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path proc;

  private void label(int pid, String file, String text) throws IOException {
    Path at = proc.resolve(pid + "/attr").resolve(file);
    Files.createDirectories(at.getParent());
    Files.writeString(at, text);
  }

  private Optional<Unmet> check() {
    return check(false);
  }

  private Optional<Unmet> check(boolean withoutAppArmor) {
    return new RightsCheck(new ProcFs(proc), AGENT, withoutAppArmor).label(HOLDER);
  }

  @Test
  void withoutASecurityModuleNothingIsRefused() {
    assertThat(check()).isEmpty();
  }

  @Test
  void anotherAppArmorProfileThanTheAgentsIsRefusedByName() throws Exception {
    label(AGENT, "apparmor/current", "unconfined\n");
    label(HOLDER, "apparmor/current", "cri-containerd.apparmor.d (enforce)\n");

    assertThat(check())
        .hasValueSatisfying(
            unmet -> {
              assertThat(unmet.property()).isEqualTo("AppArmor profile of the target");
              assertThat(unmet.wanted()).endsWith("unconfined");
              assertThat(unmet.found()).isEqualTo("cri-containerd.apparmor.d (enforce)");
            });
  }

  @Test
  void anotherSelinuxLabelThanTheAgentsIsRefusedByName() throws Exception {
    label(AGENT, "current", "system_u:system_r:spc_t:s0\0");
    label(HOLDER, "current", "system_u:system_r:container_t:s0:c1,c2\0");

    assertThat(check())
        .hasValueSatisfying(
            unmet -> {
              assertThat(unmet.property()).isEqualTo("SELinux label of the target");
              assertThat(unmet.found()).isEqualTo("system_u:system_r:container_t:s0:c1,c2");
            });
  }

  @Test
  void anAdministratorMayGiveUpAppArmorButNotSelinux() throws Exception {
    label(AGENT, "apparmor/current", "unconfined\n");
    label(HOLDER, "apparmor/current", "cri-containerd.apparmor.d (enforce)\n");
    assertThat(check(true)).isEmpty();

    Files.delete(proc.resolve(AGENT + "/attr/apparmor/current"));
    Files.delete(proc.resolve(HOLDER + "/attr/apparmor/current"));
    label(AGENT, "current", "system_u:system_r:spc_t:s0\0");
    label(HOLDER, "current", "system_u:system_r:container_t:s0:c1,c2\0");
    assertThat(check(true)).isPresent();
  }

  @Test
  void theAgentsOwnLabelIsNotRefused() throws Exception {
    label(AGENT, "current", "unconfined\n");
    label(HOLDER, "current", "unconfined\n");

    assertThat(check()).isEmpty();
  }
}
