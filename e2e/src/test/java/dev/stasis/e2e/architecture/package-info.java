/** What holds for the source of every module: who may know whom, and what nobody does. */
@NullMarked
package dev.stasis.e2e.architecture;

import org.jspecify.annotations.NullMarked;
