package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;

/** Empty: agents report in the status. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuNodeSpec {}
