package dev.stasis.e2e.kube;

import dev.stasis.api.skew.TolerantSerialization;
import dev.stasis.api.testing.TestCluster;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.opentest4j.TestAbortedException;

/**
 * Gives a test its {@link Scenario}: one installation for the whole run, a namespace for each test.
 * A run in which {@link HarnessTest} failed, or too many scenarios, skips the rest: every further
 * failure would take minutes and say the same.
 */
final class OnACluster implements ParameterResolver, AfterEachCallback, ExecutionCondition {

  /** Order of the class that runs before all others. */
  static final int FIRST = 0;

  /** Order of the class that runs after all others. */
  static final int LAST = Integer.MAX_VALUE;

  /** Tag of tests with a parameter {@link AlertRecord}. */
  static final String ALERTS = "alerts";

  /** With so many failures the installation is broken, and not one scenario. */
  private static final int MOST_FAILURES = 5;

  private static final Namespace OURS = Namespace.create(OnACluster.class);

  /** A request to an API server nearby takes milliseconds; one under load still answers by then. */
  private static final int REQUEST_MILLISECONDS = 30_000;

  /** What lives as long as the run. */
  private record Running(
      KubernetesClient admin, Installation installation, @Nullable AlertRecord alerts)
      implements AutoCloseable {

    static Running start() {
      TestCluster.fromEnvironment().ifPresent(TestCluster::requireMark);
      Config config =
          new ConfigBuilder(Config.autoConfigure(null))
              .withRequestTimeout(REQUEST_MILLISECONDS)
              .build();
      KubernetesClient admin =
          new KubernetesClientBuilder()
              .withConfig(config)
              .withKubernetesSerialization(new TolerantSerialization())
              .build();
      Checkout checkout = Checkout.ofThisBuild();
      List<LocalNode> here = LocalNode.fromEnvironment(System.getenv(), checkout);
      Installation installation = installation(admin, checkout, here);
      return new Running(
          admin, installation, areAlertsSeen() ? AlertRecord.start(admin, checkout) : null);
    }

    private static Installation installation(
        KubernetesClient admin, Checkout checkout, List<LocalNode> here) {
      if (here.isEmpty()) {
        return GivenInstallation.find(admin, System.getenv());
      }
      return isBlank(System.getenv("STASIS_E2E_IMAGES"))
          ? LocalInstallation.install(admin, checkout, here)
          : ImageInstallation.install(admin, checkout, here);
    }

    @Override
    public void close() {
      if (alerts != null) {
        alerts.close();
      }
      installation.close();
      admin.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Scenario.class || type == AlertRecord.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    if (isBlank(System.getenv("KUBECONFIG"))) {
      skip("skipped: no cluster, KUBECONFIG is not set; see bin/with-kube");
    }
    if (isBlank(System.getenv("KUBE_NODE1_DIR")) && isBlank(System.getenv("STASIS_E2E_IMAGE"))) {
      skip("skipped: a cluster, but STASIS_E2E_IMAGE names no image; see bin/e2e --help");
    }
    Running running =
        context
            .getRoot()
            .getStore(OURS)
            .computeIfAbsent(Running.class, key -> startOrSkipTheRest(context), Running.class);
    AlertRecord alerts = running.alerts();
    if (parameter.getParameter().getType() == AlertRecord.class) {
      return Present.in("alerts", alerts);
    }
    // @BeforeEach and @AfterEach get the one of their test.
    return context
        .getStore(OURS)
        .computeIfAbsent(
            Scenario.class,
            key -> {
              if (alerts != null) {
                alerts.beginScenario(title(context));
              }
              return Scenario.begin(running.admin(), running.installation(), title(context));
            },
            Scenario.class);
  }

  private static Running startOrSkipTheRest(ExtensionContext context) {
    try {
      return Running.start();
    } catch (RuntimeException | Error e) {
      failures(context).addAndGet(MOST_FAILURES);
      throw e;
    }
  }

  private static AtomicInteger failures(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(OURS)
        .computeIfAbsent(AtomicInteger.class, key -> new AtomicInteger(), AtomicInteger.class);
  }

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (context.getTags().contains(ALERTS) && !areAlertsSeen()) {
      return ConditionEvaluationResult.disabled(
          "skipped: no Prometheus sees the alerts; see bin/e2e --alerts");
    }
    return failures(context).get() < MOST_FAILURES
        ? ConditionEvaluationResult.enabled("the installation works")
        : ConditionEvaluationResult.disabled(
            "skipped: HarnessTest, the installation or " + MOST_FAILURES + " scenarios failed");
  }

  @Override
  public void afterEach(ExtensionContext context) {
    context
        .getExecutionException()
        .filter(failure -> !(failure instanceof TestAbortedException))
        .ifPresent(
            failure ->
                failures(context)
                    .addAndGet(
                        context.getRequiredTestClass() == HarnessTest.class ? MOST_FAILURES : 1));
    Scenario scenario = context.getStore(OURS).get(Scenario.class, Scenario.class);
    if (scenario != null) {
      Running running = context.getRoot().getStore(OURS).get(Running.class, Running.class);
      if (running != null && running.alerts() != null) {
        running.alerts().endScenario();
      }
      scenario.end(
          context
              .getExecutionException()
              .filter(failure -> !(failure instanceof TestAbortedException))
              .isPresent());
    }
  }

  /** Only operator and agents that are processes of this machine have addresses to scrape. */
  private static boolean areAlertsSeen() {
    return !isBlank(System.getenv("STASIS_E2E_PROMETHEUS"))
        && !isBlank(System.getenv("KUBE_NODE1_DIR"))
        && isBlank(System.getenv("STASIS_E2E_IMAGES"));
  }

  private static boolean isBlank(@Nullable String value) {
    return value == null || value.isBlank();
  }

  private static void skip(String why) {
    System.err.println(why);
    Assumptions.abort(why);
  }

  private static String title(ExtensionContext context) {
    return context.getRequiredTestClass().getSimpleName()
        + "."
        + context.getRequiredTestMethod().getName()
        + (context.getDisplayName().startsWith("[") ? context.getDisplayName() : "");
  }
}
