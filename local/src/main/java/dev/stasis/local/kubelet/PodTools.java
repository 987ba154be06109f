package dev.stasis.local.kubelet;

import dev.stasis.local.gpu.GpuAllocations;
import dev.stasis.local.host.HostProgram;
import dev.stasis.local.runc.Runc;
import java.time.Clock;
import java.util.concurrent.ScheduledExecutorService;

/** The dependencies of a pod's worker. */
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
