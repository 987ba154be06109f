/**
 * Checkpoint, restore and thaw as ordered, named steps, each with its undo. An undo reads the
 * actual state instead of a record of actions, so the same code rolls back, resumes, and cleans up
 * after a dead agent.
 */
@NullMarked
package dev.stasis.agent.engine;

import org.jspecify.annotations.NullMarked;
