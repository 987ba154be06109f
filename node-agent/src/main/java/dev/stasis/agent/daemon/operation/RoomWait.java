package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Inspected;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.api.v1alpha1.common.MemoryRoom;
import dev.stasis.api.v1alpha1.common.Room;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The agent's side of the talk about room: it says what is missing, the operator resizes the pod,
 * and only the limits of the cgroups are believed.
 */
final class RoomWait {

  /** The reason while it waits. */
  static final String WAITING = "WaitingForRoom";

  private final NodeEngine engine;
  private final Desk desk;
  private final Clock clock;
  private final Duration longest;
  private final Duration every;

  RoomWait(AgentParts parts, Desk desk) {
    this.engine = parts.engine();
    this.desk = desk;
    this.clock = parts.clock();
    this.longest = parts.intervals().room();
    this.every = parts.intervals().roomPoll();
  }

  /** As the API says it. */
  static Room room(Inspected.RoomFound found) {
    return new Room(
        found.needed(),
        found.used(),
        found.limit().isPresent() ? found.limit().getAsLong() : null,
        null,
        found.nodeFree());
  }

  /**
   * Comes back when there is room.
   *
   * @return whether somebody had to make it
   */
  boolean await(Assignment assignment, String containerId, Inspected inspected)
      throws Refused, Stopped, InterruptedException {
    Inspected.RoomFound room = inspected.room();
    if (room.missing().isEmpty()) {
      return false;
    }
    var freeze = java.util.Objects.requireNonNull(assignment.spec().getFreeze());
    if (freeze.getMemoryRoom() == MemoryRoom.REFUSE || room.nodeIsFull()) {
      throw refused(room);
    }
    Inspected.RoomFound first = room;
    desk.say(
        assignment,
        status -> {
          status.setReason(WAITING);
          status.setMessage(first.missing().orElse(""));
        });
    Instant giveUp = clock.instant().plus(longest);
    while (room.missing().isPresent()) {
      if (clock.instant().isAfter(giveUp)) {
        throw refused(room);
      }
      if (clock.instant().isAfter(assignment.deadline())) {
        throw new Stopped("the deadline passed while it waited for room", true);
      }
      if (assignment.awaitCancel(every)) {
        throw new Stopped("cancelled while it waited for room", false);
      }
      Optional<Inspected.RoomFound> now =
          engine.checkpoint().room(containerId, inspected.gpuBytes());
      if (now.isEmpty()) {
        throw new Refused(
            Faults.of("PodNotRunning", "container " + containerId, "running", "ended"));
      }
      if (!now.get().limit().equals(room.limit())) {
        Inspected.RoomFound changed = now.get();
        desk.say(assignment, status -> status.setRoom(room(changed)));
      }
      room = now.get();
    }
    return true;
  }

  private static Refused refused(Inspected.RoomFound room) {
    return new Refused(
        Faults.of(
            Faults.NO_ROOM,
            Inspected.RoomFound.PROPERTY,
            HumanText.size(room.needed()),
            room.missing().orElse("enough")));
  }
}
