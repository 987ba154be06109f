package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Resumes suspended pods. */
@Command(name = "resume", description = "Resumes suspended pods.", sortOptions = false)
final class ResumeCommand extends RequestCommand {

  @Parameters(
      paramLabel = "POD",
      arity = "0..*",
      description = "the pod, or the GpuCheckpoint that suspends it")
  List<String> pods = new ArrayList<>();

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  ObjectSelection selection;

  ResumeCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    selection.require(spec, pods);
    Instant end = session().clock().instant().plus(timeout());
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").put("desiredState", "Running");
    List<Resource> resumed = new ArrayList<>();
    List<Resource> chosen = chosen();
    int exit = Exit.DONE;
    try (ObjectDocument document = document(pods.size() != 1)) {
      for (Resource suspended : chosen) {
        if (dryRun) {
          tellDryRun(suspended, "resumed", document);
        } else {
          Resource patched =
              cluster().patch(Kind.CHECKPOINT, new Scope.Current(), suspended.name(), patch);
          resumed.add(told(patched, "resumes " + suspended.text("spec.podRef.name"), document));
        }
      }
      for (Resource one : resumed) {
        exit = Math.max(exit, awaited(one, end, document));
      }
    }
    return exit;
  }

  private List<Resource> chosen() {
    Suspensions suspensions = new Suspensions(cluster(), selection.options());
    if (!selection.isMade()) {
      return pods.stream().map(given -> suspended(suspensions, given)).toList();
    }
    List<Resource> found = suspensions.suspended();
    if (found.isEmpty()) {
      complain("no suspended pod found in this namespace");
    }
    return found;
  }

  private static Resource suspended(Suspensions suspensions, String given) {
    String name = given.substring(given.indexOf('/') + 1);
    return suspensions
        .suspended(name)
        .orElseThrow(
            () ->
                new ClusterFailure(
                    ClusterFailure.Why.NOT_FOUND,
                    "no GpuCheckpoint suspends " + name + " in this namespace",
                    "list the requests: kubectl stasis list; restore an evicted pod:"
                        + " kubectl stasis restore CHECKPOINT"));
  }
}
