package dev.stasis.e2e.kube;

import dev.stasis.api.skew.TolerantSerialization;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives a test its {@link Scenario}: one cluster for the whole run, a namespace for each test. */
final class OnACluster implements ParameterResolver, AfterEachCallback {

  private static final Namespace OURS = Namespace.create(OnACluster.class);

  /** A request to an API server nearby takes milliseconds; one under load still answers by then. */
  private static final int REQUEST_MILLISECONDS = 30_000;

  /** What lives as long as the run. */
  private record Running(KubernetesClient admin, Installation installation)
      implements AutoCloseable {

    static Running start() {
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
      return new Running(admin, installation(admin, checkout, here));
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
      installation.close();
      admin.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Scenario.class;
  }

  @Override
  public Scenario resolveParameter(ParameterContext parameter, ExtensionContext context) {
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
            .computeIfAbsent(Running.class, key -> Running.start(), Running.class);
    Scenario scenario = Scenario.begin(running.admin(), running.installation(), title(context));
    context.getStore(OURS).put(Scenario.class, scenario);
    return scenario;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Scenario scenario = context.getStore(OURS).get(Scenario.class, Scenario.class);
    if (scenario != null) {
      scenario.end(context.getExecutionException().isPresent());
    }
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
