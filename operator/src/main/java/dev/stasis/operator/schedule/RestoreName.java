package dev.stasis.operator.schedule;

import dev.stasis.operator.request.DerivedName;

/**
 * The name of the GpuRestore with which a schedule restores a failed pod. It is derived, so a
 * restarted operator recognizes the GpuRestore.
 *
 * @param schedule name of the GpuCheckpointSchedule
 * @param podUid UID of the failed pod
 * @param checkpoint name of the GpuCheckpoint
 */
record RestoreName(String schedule, String podUid, String checkpoint) {

  String text() {
    return schedule + "-" + new DerivedName("restore/" + podUid + "/" + checkpoint).suffix();
  }
}
