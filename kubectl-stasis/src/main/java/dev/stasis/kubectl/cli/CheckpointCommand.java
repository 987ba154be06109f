package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Kind;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Creates a GpuCheckpoint. */
@Command(
    name = "checkpoint",
    description = "Checkpoints a pod. The workload resumes, unless an option says otherwise.",
    sortOptions = false)
final class CheckpointCommand extends RequestCommand {

  enum After {
    RESUME("Resume"),
    SUSPEND("Suspend"),
    EVICT("Evict");

    final String word;

    After(String word) {
      this.word = word;
    }
  }

  @Parameters(paramLabel = "POD", description = "the pod")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String pod;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "name of the GpuCheckpoint; default: the pod's name with a suffix")
  @Nullable String name;

  @Option(
      names = "--after",
      paramLabel = "resume|suspend|evict",
      defaultValue = "RESUME",
      description = "what happens to the pod afterwards; default: resume")
  After after = After.RESUME;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      description = "deletes the checkpoint this long after it became Ready")
  @Nullable String ttl;

  @Option(names = "--retain", description = "keeps the artifact when the GpuCheckpoint is deleted")
  boolean retain;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  FreezeOptions options;

  CheckpointCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    String target = name(pod, Kind.POD);
    ObjectNode manifest = named(Kind.CHECKPOINT, name, target);
    ObjectNode spec = (ObjectNode) manifest.path("spec");
    spec.putObject("podRef").put("name", target);
    spec.put("afterCheckpoint", after.word);
    options.write(spec);
    if (ttl != null) {
      spec.withObjectProperty("options").put("ttlAfterReady", ttl);
    }
    if (retain) {
      spec.withObjectProperty("options").put("deletionPolicy", "Retain");
    }
    return request(manifest);
  }
}
