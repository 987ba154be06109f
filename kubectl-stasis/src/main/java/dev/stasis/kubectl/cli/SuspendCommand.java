package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Suspends a pod with an existing GpuCheckpoint, or with a new one. */
@Command(
    name = "suspend",
    description = "Suspends a pod in the memory of its node, which frees its GPU memory.",
    sortOptions = false)
final class SuspendCommand extends RequestCommand {

  @Parameters(paramLabel = "POD", description = "the pod")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String pod;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  FreezeOptions options;

  SuspendCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    String target = name(pod, Kind.POD);
    List<Resource> known = dryRun ? List.of() : new Suspensions(cluster()).ofPod(target);
    Optional<Resource> suspending = known.stream().filter(Suspensions::isSuspending).findFirst();
    if (suspending.isPresent()) {
      String name = suspending.get().title();
      if (!options.isEmpty()) {
        complain(name + " suspends pod " + target + " already; to change how, resume it first");
        return Exit.FAILED;
      }
      return follow(suspending.get(), "suspends it already", timeout());
    }
    // The fields of an existing one cannot be changed.
    Optional<Resource> again =
        known.stream().filter(one -> options.isEmpty()).reduce((first, second) -> second);
    if (again.isPresent()) {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      patch.putObject("spec").put("desiredState", "Suspended");
      Resource patched =
          cluster().patch(Kind.CHECKPOINT, new Scope.Current(), again.get().name(), patch);
      return follow(patched, "will suspend it again", timeout());
    }
    ObjectNode manifest = named(Kind.CHECKPOINT, null, target + "-suspend");
    ObjectNode spec = (ObjectNode) manifest.path("spec");
    spec.putObject("podRef").put("name", target);
    spec.put("afterCheckpoint", "Suspend");
    options.write(spec);
    return request(manifest);
  }
}
