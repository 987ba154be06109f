package dev.stasis.api.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test class on the cluster of {@code KUBECONFIG}. Without one, each of its tests is
 * skipped. On a cluster that is not a test cluster, the class fails before it writes anything.
 *
 * @see TestCluster
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Tag("api-server")
@ExtendWith(TestClusterGuard.class)
public @interface OnTestCluster {

  /** Whether the committed definitions are applied before the first such class of a run. */
  boolean definitions() default false;
}
