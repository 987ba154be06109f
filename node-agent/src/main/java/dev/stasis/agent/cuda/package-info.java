/**
 * The CUDA driver's checkpoint calls, made by a child process that may be killed, and their results
 * as values.
 */
@NullMarked
package dev.stasis.agent.cuda;

import org.jspecify.annotations.NullMarked;
