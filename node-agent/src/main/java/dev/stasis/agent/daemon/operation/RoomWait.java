package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Inspected;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import dev.stasis.api.v1beta1.common.Room;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The agent's part of providing memory: it reports what is missing, the operator resizes the pod,
 * and the agent reads the limits from the cgroups only.
 */
final class RoomWait {

  /** The reason while it waits. */
  static final String WAITING = "WaitingForRoom";

  private final NodeEngine engine;
  private final OperationRecorder recorder;
  private final Clock clock;
  private final Duration longest;
  private final Duration every;

  RoomWait(AgentParts parts, OperationRecorder recorder) {
    this.engine = parts.engine();
    this.recorder = recorder;
    this.clock = parts.clock();
    this.longest = parts.intervals().room();
    this.every = parts.intervals().roomPoll();
  }

  /** Converts it to the API's form. */
  static Room room(Inspected.RoomFound found) {
    return new Room(
        found.needed(),
        found.used(),
        found.limit().isPresent() ? found.limit().getAsLong() : null,
        null,
        found.nodeFree());
  }

  /**
   * Returns when there is enough memory.
   *
   * @return whether it had to be provided
   */
  boolean await(ActiveOperation operation, String containerId, Inspected inspected)
      throws Refused, Job.Stopped, InterruptedException {
    Inspected.RoomFound room = inspected.room();
    if (room.missing().isEmpty()) {
      return false;
    }
    var freeze = java.util.Objects.requireNonNull(operation.spec().getFreeze());
    if (freeze.getMemoryLimitPolicy() == MemoryLimitPolicy.FAIL || room.nodeIsFull()) {
      throw refused(room);
    }
    Inspected.RoomFound first = room;
    recorder.publish(
        operation,
        status -> {
          status.setReason(WAITING);
          status.setMessage(first.missing().orElse(""));
        });
    Instant giveUp = clock.instant().plus(longest);
    while (room.missing().isPresent()) {
      if (clock.instant().isAfter(giveUp)) {
        throw refused(room);
      }
      var unused = operation.awaitCancel(every);
      operation.requireTime("while it waited for memory");
      Optional<Inspected.RoomFound> now =
          engine.checkpoint().room(containerId, inspected.gpuBytes());
      if (now.isEmpty()) {
        throw new Refused("PodNotRunning", "container " + containerId, "running", "ended");
      }
      if (!now.get().limit().equals(room.limit())) {
        Inspected.RoomFound changed = now.get();
        recorder.publish(operation, status -> status.setRoom(room(changed)));
      }
      room = now.get();
    }
    return true;
  }

  private static Refused refused(Inspected.RoomFound room) {
    return new Refused(
        Faults.NO_ROOM,
        Inspected.RoomFound.PROPERTY,
        new HumanBytes(room.needed()).text(),
        room.missing().orElse("enough"));
  }
}
