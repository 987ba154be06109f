package dev.stasis.api.v1alpha1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The agent of the node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AgentIdentity(
    @JsonPropertyDescription("Its version.") @Nullable String version,
    @JsonPropertyDescription("Its pod.") @Nullable String pod,
    @JsonPropertyDescription("When it started.") @Nullable Instant startTime,
    @JsonPropertyDescription("When it last said that it is alive; at most once a minute.")
        @Nullable Instant heartbeatTime,
    @JsonPropertyDescription(
            "Address and port for streams from other agents; none while nothing is received.")
        @Nullable String transferAddress,
    @Size(max = 16384)
        @JsonPropertyDescription(
            "Its certificate, in PEM: the other end of a stream accepts this one and no "
                + "other. Its key never leaves the agent.")
        @Nullable String certificate) {}
