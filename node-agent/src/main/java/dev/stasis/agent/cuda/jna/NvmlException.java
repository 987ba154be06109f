package dev.stasis.agent.cuda.jna;

/** An NVML call failed. Not visible outside this package. */
final class NvmlException extends Exception {

  private static final long serialVersionUID = 1;

  static final int SUCCESS = 0;
  static final int NOT_SUPPORTED = 3;
  static final int INSUFFICIENT_SIZE = 7;
  static final int DRIVER_NOT_LOADED = 9;
  static final int FUNCTION_NOT_FOUND = 13;

  private final int result;
  private final String name;

  NvmlException(int result, String name) {
    super("NVML: " + result + " " + name);
    this.result = result;
    this.name = name;
  }

  int result() {
    return result;
  }

  String nvmlName() {
    return name;
  }
}
