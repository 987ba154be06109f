package dev.stasis.e2e.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Who may know whom. A rule about a module that does not exist yet holds of itself. */
class DirectionsTest {

  private static final String AGENT = "dev.stasis.agent..";
  private static final String[] KUBERNETES = {
    "io.fabric8..", "io.javaoperatorsdk..", "io.quarkus.."
  };

  @SuppressWarnings("NullAway.Init") // read before the first test
  private static JavaClasses product;

  @BeforeAll
  static void readTheModules() {
    product = Repository.ofThisBuild().productClasses();
  }

  @Test
  void theModulesThatTheRulesSpeakOfWereRead() {
    assertThat(product).extracting(type -> type.getPackageName()).contains("dev.stasis.artifact");
    assertThat(product)
        .extracting(type -> type.getPackageName())
        .contains("dev.stasis.agent.process", "dev.stasis.trace");
  }

  @Test
  void theArtifactKnowsOnlyItselfAndJson() {
    holds(
        classes()
            .that()
            .resideInAPackage("dev.stasis.artifact..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                "dev.stasis.artifact..", "java..", "com.fasterxml.jackson..", "org.jspecify.."));
  }

  @Test
  void theStoreKnowsTheArtifactAndItsLibrariesOnly() {
    holds(
        classes()
            .that()
            .resideInAPackage("dev.stasis.store..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                "dev.stasis.store..",
                "dev.stasis.artifact..",
                "java..",
                "javax.crypto..",
                "javax.net.ssl..",
                "com.fasterxml.jackson..",
                "io.airlift.compress..",
                "com.github.luben.zstd..",
                "software.amazon.awssdk..",
                "org.jspecify.."));
  }

  @Test
  void theTracesKnowTheJdkAlone() {
    holds(
        classes()
            .that()
            .resideInAPackage("dev.stasis.trace..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("dev.stasis.trace..", "java..", "org.jspecify.."));
  }

  @Test
  void compatibilityIsPure() {
    holds(
        noClasses()
            .that()
            .resideInAPackage("dev.stasis.compat..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "io.fabric8..",
                "io.javaoperatorsdk..",
                "io.quarkus..",
                AGENT,
                "dev.stasis.operator..",
                "com.sun.jna..",
                "java.nio.file..",
                "java.net.."));
  }

  @Test
  void theTypesOfTheApiDependOnNoComponent() {
    holds(
        noClasses()
            .that()
            .resideInAPackage("dev.stasis.api..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                AGENT, "dev.stasis.operator..", "dev.stasis.artifact..", "com.sun.jna.."));
  }

  @Test
  void theOperatorNeverTouchesANode() {
    holds(
        noClasses()
            .that()
            .resideInAPackage("dev.stasis.operator..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(AGENT, "com.sun.jna.."));
  }

  @Test
  void theEngineKnowsNoKubernetes() {
    holds(
        noClasses()
            .that()
            .resideInAPackage(AGENT)
            .and()
            .resideOutsideOfPackage("dev.stasis.agent.daemon..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(KUBERNETES));
  }

  @Test
  void processesAreReadWithoutKnowingWhatFor() {
    holds(
        classes()
            .that()
            .resideInAPackage("dev.stasis.agent.process..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                "dev.stasis.agent.process..", "java..", "com.sun.jna..", "org.jspecify.."));
  }

  @Test
  void onlyTheCommandLineAndTheDaemonUseTheEngine() {
    holds(
        noClasses()
            .that()
            .resideInAPackage(AGENT)
            .and()
            .resideOutsideOfPackages(
                "dev.stasis.agent.engine..", "dev.stasis.agent.cli..", "dev.stasis.agent.daemon..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "dev.stasis.agent.engine..",
                "dev.stasis.agent.cli..",
                "dev.stasis.agent.daemon.."));
  }

  @Test
  void nativeLibrariesAreBoundInFivePlacesOnly() {
    holds(
        noClasses()
            .that()
            .resideOutsideOfPackages(
                "dev.stasis.agent.cuda.jna..",
                "dev.stasis.agent.process..",
                "dev.stasis.agent.layer..",
                "dev.stasis.agent.tmpfs..",
                // The stand-in for a kubelet makes a pod's network itself.
                "dev.stasis.local.host..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.sun.jna.."));
  }

  @Test
  void theBindingOfTheDriverIsKnownToTheDriverAndTheCommandLineOnly() {
    holds(
        noClasses()
            .that()
            .resideOutsideOfPackages("dev.stasis.agent.cuda..", "dev.stasis.agent.cli..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.stasis.agent.cuda.jna.."));
  }

  @Test
  void thePackagesOfTheAgentFormNoCycle() {
    holds(slices().matching("dev.stasis.agent.(*)..").should().beFreeOfCycles());
  }

  @Test
  void theOperatorsDecisionsDoNotDependOnAClient() {
    holds(
        noClasses()
            .that()
            .resideInAnyPackage(
                "dev.stasis.operator.target..",
                "dev.stasis.operator.liveness..",
                "dev.stasis.operator.room..",
                "dev.stasis.operator.explain..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "io.fabric8.kubernetes.client..",
                "io.javaoperatorsdk..",
                "io.quarkus..",
                "java.nio.file..",
                "java.net.."));
  }

  @Test
  void theReportsOfThePluginDependOnNoClientAndNoOtherModule() {
    holds(
        noClasses()
            .that()
            .resideInAnyPackage(
                "dev.stasis.kubectl.doctor..",
                "dev.stasis.kubectl.report..",
                "dev.stasis.kubectl.screen..",
                "dev.stasis.kubectl.top..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.nio.file..", "java.net..", "dev.stasis.kubectl.cli.."));
    holds(
        noClasses()
            .that()
            .resideInAPackage("dev.stasis.kubectl..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(AGENT, "dev.stasis.operator..", "dev.stasis.artifact.."));
  }

  @Test
  void thePackagesOfTheOperatorFormNoCycle() {
    holds(slices().matching("dev.stasis.operator.(*)..").should().beFreeOfCycles());
  }

  @Test
  void nothingThatIsShippedNeedsTheSingleMachineMode() {
    holds(
        noClasses()
            .that()
            .resideOutsideOfPackage("dev.stasis.local..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.stasis.local.."));
  }

  private static void holds(ArchRule rule) {
    rule.allowEmptyShould(true).check(product);
  }
}
