package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.Node;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.awaitility.Awaitility;

/** Something that goes wrong while a pod is moved. */
enum MigrationFault {
  OPERATOR_DIES("the operator dies") {
    @Override
    void strike(Site site) {
      site.local().operator().kill();
      site.local().operator().start();
    }
  },
  SOURCE_AGENT_DIES("the source's agent dies") {
    @Override
    void strike(Site site) {
      anew(site.local().agent(site.source()));
    }
  },
  TARGET_AGENT_DIES("the target's agent dies") {
    @Override
    void strike(Site site) {
      anew(site.local().agent(site.target()));
    }
  },
  ALL_DIE("operator and both agents die") {
    @Override
    void strike(Site site) {
      site.local().operator().kill();
      site.local().agent(site.source()).kill();
      site.local().agent(site.target()).kill();
      site.local().agent(site.target()).start();
      site.local().agent(site.source()).start();
      site.local().operator().start();
    }
  },
  API_SERVER_AWAY("the API server is away for 20 s") {
    @Override
    void strike(Site site) {
      site.local().apiServer("STOP");
      try {
        pass(AWAY);
      } finally {
        site.local().apiServer("CONT");
      }
    }
  },
  TARGET_DISK_FULL("the target's disk is full") {
    @Override
    Runnable strikeAndUndo(Site site) {
      try {
        site.local().smallDisk(site.target(), site.scenario().namespace(), "2m");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return () -> anew(site.local().agent(site.target()));
    }
  },
  TARGET_GPU_FULL("the target's GPU is out of memory") {
    @Override
    void strike(Site site) {
      site.local().fault(site.target(), "restore", "error 2 always");
    }
  },
  SOURCE_CUT_OFF("the source's node is cut off for 20 s") {
    @Override
    void strike(Site site) {
      cutOff(site, site.source());
    }
  },
  TARGET_CUT_OFF("the target's node is cut off for 20 s") {
    @Override
    void strike(Site site) {
      cutOff(site, site.target());
    }
  },
  TARGET_POD_DELETED("the target pod is deleted", Dies.TARGET) {
    @Override
    void strike(Site site) {
      site.target(site.request().status())
          .ifPresent(pod -> site.scenario().tryKubectl("delete", "pod", pod, "--wait=false"));
    }
  },
  SOURCE_POD_DELETED("the source pod is deleted") {
    @Override
    void strike(Site site) {
      site.scenario().tryKubectl("delete", "pod", site.workload().name(), "--wait=false");
    }
  },
  CANCELLED("it is cancelled") {
    @Override
    void strike(Site site) {
      site.request().cancel();
    }
  },
  DRIVER_HANGS_AT_THE_SOURCE("the driver hangs at the source") {
    @Override
    void strike(Site site) {
      site.local().fault(site.source(), "checkpoint", "hang");
    }
  },
  DRIVER_HANGS_AT_THE_TARGET("the driver hangs at the target") {
    @Override
    void strike(Site site) {
      site.local().fault(site.target(), "restore", "hang");
    }
  },
  SOURCE_LOST("the source's node is gone for good", Dies.SOURCE) {
    @Override
    Runnable strikeAndUndo(Site site) {
      return vanish(site, site.source());
    }
  },
  SOURCE_REBOOTED("the source's node reboots", Dies.SOURCE) {
    @Override
    Runnable strikeAndUndo(Site site) {
      return reboot(site, site.source());
    }
  },
  TARGET_LOST("the target's node is gone for good", Dies.TARGET) {
    @Override
    Runnable strikeAndUndo(Site site) {
      return vanish(site, site.target());
    }
  },
  TARGET_REBOOTED("the target's node reboots", Dies.TARGET) {
    @Override
    Runnable strikeAndUndo(Site site) {
      return reboot(site, site.target());
    }
  };

  private static final Duration AWAY = Duration.ofSeconds(20);

  /** Whose end it is: what runs on a node that dies, or in a pod that is deleted, ends with it. */
  enum Dies {
    NOBODY,
    SOURCE,
    TARGET
  }

  private final String sentence;
  private final Dies dies;

  MigrationFault(String sentence) {
    this(sentence, Dies.NOBODY);
  }

  MigrationFault(String sentence, Dies dies) {
    this.sentence = sentence;
    this.dies = dies;
  }

  Dies dies() {
    return dies;
  }

  String sentence() {
    return sentence;
  }

  /** Does what passes by itself. */
  void strike(Site site) {}

  /**
   * Does it.
   *
   * @return takes back what lasts, once the migration is over
   */
  Runnable strikeAndUndo(Site site) {
    strike(site);
    return () -> {};
  }

  private static Runnable vanish(Site site, String node) {
    LostNode lost = new LostNode(site.scenario(), site.local(), node);
    Node was = lost.vanish();
    return () -> lost.comesBackAs(was);
  }

  private static Runnable reboot(Site site, String node) {
    LostNode lost = new LostNode(site.scenario(), site.local(), node);
    lost.reboots();
    return lost::forgetsTheReboot;
  }

  private static void anew(Component component) {
    component.kill();
    component.start();
  }

  private static void cutOff(Site site, String node) {
    site.local().cutOff(node);
    try {
      pass(AWAY);
    } finally {
      site.local().heal(node);
    }
  }

  /** What it is about is that nobody hears anything for so long. */
  private static void pass(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    Awaitility.await("the time that passes")
        .atMost(time.multipliedBy(2))
        .until(() -> System.nanoTime() >= end);
  }

  /**
   * Where it happens.
   *
   * @param source name of the node on which the workload runs
   * @param target name of the other one
   */
  record Site(
      Scenario scenario,
      LocalInstallation local,
      MigrationRequest request,
      Workload workload,
      String source,
      String target) {

    java.util.Optional<String> target(dev.stasis.api.v1beta1.migration.GpuMigrationStatus status) {
      return java.util.Optional.ofNullable(status.getTarget()).map(pod -> pod.name());
    }
  }
}
