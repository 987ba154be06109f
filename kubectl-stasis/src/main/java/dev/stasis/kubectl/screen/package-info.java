/** Screen output: tables, bars, ages and sizes, as text. */
@NullMarked
package dev.stasis.kubectl.screen;

import org.jspecify.annotations.NullMarked;
