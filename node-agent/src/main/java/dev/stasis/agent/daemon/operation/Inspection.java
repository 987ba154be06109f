package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.Inspected;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.common.CommandLine;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import dev.stasis.api.v1beta1.common.ProbePolicy;
import dev.stasis.api.v1beta1.node.ExpectedFreeze;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The findings of the inspection before the freeze, in terms of the API. */
final class Inspection {

  private final PodLookup.Place place;
  private final Inspected inspected;
  private final FreezeOrder order;
  private final CheckpointRequest request;
  private final Duration expected;
  private final ObservedHardware hardware;

  Inspection(
      AgentParts parts,
      PodLookup.Place place,
      Inspected inspected,
      FreezeOrder order,
      CheckpointRequest request) {
    this.place = place;
    this.inspected = inspected;
    this.order = order;
    this.request = request;
    this.hardware = new ObservedHardware(parts.engine().fingerprint());
    this.expected =
        new ExpectedFreeze(
                inspected.gpuBytesOfTheDriver(),
                inspected.hostBytes(),
                inspected.layerBytes() - inspected.aheadBytes(),
                path(),
                request.store() != null)
            .frozen(parts.selfTest().get());
  }

  private DataPath path() {
    if (request.options().dataPath() == CheckpointRequest.DataPathChoice.CRIU) {
      return DataPath.CRIU;
    }
    return inspected.dataPath() instanceof dev.stasis.agent.engine.DataPath.Direct
        ? DataPath.DIRECT
        : DataPath.MOVER;
  }

  private String pathReason() {
    return switch (path()) {
      case CRIU -> "asked for";
      case DIRECT -> "the workload has the library of the direct data path";
      default ->
          inspected.dataPath() instanceof dev.stasis.agent.engine.DataPath.Driver driver
                  && driver.whyNotDirect() != null
              ? "not direct: " + driver.whyNotDirect()
              : "the fastest way where its rules hold";
    };
  }

  /** Reports them. */
  void to(GpuNodeOperationStatus status) {
    status.setContainerId(place.container().id());
    status.setImage(place.container().image().portableName());
    WorkloadFacts facts = facts();
    status.setArgv(facts.argv());
    status.setOtherContainers(facts.otherContainers());
    if (facts.hardware() != null) {
      status.setHardware(facts.hardware());
    }
    status.setRoom(RoomWait.room(inspected.room()));
    status.setExplanation(explanation(List.of()));
    status.setSourceProcesses(inspected.tree().size());
  }

  /** Facts stored in the artifact for an import. */
  WorkloadFacts facts() {
    return new WorkloadFacts(
        place.container().name(),
        CommandLine.of(place.pod().getSpec(), place.container().name())
            .unexpanded(place.process().argv()),
        new PodPreflight().others(place.pod(), place.container().name()),
        inspected.seen().isEmpty() ? null : hardware.of(inspected, place.container().image().id()));
  }

  Explanation explanation(List<Fault> faults) {
    return new Explanation(
        faults.isEmpty() ? null : List.copyOf(faults),
        Faults.notPortable(inspected.notPortable()),
        request.store() == null ? null : inspected.expectedBytes(),
        request.store() == null ? null : new HumanBytes(inspected.expectedBytes()).text(),
        expected.toMillis(),
        new HumanDuration(expected).text(),
        path(),
        pathReason());
  }

  /** Faults about the pod's probes and deadlines: the freeze would be too long. */
  Optional<Fault> tooLong() {
    if (order.getMaxFrozen() == null || order.getProbePolicy() == ProbePolicy.EMULATE) {
      return Optional.empty();
    }
    Duration most = order.getMaxFrozen().duration();
    return expected.compareTo(most) <= 0
        ? Optional.empty()
        : Optional.of(
            Faults.of(
                "ProbeTooShort",
                "freeze time",
                "at most " + new HumanDuration(most).text(),
                new HumanDuration(expected).text() + " expected"));
  }

  /** Faults about memory, if it cannot be provided. */
  Optional<Fault> noRoomAtAll() {
    boolean helpless =
        order.getMemoryLimitPolicy() == MemoryLimitPolicy.FAIL || inspected.room().nodeIsFull();
    return inspected.room().missing().isPresent() && helpless
        ? Optional.of(
            Faults.of(
                Faults.NO_ROOM,
                Inspected.RoomFound.PROPERTY,
                new HumanBytes(inspected.room().needed()).text(),
                inspected.room().missing().get()))
        : Optional.empty();
  }

  String sentence(List<Fault> faults) {
    return faults.isEmpty()
        ? "it can be frozen, for about " + new HumanDuration(expected).text()
        : Faults.sentence(faults);
  }
}
