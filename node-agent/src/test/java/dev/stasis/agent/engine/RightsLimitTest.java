package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.Capabilities;
import dev.stasis.agent.process.ProcessStatus.Ids;
import dev.stasis.agent.process.ThreadRights;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The limit is what a process of the pod can come to by itself. */
class RightsLimitTest {

  private static final long ALL = (1L << 41) - 1;
  private static final long SETUID = 1L << Capabilities.SETUID;
  private static final long SETGID = 1L << Capabilities.SETGID;

  private static ThreadRights thread(
      int uid, List<Integer> groups, long bounding, boolean noNewPrivileges, int filters) {
    return new ThreadRights(
        9,
        new Ids(uid, uid, uid, uid),
        new Ids(uid, uid, uid, uid),
        groups,
        new Capabilities(0, 0, 0, bounding, 0),
        noNewPrivileges,
        filters > 0 ? 2 : 0,
        filters,
        0);
  }

  private static List<String> exceeded(ThreadRights holder, ThreadRights by) {
    return new RightsLimit(holder, 0, ALL)
        .exceededBy(by, "t").stream().map(unmet -> unmet.property()).toList();
  }

  @Test
  void aSetuidProgramGivesAnyUserWhereItIsNotForbidden() {
    ThreadRights holder = thread(1000, List.of(), 0, false, 0);

    assertThat(exceeded(holder, thread(0, List.of(5), 0, false, 0))).isEmpty();
  }

  @Test
  void withoutSetuidProgramsOnlyTheCapabilityGivesAnotherUser() {
    assertThat(
            exceeded(
                thread(1000, List.of(), SETUID | SETGID, true, 0),
                thread(0, List.of(5), 0, true, 0)))
        .isEmpty();
    assertThat(
            exceeded(thread(1000, List.of(), SETGID, true, 0), thread(0, List.of(5), 0, true, 0)))
        .containsExactly("user ids of t");
  }

  @Test
  void aGroupMayBeAnyOfTheTargets() {
    ThreadRights holder = thread(1000, List.of(2000, 3000), 0, true, 0);

    assertThat(exceeded(holder, thread(1000, List.of(1000, 2000), 0, true, 0))).isEmpty();
    assertThat(exceeded(holder, thread(1000, List.of(6), 0, true, 0)))
        .containsExactly("group ids of t");
  }

  @Test
  void aCapabilityThatThisKernelDoesNotHaveIsNone() {
    ThreadRights holder = thread(0, List.of(), ALL, false, 0);

    assertThat(exceeded(holder, thread(0, List.of(), ALL | 1L << 41, false, 0))).isEmpty();
  }

  /** The agent in a node that is a container: its filter is on criu's children already. */
  @Test
  void filtersThatTheAgentPassesOnAreNotNeededInTheImages() {
    ThreadRights holder = thread(0, List.of(), 0, false, 2);

    assertThat(new RightsLimit(holder, 1, ALL).exceededBy(thread(0, List.of(), 0, false, 1), "t"))
        .isEmpty();
    assertThat(exceeded(holder, thread(0, List.of(), 0, false, 1)))
        .containsExactly("seccomp filters of t");
  }

  @Test
  void moreFiltersAndFewerRightsAreNoExcess() {
    ThreadRights holder = thread(0, List.of(), SETUID, false, 1);

    assertThat(exceeded(holder, thread(0, List.of(), 0, true, 3))).isEmpty();
  }
}
