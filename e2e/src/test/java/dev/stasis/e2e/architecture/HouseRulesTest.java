package dev.stasis.e2e.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What CONTRIBUTING.md asks of every file, as far as a machine can see it. */
class HouseRulesTest {

  private static final int LINES = 350;
  private static final String[] CODE = {".java", ".c", ".h", ".sh", ".py"};

  @SuppressWarnings("NullAway.Init") // read before the first test
  private static Repository repository;

  @SuppressWarnings("NullAway.Init") // read before the first test
  private static JavaClasses product;

  @SuppressWarnings("NullAway.Init") // read before the first test
  private static JavaClasses all;

  @BeforeAll
  static void readTheModules() {
    repository = Repository.ofThisBuild();
    product = repository.productClasses();
    all = repository.allClasses();
  }

  @Test
  void productionCodeDoesNotSleep() {
    holds(
        noClasses()
            .should()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(Thread.class, "sleep", long.class, int.class)
            .orShould()
            .callMethod(TimeUnit.class, "sleep", long.class)
            .because("a wait has an event or a bounded poll with its reason"),
        all);
  }

  @Test
  void theTimeComesFromAClock() {
    holds(
        noClasses()
            .should()
            .callMethod(Instant.class, "now")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .because("a Clock is injected"),
        product);
  }

  /** A process that Java starts closes the agent's files first, which a dead store can hold up. */
  @Test
  void theAgentStartsProgramsByItsHelper() {
    holds(
        noClasses()
            .that()
            .resideInAPackage("dev.stasis.agent..")
            .and()
            .resideOutsideOfPackage("dev.stasis.agent.process")
            .should()
            .callMethod(ProcessBuilder.class, "start")
            .orShould()
            .callMethod(Runtime.class, "exec", String[].class)
            .because("ChildStart does it without the agent's files"),
        product);
  }

  @Test
  void thereIsOneWayToLog() {
    holds(
        noClasses()
            .that()
            // It does not log: it says where a program's log goes.
            .resideOutsideOfPackage("dev.stasis.agent.log..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "java.util.logging..",
                "org.slf4j..",
                "org.jboss.logging..",
                "org.apache.logging..",
                "org.apache.commons.logging..")
            .because("System.Logger needs no dependency and goes to Quarkus's log by itself"),
        product);
  }

  @Test
  void onlyProgramsWriteToStandardOutput() {
    holds(
        noClasses()
            .that()
            .resideOutsideOfPackages("..cli..", "..local..", "dev.stasis.e2e.bench..")
            .and()
            .haveSimpleNameNotContaining("Worker")
            // Turns standard output over to the worker's answers, and everything else to the log.
            .and()
            .doNotHaveFullyQualifiedName("dev.stasis.agent.cuda.jna.OwnProcess")
            .and()
            .doNotHaveFullyQualifiedName("dev.stasis.helm.RenderChart")
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err"),
        product);
  }

  @Test
  void noClassIsNamedUtilsOrHelper() {
    holds(
        noClasses()
            .should()
            .haveSimpleNameEndingWith("Utils")
            .orShould()
            .haveSimpleNameEndingWith("Util")
            .orShould()
            .haveSimpleNameEndingWith("Helper"),
        all);
  }

  @Test
  void everyPackageIsNullMarked() {
    List<String> without = new ArrayList<>();
    for (JavaPackage javaPackage : product.getDefaultPackage().getSubpackagesInTree()) {
      boolean marked =
          javaPackage
              .tryGetPackageInfo()
              .map(info -> info.isAnnotatedWith(NullMarked.class))
              .orElse(false);
      if (!marked && !javaPackage.getClasses().isEmpty() && isOurs(javaPackage)) {
        without.add(javaPackage.getName());
      }
    }
    assertThat(without).as("packages without a @NullMarked package-info").isEmpty();
  }

  private static boolean isOurs(JavaPackage javaPackage) {
    return javaPackage.getClasses().stream()
        .anyMatch(type -> type.getSource().isPresent() && type.getName().startsWith("dev.stasis."));
  }

  @Test
  void noFileIsTooLong() throws IOException {
    List<String> tooLong = new ArrayList<>();
    for (Path file : repository.sources(CODE)) {
      long lines = text(file).lines().count();
      if (lines > LINES) {
        tooLong.add(repository.root().relativize(file) + ": " + lines);
      }
    }
    assertThat(tooLong).as("files of more than %d lines", LINES).isEmpty();
  }

  @Test
  void nothingIsMarkedAsUnfinished() throws IOException {
    // In two parts each, so that this file does not find itself.
    Pattern later = Pattern.compile("\\b(TO" + "DO|FIX" + "ME|X" + "XX)\\b|@Dis" + "abled\\b");
    List<String> found = new ArrayList<>();
    for (Path file : repository.sources(CODE)) {
      if (later.matcher(text(file)).find()) {
        found.add(repository.root().relativize(file).toString());
      }
    }
    assertThat(found).isEmpty();
  }

  /** The library's default of ten seconds is too short for a busy machine. */
  @Test
  void everyWaitOfATestNamesItsLimit() throws IOException {
    Pattern wait = Pattern.compile("\\bawait\\([^;]*?\\.until(Asserted|True)?\\(");
    List<String> without = new ArrayList<>();
    for (Path file : repository.sources(".java")) {
      Matcher waits = wait.matcher(text(file));
      while (waits.find()) {
        if (!waits.group().contains(".atMost(")) {
          without.add(repository.root().relativize(file) + ": " + waits.group());
        }
      }
    }
    assertThat(without).as("waits without atMost").isEmpty();
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }

  private static void holds(ArchRule rule, JavaClasses classes) {
    rule.allowEmptyShould(true).check(classes);
  }
}
