/** libcuda and libnvidia-ml as they are: found, loaded and called, results as numbers. */
@NullMarked
package dev.stasis.agent.cuda.jna;

import org.jspecify.annotations.NullMarked;
