/**
 * The command line of one node. It passes requests of a user or script to the engine and reports
 * the result as a sentence, a table, JSON and an exit code. Results go to standard output;
 * progress, warnings and errors go to standard error.
 */
@NullMarked
package dev.stasis.agent.cli;

import org.jspecify.annotations.NullMarked;
