package dev.stasis.agent.criu;

import java.io.IOException;
import java.io.InputStream;
import java.util.OptionalInt;

/** Reads the namespaces of a restored process from {@code ids-PID.img} and the inventory. */
final class IdsImage {

  static final int MAGIC = 0x54432030;
  static final int INVENTORY_MAGIC = 0x58313116;

  private static final int USER_NAMESPACE = 10;

  private int userNamespace;

  /** The number of a process's user namespace. */
  int ofProcess(String name, InputStream in) throws IOException {
    new CriuImage(name, CriuImage.COMMON, MAGIC).read(in, 1, this::objects);
    return userNamespace;
  }

  /** The number of criu's own user namespace: a process with another number gets a new one. */
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

  /** criu's default: 0 if the field is missing. */
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
