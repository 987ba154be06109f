/**
 * Carries an artifact from one agent to another: mutual TLS 1.3 with pinned certificates, several
 * streams, each block acknowledged, so that a broken connection costs the blocks in flight and no
 * more.
 */
@NullMarked
package dev.stasis.agent.stream;

import org.jspecify.annotations.NullMarked;
