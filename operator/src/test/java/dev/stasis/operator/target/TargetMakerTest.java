package dev.stasis.operator.target;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class TargetMakerTest {

  private static final Path CASES = Path.of("src/test/resources/target");

  /** Writes the golden files anew; their diff is then to be read. */
  private static final boolean WRITE = Boolean.getBoolean("stasis.golden.write");

  @TestFactory
  Stream<DynamicTest> everyPodBecomesTheTargetInItsGoldenFile() throws IOException {
    return cases()
        .map(
            golden ->
                DynamicTest.dynamicTest(
                    golden.folder().getFileName().toString(), () -> asGolden(golden)));
  }

  private static void asGolden(GoldenCase golden) throws IOException {
    TargetPlan plan = golden.plan();
    String name = golden.goldenName(plan);
    if (WRITE) {
      Files.deleteIfExists(golden.folder().resolve("refused.txt"));
      Files.deleteIfExists(golden.folder().resolve("target.yaml"));
      Files.writeString(golden.folder().resolve(name), GoldenCase.text(plan));
    }
    assertThat(golden.folder().resolve(name)).hasContent(GoldenCase.text(plan));
  }

  @TestFactory
  Stream<DynamicTest> noTargetAsksForMoreThanItsSourceHad() throws IOException {
    return made()
        .map(
            golden ->
                DynamicTest.dynamicTest(
                    golden.folder().getFileName().toString(),
                    () -> {
                      Pod source = golden.frozenPod().pod();
                      Pod target = ((TargetPlan.Made) golden.plan()).pod();
                      assertThat(hostPaths(target)).isSubsetOf(hostPaths(source));
                      assertThat(capabilities(target)).isSubsetOf(capabilities(source));
                    }));
  }

  @TestFactory
  Stream<DynamicTest> theSourceStaysAsItIs() throws IOException {
    return made()
        .map(
            golden ->
                DynamicTest.dynamicTest(
                    golden.folder().getFileName().toString(),
                    () -> {
                      FrozenPod source = golden.frozenPod();
                      Pod before = new PodBuilder(source.pod()).build();
                      TargetPlan unused =
                          new TargetMaker(GoldenCase.holder("image")).make(source, golden.wish());
                      assertThat(source.pod()).isEqualTo(before);
                    }));
  }

  /** A restored pod can be frozen and restored any number of times: nothing piles up. */
  @TestFactory
  Stream<DynamicTest> theSecondGenerationIsAsTheFirst() throws IOException {
    return made()
        .filter(golden -> !(golden.wish().way() instanceof Way.InPlace))
        .map(
            golden ->
                DynamicTest.dynamicTest(
                    golden.folder().getFileName().toString(), () -> secondIsAsFirst(golden)));
  }

  private static void secondIsAsFirst(GoldenCase golden) {
    FrozenPod source = golden.frozenPod();
    Wish wish = withoutRoom(golden.wish());
    TargetMaker maker = new TargetMaker(GoldenCase.holder("image"));
    Pod first = ((TargetPlan.Made) maker.make(source, wish)).pod();
    FrozenPod restored =
        new FrozenPod(
            source.checkpoint(),
            source.saved(),
            source.started(),
            first,
            source.container(),
            source.argv(),
            source.image(),
            source.node(),
            source.placement(),
            source.others());
    Pod second = ((TargetPlan.Made) maker.make(restored, again(wish))).pod();

    assertThat(second.getSpec()).isEqualTo(first.getSpec());
  }

  /** The room has been given back before anybody freezes the pod again. */
  private static Wish withoutRoom(Wish wish) {
    return changed(wish, wish.attempt(), wish.way(), wish.takenNames());
  }

  private static Wish again(Wish wish) {
    return changed(wish, 2, new Way.Alone(true), Set.of());
  }

  private static Wish changed(Wish wish, int attempt, Way way, Set<String> taken) {
    return new Wish(
        wish.requester(),
        wish.requesterUid(),
        attempt,
        wish.target(),
        way,
        taken,
        wish.excludedNodes(),
        wish.deadline(),
        Optional.empty());
  }

  @Test
  void theHoldersArgumentsAreStrippedFromACommandLineThatHasThem() {
    assertThat(Holder.own(List.of("/.stasis/stasis-runtime", "init", "--", "python3", "a.py")))
        .containsExactly("python3", "a.py");
    assertThat(Holder.own(List.of("/.stasis/stasis-runtime", "probe")))
        .containsExactly("/.stasis/stasis-runtime", "probe");
  }

  private static Stream<GoldenCase> made() throws IOException {
    return cases().filter(golden -> golden.plan() instanceof TargetPlan.Made);
  }

  private static Stream<GoldenCase> cases() throws IOException {
    try (Stream<Path> folders = Files.list(CASES)) {
      return folders.sorted().map(GoldenCase::new).toList().stream();
    }
  }

  private static List<String> hostPaths(Pod pod) {
    return pod.getSpec().getVolumes().stream()
        .filter(volume -> volume.getHostPath() != null)
        .map(volume -> volume.getHostPath().getPath())
        .toList();
  }

  private static List<String> capabilities(Pod pod) {
    return Stream.concat(
            pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
        .map(Container::getSecurityContext)
        .filter(context -> context != null && context.getCapabilities() != null)
        .flatMap(context -> context.getCapabilities().getAdd().stream())
        .toList();
  }
}
