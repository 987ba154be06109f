/** What stands on the screen: tables, bars, ages and sizes, as text. */
@NullMarked
package dev.stasis.kubectl.screen;

import org.jspecify.annotations.NullMarked;
