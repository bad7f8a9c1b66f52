/** The fingerprint of a definition: a digest of what a person or a pin accepts with it. */

import type { ToolAnnotations } from '../../api/tool.ts';
import { sha256 } from '../../values/crypto.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { withoutDefaults } from '../../values/schema/without-defaults.ts';

/** What an answer is bound to, besides the schemas. */
interface Identified {
  readonly name: string;
  readonly description: string;
  readonly version?: string | undefined;
  readonly annotations: ToolAnnotations;
}

/** A default that is written out changes nothing. */
export function digestOf(
  { name, description, version, annotations }: Identified,
  parameters: JsonObject,
  outputSchema: JsonObject | undefined,
  said: JsonObject | undefined,
): string {
  const identity: Record<string, JsonValue> = {
    name,
    description,
    parameters: withoutDefaults(parameters),
    annotations: Object.fromEntries(Object.entries(annotations).filter(([, value]) => value)),
  };
  if (outputSchema !== undefined) identity.outputSchema = withoutDefaults(outputSchema);
  if (version !== undefined) identity.version = version;
  if (said !== undefined && Object.keys(said).length > 0) identity.said = said;
  return `sha256:${sha256(canonicalJson(identity))}`;
}
