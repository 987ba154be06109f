/**
 * Checkpoint, restore and thaw as ordered, named steps, each with its undo beside it. An undo reads
 * the world and not a memory of what was done, so the same code rolls back, resumes, and cleans up
 * after a dead agent.
 */
@NullMarked
package dev.stasis.agent.engine;

import org.jspecify.annotations.NullMarked;
