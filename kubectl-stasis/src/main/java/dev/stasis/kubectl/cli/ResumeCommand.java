package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Resumes a suspended pod. */
@Command(name = "resume", description = "Resumes a suspended pod.", sortOptions = false)
final class ResumeCommand extends RequestCommand {

  @Parameters(paramLabel = "POD", description = "the pod, or the GpuCheckpoint that suspends it")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String pod;

  ResumeCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    String given = pod.substring(pod.indexOf('/') + 1);
    Resource suspended =
        new Suspensions(cluster())
            .suspended(given)
            .orElseThrow(
                () ->
                    new ClusterFailure(
                        ClusterFailure.Why.NOT_FOUND,
                        "no GpuCheckpoint suspends " + given + " in this namespace",
                        "list the requests: kubectl stasis list; restore an evicted pod:"
                            + " kubectl stasis restore CHECKPOINT"));
    ObjectNode patch = session().mapper().createObjectNode();
    patch.putObject("spec").put("desiredState", "Running");
    if (dryRun) {
      say(suspended.title() + ": would be resumed (dry run)");
      return Exit.DONE;
    }
    Resource patched =
        cluster().patch(Kind.CHECKPOINT, new Scope.Current(), suspended.name(), patch);
    return follow(patched, "resumes " + suspended.text("spec.podRef.name"), timeout());
  }
}
