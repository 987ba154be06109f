/** A container from /proc and cgroups alone, so for every runtime, and how to stop it as one. */
@NullMarked
package dev.stasis.agent.container;

import org.jspecify.annotations.NullMarked;
