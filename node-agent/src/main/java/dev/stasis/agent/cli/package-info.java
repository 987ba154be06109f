/**
 * The command line of one node: what a person or a script asks is handed to the engine, and what
 * became of it is told in a sentence, a table, JSON and an exit code. Results go to standard
 * output; progress, warnings and errors to standard error.
 */
@NullMarked
package dev.stasis.agent.cli;

import org.jspecify.annotations.NullMarked;
