/** Finds, loads and calls libcuda and libnvidia-ml; results are plain numbers. */
@NullMarked
package dev.stasis.agent.cuda.jna;

import org.jspecify.annotations.NullMarked;
