/**
 * Sends an artifact from one agent to another: mutual TLS 1.3 with pinned certificates, several
 * streams, and an acknowledgement for each block, so that a broken connection costs only the blocks
 * in flight.
 */
@NullMarked
package dev.stasis.agent.stream;

import org.jspecify.annotations.NullMarked;
