/** The labels that profiles give to tools. */
import type { ProfileTool, ProfileTools } from '../../core/rules/profile.ts';
import type { FieldLabels } from '../../core/tool/definition.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { mayHold } from '../../values/json-schema/may-hold.ts';
import type { BoundSchema } from '../../values/schema/bind.ts';
import { checkOriginLabels, checkRoleLabels } from './profile-labels.ts';

/** The labels of a tool in a profile; undefined if there are none. */
export function labelsIn({ more }: ProfileTool): FieldLabels | undefined {
  return more?.origins === undefined && more?.roles === undefined
    ? undefined
    : (more as FieldLabels);
}

export const profileTools: ProfileTools = {
  read({ origins, roles }, where, path) {
    checkOriginLabels(origins, where, `${path}.origins`);
    checkRoleLabels(roles, where, `${path}.roles`);
  },
  check(profileId, entry, tool) {
    const labels = labelsIn(tool);
    if (labels !== undefined) checkLabels(profileId, entry, labels);
  },
};

// Checks that the labels of a profile name fields that the tool has.

/**
 * A label for a field that does not exist would have no effect, so a misspelt one is refused. If a
 * tool has no output schema, any field may be labelled.
 * @throws MisuseError `invalid_option`, which names the profile, the tool and the field
 */
function checkLabels(profileId: string, entry: ToolEntry, { origins, roles }: FieldLabels): void {
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
