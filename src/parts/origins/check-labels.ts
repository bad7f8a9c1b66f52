/** Checks that the labels of a profile name fields that the tool has. */

import type { FieldLabels } from '../../core/tool/definition.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { mayHold } from '../../values/json-schema/may-hold.ts';
import type { BoundSchema } from '../../values/schema/bind.ts';

/**
 * A label for a field that does not exist would have no effect, so a misspelt one is refused. If a
 * tool has no output schema, any field may be labelled.
 * @throws MisuseError `invalid_option`, which names the profile, the tool and the field
 */
export function checkLabels(
  profileId: string,
  entry: ToolEntry,
  { origins, roles }: FieldLabels,
): void {
  const { input, output } = entry.internals;
  check(profileId, entry, 'roles', input, roles);
  check(profileId, entry, 'origins', output, origins);
}

function check(
  profileId: string,
  { name }: ToolEntry,
  field: 'origins' | 'roles',
  schema: BoundSchema | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): void {
  if (schema === undefined || labels === undefined) return;
  for (const path of Object.keys(labels)) {
    const segments = path.split('.');
    const known = mayHold(schema.json, segments);
    if (known === segments.length) continue;
    const what = field === 'roles' ? 'parameters' : 'output schema';
    throw new MisuseError(
      'invalid_option',
      `Profile \`${profileId}\`, tool \`${name}\`: expected \`${field}\` to name fields of the ` +
        `tool's ${what}, got \`${path}\`, of which it has no ` +
        `\`${segments.slice(0, known + 1).join('.')}\`.`,
    );
  }
}
