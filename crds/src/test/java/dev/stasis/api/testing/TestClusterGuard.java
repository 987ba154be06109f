package dev.stasis.api.testing;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.platform.commons.support.AnnotationSupport;

/** Decides before each test class whether it may use the cluster of the environment. */
final class TestClusterGuard implements ExecutionCondition, BeforeAllCallback {

  private static final Namespace OWN = Namespace.create(TestClusterGuard.class);

  /** Skips the class when there is no cluster: surefire then counts each of its tests. */
  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return TestCluster.fromEnvironment().isPresent()
        ? ConditionEvaluationResult.enabled("KUBECONFIG names a cluster")
        : ConditionEvaluationResult.disabled(TestCluster.MISSING);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    Optional<TestCluster> cluster = TestCluster.fromEnvironment();
    if (cluster.isEmpty()) {
      return;
    }
    cluster.get().requireMark();
    boolean definitions =
        AnnotationSupport.findAnnotation(context.getRequiredTestClass(), OnTestCluster.class)
            .map(OnTestCluster::definitions)
            .orElse(false);
    if (definitions) {
      context
          .getRoot()
          .getStore(OWN)
          .getOrComputeIfAbsent("definitions", key -> serve(cluster.get()), List.class);
    }
  }

  private static List<?> serve(TestCluster cluster) {
    try (KubernetesClient client = cluster.client()) {
      return Definitions.serve(client);
    }
  }
}
