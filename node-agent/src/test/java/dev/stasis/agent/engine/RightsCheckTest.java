package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.criu.SeccompFilterReader;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  private Optional<FailedRequirement> check() {
    return check(false);
  }

  private Optional<FailedRequirement> check(boolean withoutAppArmor) {
    return rights(withoutAppArmor).label(HOLDER);
  }

  private RightsCheck rights(boolean withoutAppArmor) {
    return new RightsCheck(
        new ProcFs(proc), AGENT, withoutAppArmor, new SeccompFilterReader(Path.of("/none")));
  }

  @Test
  void withoutASecurityModuleNothingIsRefused() {
    assertThat(check()).isEmpty();
  }

  @Test
  void anAgentWithoutAProfileAppliesThatOfTheTarget() throws Exception {
    label(AGENT, "apparmor/current", "unconfined\n");
    label(HOLDER, "apparmor/current", "cri-containerd.apparmor.d//&:box:inner (enforce)\n");

    assertThat(check()).isEmpty();
    assertThat(rights(false).profile(HOLDER)).contains("cri-containerd.apparmor.d//&:box:inner");
    assertThat(rights(true).profile(HOLDER)).isEmpty();
  }

  @Test
  void threadsWithOtherLabelsThanTheFirstProcessAreFound() throws Exception {
    label(HOLDER, "apparmor/current", "box (enforce)\n");
    label(HOLDER, "../task/2/attr/apparmor/current", "box (enforce)\n");
    assertThat(rights(false).labelBeside(HOLDER, List.of(HOLDER))).isEmpty();

    label(HOLDER, "../task/3/attr/apparmor/current", "box//hat (enforce)\n");
    assertThat(rights(false).labelBeside(HOLDER, List.of(HOLDER)))
        .contains("box//hat (enforce) beside box (enforce)");
  }

  @Test
  void anotherProfileThanThatOfAConfinedAgentIsRefusedByName() throws Exception {
    label(AGENT, "apparmor/current", "agent (enforce)\n");
    label(HOLDER, "apparmor/current", "cri-containerd.apparmor.d (enforce)\n");

    assertThat(check())
        .hasValueSatisfying(
            unmet -> {
              assertThat(unmet.property()).isEqualTo("AppArmor profile of the target");
              assertThat(unmet.wanted()).endsWith("agent (enforce)");
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
    label(AGENT, "apparmor/current", "agent (enforce)\n");
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
