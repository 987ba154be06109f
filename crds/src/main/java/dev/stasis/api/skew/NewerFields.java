package dev.stasis.api.skew;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.deser.DeserializationProblemHandler;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.stasis.api.v1beta1.Api;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Ignores unknown fields of Stasis's own kinds. Without it, one such field would make a whole list
 * or watch unreadable, because Jackson rejects unknown fields.
 *
 * <p>Each unknown field is logged once, because what the user requested by it does not happen.
 */
public final class NewerFields extends SimpleModule {

  private static final long serialVersionUID = 1;

  private static final System.Logger LOG = System.getLogger(NewerFields.class.getName());

  /** Package of the kinds; their parts are in packages below it. */
  private static final String OURS = Api.class.getPackageName();

  /** Creates a module for one mapper. */
  public NewerFields() {
    super("newer fields of Stasis");
  }

  @Override
  public void setupModule(SetupContext context) {
    super.setupModule(context);
    context.addDeserializationProblemHandler(new PassOver());
  }

  private static final class PassOver extends DeserializationProblemHandler {

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
        LOG.log(
            Level.WARNING, name + " is unknown to this release and is ignored wherever it is set");
      }
      parser.skipChildren();
      return true;
    }
  }
}
