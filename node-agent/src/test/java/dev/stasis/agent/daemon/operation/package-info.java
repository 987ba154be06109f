/** Tests of an agent against a cluster of files. */
@NullMarked
package dev.stasis.agent.daemon.operation;

import org.jspecify.annotations.NullMarked;
