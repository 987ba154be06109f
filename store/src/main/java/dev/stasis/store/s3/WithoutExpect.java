package dev.stasis.store.s3;

import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpRequest;

/**
 * Sends bodies at once: the client would wait three seconds before each for a server that does not
 * answer {@code Expect: 100-continue}.
 */
final class WithoutExpect implements ExecutionInterceptor {
  @Override
  public SdkHttpRequest modifyHttpRequest(
      Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
    return context.httpRequest().toBuilder().removeHeader("Expect").build();
  }
}
