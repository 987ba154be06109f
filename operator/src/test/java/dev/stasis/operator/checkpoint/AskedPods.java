package dev.stasis.operator.checkpoint;

import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Answers what the API server is asked about the pod. */
final class AskedPods implements PodWrites {

  /** Connects to nothing; making one takes half a second. */
  private static final KubernetesClient CLIENT = new KubernetesClientBuilder().build();

  private final World world;
  private final Consumer<Question> questions;
  private final List<Act> acts;

  AskedPods(World world, Consumer<Question> questions, List<Act> acts) {
    this.world = world;
    this.questions = questions;
    this.acts = acts;
  }

  Departure departure() {
    return new Departure(CLIENT, TestWebhooks.config("no-such-webhooks")) {

      @Override
      public Optional<String> refusal() {
        return asked(true);
      }

      @Override
      public void takeBack(Pod pod, Pod source) {
        acts.add(new Act.TakeBack(pod));
      }

      @Override
      public Optional<String> prepare(Pod pod) {
        return Owners.of(pod).isEmpty() ? Optional.empty() : asked(false);
      }

      private Optional<String> asked(boolean dryRun) {
        questions.accept(new Question.Depart(dryRun));
        return world.resizeAnswer instanceof Refused refused
            ? Optional.of(refused.sentence())
            : Optional.empty();
      }
    };
  }

  @Override
  public Optional<Pod> fresh(String namespace, String name) {
    return world.cluster.pod(namespace, name);
  }

  @Override
  public void condition(Pod pod, PodConditionUpdate update) {
    acts.add(new Act.Condition(update));
  }

  @Override
  public Answer resize(Pod resized, boolean dryRun) {
    questions.accept(new Question.Resize(resized, dryRun));
    return world.resizeAnswer;
  }

  @Override
  public Answer evict(Pod pod, boolean dryRun) {
    questions.accept(new Question.Evict(pod, dryRun));
    return world.evictAnswer;
  }
}
