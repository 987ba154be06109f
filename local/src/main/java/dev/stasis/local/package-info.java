/**
 * Assembles the single-machine mode: operator and agent on replacements of the cluster's
 * components, in one program.
 */
@NullMarked
package dev.stasis.local;

import org.jspecify.annotations.NullMarked;
