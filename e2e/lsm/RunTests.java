import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.time.Duration;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs test classes without Maven, which takes minutes in an emulated machine. Prints a line for
 * each test.
 */
class RunTests {

  public static void main(String[] classes) {
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    for (String one : classes) {
      request.selectors(selectClass(one));
    }
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherDiscoveryRequest all =
        request.configurationParameter("junit.jupiter.execution.timeout.default", "10 m").build();
    LauncherFactory.create().execute(all, summary, new Lines());
    summary.getSummary().printFailuresTo(new PrintWriter(System.out, true));
    boolean good = summary.getSummary().getTotalFailureCount() == 0;
    System.exit(good && summary.getSummary().getTestsSucceededCount() > 0 ? 0 : 1);
  }

  private static final class Lines implements TestExecutionListener {

    private final long start = System.nanoTime();

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      boolean failed = result.getStatus() == TestExecutionResult.Status.FAILED;
      if (test.isTest() || failed) {
        String name =
            test.getUniqueId().replaceAll(".*\\[(method|test-template):([^(\\]]*)[^]]*]", "$2");
        long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        switch (result.getStatus()) {
          case SUCCESSFUL -> System.out.printf("ok %s (at %d s)%n", name, seconds);
          case FAILED ->
              System.out.printf(
                  "FAIL %s (at %d s): %s%n", name, seconds, result.getThrowable().orElse(null));
          case ABORTED ->
              System.out.printf("skipped %s: %s%n", name, result.getThrowable().orElse(null));
        }
      }
    }
  }
}
