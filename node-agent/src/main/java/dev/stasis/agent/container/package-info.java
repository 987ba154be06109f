/**
 * Reads a container from /proc and cgroups only, so that it works with every runtime, and stops it
 * as a whole.
 */
@NullMarked
package dev.stasis.agent.container;

import org.jspecify.annotations.NullMarked;
