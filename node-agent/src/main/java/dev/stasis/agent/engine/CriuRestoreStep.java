package dev.stasis.agent.engine;

import dev.stasis.agent.container.OutsidePipe;
import dev.stasis.agent.criu.AddressMatcher;
import dev.stasis.agent.criu.AddressPair;
import dev.stasis.agent.criu.CriuOptions;
import dev.stasis.agent.criu.CriuOutcome;
import dev.stasis.agent.criu.CriuRunner;
import dev.stasis.agent.criu.InterfaceAddressReader;
import dev.stasis.agent.criu.MountPair;
import dev.stasis.agent.criu.RestorePlan;
import dev.stasis.agent.layer.ContainerPaths;
import dev.stasis.agent.layer.MountPointFolders;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStatus;
import dev.stasis.artifact.ProcessFacts;
import dev.stasis.artifact.StdioPipe;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Runs criu to restore the tree in the target, stopped as it was dumped, with empty device regions.
 */
final class CriuRestoreStep implements Step<Restoring, FrozenWork> {

  @Override
  public String name() {
    return "criu-restore";
  }

  @Override
  public String undoName() {
    return "end-tree";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure, InterruptedException {
    NodeParts node = restoring.node();
    CriuOptions.Tcp tcp =
        restoring.request().options().tcp() == CheckpointRequest.Tcp.KEEP
            ? CriuOptions.Tcp.KEEP
            : CriuOptions.Tcp.CLOSE;
    RestorePlan plan =
        new RestorePlan(
            node.tools().runtime(),
            node.tools().bundle(),
            restoring.target(),
            restoring.mounts(),
            pipes(restoring.artifact().manifest().stdio()),
            addresses(restoring),
            restoring.artifact().criu(),
            node.journal().folderOf(restoring.work().containerId()).resolve("criu"),
            CriuOptions.usual()
                .withTcp(tcp)
                .withAppArmorProfile(
                    new RightsCheck(node).profile(restoring.target().init().pid()).orElse(null)));
    makeMountPoints(restoring);
    // The unpacking time is under the control of the artifact's author: a process may have started
    // meanwhile.
    Optional<FailedRequirement> stranger = new Strangers(node).unmet(restoring.target());
    if (stranger.isPresent()) {
      throw new StepFailure(Reason.TARGET_REFUSED, stranger.get().toString());
    }
    CriuRunner runner = new CriuRunner(restoring::noteChild);
    try {
      long bytes = restoring.artifact().manifest().sizes().bytes();
      CriuOutcome outcome = runner.restore(plan, runner.allowance(bytes));
      if (!(outcome instanceof CriuOutcome.Succeeded)) {
        throw new StepFailure(
            CriuFailures.reason(outcome), "criu restore: " + CriuFailures.describe(outcome));
      }
      tellHolder(plan.work().resolve(RestorePlan.PID_FILE), restoring.holderFolder());
    } catch (IOException e) {
      throw new StepFailure(Reason.CRIU_FAILED, "criu restore: " + e.getMessage(), e);
    }
    findProcesses(restoring);
    new RestoredThreads(restoring).settle();
  }

  /**
   * Writes the pid of the workload for the holder, which waits for it. criu does not write there
   * itself, because it would follow a link that a process of the container has created there.
   */
  private static void tellHolder(Path written, Path holderFolder) throws IOException {
    byte[] pid = Files.readAllBytes(written);
    try (SeekableByteChannel file =
        Files.newByteChannel(
            holderFolder.resolve(RestorePlan.PID_FILE),
            Set.of(
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS))) {
      file.write(ByteBuffer.wrap(pid));
    }
  }

  /** If the source had a mount with a unique name, criu needs a folder with that name. */
  private static void makeMountPoints(Restoring restoring) throws StepFailure {
    List<MountPair> moved =
        restoring.mounts().stream()
            .filter(MountPair::isMoved)
            .filter(pair -> !pair.source().startsWith("/proc/"))
            .toList();
    Path root = restoring.node().proc().folder(restoring.target().init().pid()).resolve("root");
    try {
      MountPointFolders points = new MountPointFolders();
      points.makeFolders(root, sources(root, moved, true));
      points.makeFiles(root, sources(root, moved, false));
    } catch (IOException e) {
      throw new StepFailure(Reason.TARGET_REFUSED, String.valueOf(e.getMessage()), e);
    }
  }

  /** Those with a counterpart that is a folder, or that is missing. */
  private static List<String> sources(Path root, List<MountPair> moved, boolean folders) {
    ContainerPaths container = new ContainerPaths(root);
    return moved.stream()
        .filter(pair -> container.isFolder(pair.target()) == folders)
        .map(MountPair::source)
        .toList();
  }

  private static List<AddressPair> addresses(Restoring restoring)
      throws StepFailure, InterruptedException {
    try {
      return new AddressMatcher()
          .match(
              restoring.artifact().manifest().addresses(),
              new InterfaceAddressReader(restoring.node().tools().runtime())
                  .read(restoring.target().init()));
    } catch (IOException e) {
      throw new StepFailure(Reason.TARGET_REFUSED, "the target's addresses: " + e.getMessage(), e);
    }
  }

  private static List<OutsidePipe> pipes(List<StdioPipe> stdio) {
    List<OutsidePipe> pipes = new ArrayList<>();
    for (StdioPipe pipe : stdio) {
      pipe.ends().stream()
          .min((a, b) -> Integer.compare(a.fd(), b.fd()))
          .ifPresent(
              end -> pipes.add(new OutsidePipe(pipe.inode(), end.fd(), !end.mode().equals("r"))));
    }
    return pipes;
  }

  /**
   * Every process of the manifest, by the pid that it sees itself, which a restore keeps. A probe
   * of the kubelet may have the same number in the holder's pid namespace.
   */
  private static void findProcesses(Restoring restoring) throws StepFailure {
    for (ProcessId process : new RestoredTree(restoring).members()) {
      Optional<ProcessStatus> status = restoring.node().proc().status(process.pid());
      status.ifPresent(found -> restoring.byOwnPid().put(found.ownPid(), process));
    }
    for (ProcessFacts facts : restoring.artifact().manifest().processes()) {
      if (!restoring.byOwnPid().containsKey(facts.ownPid())) {
        throw new StepFailure(
            Reason.CRIU_FAILED,
            "restored processes: expected pid %d, got only %s"
                .formatted(facts.ownPid(), restoring.byOwnPid()));
      }
    }
    List<ProcessId> tree = List.copyOf(restoring.byOwnPid().values());
    restoring.note(work -> work.withTree(tree, stoppedBefore(restoring)).withChildren(List.of()));
  }

  /** Those that were stopped before the freeze are not continued with the others. */
  private static List<ProcessId> stoppedBefore(Restoring restoring) {
    return restoring.artifact().manifest().processes().stream()
        .filter(ProcessFacts::wasStopped)
        .map(facts -> restoring.byOwnPid().get(facts.ownPid()))
        .filter(Objects::nonNull)
        .toList();
  }

  @Override
  public void undo(FrozenWork frozen) throws StepFailure {
    SourceState state = new RestoredTree(frozen).end();
    if (state.kind() != SourceState.Kind.GONE) {
      throw new StepFailure(Reason.PROCESS_CONTROL, state.detail());
    }
  }
}
