package dev.stasis.agent.criu;

import java.io.IOException;
import java.io.InputStream;
import java.util.OptionalInt;

/** Which namespaces a process would be given: {@code ids-PID.img} and the inventory. */
final class IdsImage {

  static final int MAGIC = 0x54432030;
  static final int INVENTORY_MAGIC = 0x58313116;

  private static final int USER_NAMESPACE = 10;

  private int userNamespace;

  /** The number of the user namespace of a process. */
  int ofProcess(String name, InputStream in) throws IOException {
    new CriuImage(name, CriuImage.COMMON, MAGIC).read(in, 1, this::objects);
    return userNamespace;
  }

  /** The number of criu's own user namespace: a process with another one gets one of its own. */
  int ofInventory(InputStream in) throws IOException {
    new CriuImage("inventory.img", INVENTORY_MAGIC)
        .read(
            in,
            1,
            inventory -> {
              while (inventory.next()) {
                if (inventory.field() == 3) {
                  inventory.message(this::objects);
                }
              }
            });
    return userNamespace;
  }

  private void objects(ImageMessage objects) throws IOException {
    userNamespace = userNamespace(objects).orElse(userNamespace);
  }

  /** As criu reads it: 0 when nothing is said. */
  static OptionalInt userNamespace(ImageMessage objects) throws IOException {
    int number = 0;
    while (objects.next()) {
      if (objects.field() == USER_NAMESPACE) {
        number = objects.number();
      }
    }
    return OptionalInt.of(number);
  }
}
