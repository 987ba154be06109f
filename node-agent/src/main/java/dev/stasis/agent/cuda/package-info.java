/**
 * The CUDA driver's checkpoint calls, made by a child process that may be killed, and what they
 * came to, as values.
 */
@NullMarked
package dev.stasis.agent.cuda;

import org.jspecify.annotations.NullMarked;
