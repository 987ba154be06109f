package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Identity of a node's agent. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AgentIdentity(
    @JsonPropertyDescription("Version of the agent.") @Nullable String version,
    @JsonPropertyDescription("Name of the pod.") @Nullable String pod,
    @JsonPropertyDescription("Time at which the agent started.") @Nullable Instant startTime,
    @JsonPropertyDescription("Time of the last heartbeat, written at most once a minute.")
        @Nullable Instant heartbeatTime,
    @JsonPropertyDescription(
            "Address and port for streams from other agents. Unset while nothing is received.")
        @Nullable String transferAddress,
    @Size(max = 16384)
        @JsonPropertyDescription(
            "Certificate of the agent in PEM format. The other end of a stream accepts only "
                + "this one. The private key never leaves the agent.")
        @Nullable String certificate) {}
