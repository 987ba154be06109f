package dev.stasis.api.skew;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.deser.DeserializationProblemHandler;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.stasis.api.v1beta1.Api;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads objects of Stasis's own kinds that a newer release has written. Without it, one unknown
 * field or value would make a whole list or watch unreadable.
 *
 * <p>Unknown fields are ignored. An unknown value of an enum is read as its constant {@code
 * UNRECOGNIZED}, which the CRDs do not allow: the API server refuses a write that would replace the
 * value with it. {@link UnrecognizedValues} finds these constants.
 *
 * <p>Each of them is logged once, because what the user requested by it does not happen.
 */
public final class NewerObjects extends SimpleModule {

  private static final long serialVersionUID = 1;

  private static final System.Logger LOG = System.getLogger(NewerObjects.class.getName());

  /** Package of the kinds; their parts are in packages below it. */
  private static final String OURS = Api.class.getPackageName();

  /** More characters of a value are not logged; the values of this release have up to 20. */
  private static final int LONGEST = 60;

  /** More different values are not logged: that many are no newer release. */
  private static final int MOST = 1000;

  /** Creates a module for one mapper. */
  public NewerObjects() {
    super("newer objects of Stasis");
  }

  @Override
  public void setupModule(SetupContext context) {
    super.setupModule(context);
    context.addDeserializationProblemHandler(new SkewHandler());
  }

  private static final class SkewHandler extends DeserializationProblemHandler {

    private final Set<String> said = ConcurrentHashMap.newKeySet();

    @Override
    public boolean handleUnknownProperty(
        DeserializationContext context,
        JsonParser parser,
        JsonDeserializer<?> reader,
        Object objectOrType,
        String field)
        throws IOException {
      Class<?> type = objectOrType instanceof Class<?> of ? of : objectOrType.getClass();
      if (!type.getName().startsWith(OURS + ".")) {
        return false;
      }
      String name = type.getSimpleName() + "." + field;
      if (said.add(name)) {
        LOG.log(Level.WARNING, name + " is unknown to this release, which ignores it");
      }
      parser.skipChildren();
      return true;
    }

    @Override
    public Object handleWeirdStringValue(
        DeserializationContext context, Class<?> type, String value, String failure) {
      Object constant =
          type.getName().startsWith(OURS + ".") && type.isEnum() ? unrecognized(type) : null;
      if (constant == null) {
        return NOT_HANDLED;
      }
      String text = value.length() <= LONGEST ? value : value.substring(0, LONGEST) + "...";
      if (said.size() < MOST && said.add(type.getSimpleName() + "=" + text)) {
        LOG.log(
            Level.WARNING,
            "{0}: expected a value that this release knows, got \"{1}\"; objects with it are left"
                + " alone until this component is upgraded",
            type.getSimpleName(),
            text);
      }
      return constant;
    }

    private static @Nullable Object unrecognized(Class<?> type) {
      return Arrays.stream(type.getEnumConstants())
          .filter(constant -> ((Enum<?>) constant).name().equals(UnrecognizedValues.CONSTANT))
          .findFirst()
          .orElse(null);
    }
  }
}
