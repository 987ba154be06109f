/** Traces of requests; the agents' spans are children of theirs. */
@NullMarked
package dev.stasis.operator.trace;

import org.jspecify.annotations.NullMarked;
