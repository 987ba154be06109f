package dev.stasis.api.v1alpha1.node;

import com.fasterxml.jackson.annotation.JsonInclude;

/** Says nothing yet: what an agent finds stands in the status. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuNodeSpec {}
