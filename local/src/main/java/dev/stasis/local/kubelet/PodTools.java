package dev.stasis.local.kubelet;

import dev.stasis.local.gpu.GpuAllocations;
import dev.stasis.local.host.HostProgram;
import dev.stasis.local.runc.Runc;
import java.time.Clock;
import java.util.concurrent.ScheduledExecutorService;

/** What a worker needs to run its pod. */
record PodTools(
    Runc runc,
    HostProgram host,
    ContainerPlanner planner,
    PodCgroups cgroups,
    GpuAllocations gpus,
    PodApi api,
    PodStatuses statuses,
    ScheduledExecutorService scheduler,
    Clock clock) {}
