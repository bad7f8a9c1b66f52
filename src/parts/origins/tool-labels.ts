/**
 * What a session knows about the texts of a tool, from its definition, its schemas and the profile.
 */

import type { Binding } from '../../core/call/binding.ts';
import type { ProfileTool, ProfileTools } from '../../core/rules/profile.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import type { FieldLabels } from '../../core/tool/definition.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { mayHold } from '../../values/json-schema/may-hold.ts';
import type { BoundSchema } from '../../values/schema/bind.ts';
import { type OutputLabels, outputLabels } from './output-labels.ts';
import { checkOriginLabels, checkRoleLabels } from './profile-labels.ts';
import { type InputRoles, inputRoles } from './roles.ts';

export interface ToolLabels {
  readonly roles: InputRoles;
  readonly output: OutputLabels;
}

/**
 * The labels of each tool under each profile. The tool itself is the key for the labels without a
 * profile.
 */
const made = new WeakMap<ToolEntry, WeakMap<object, ToolLabels>>();

/** The labels of a bound tool. Sessions with the same profile share them. */
export function labelsOf({ entry, session }: Binding): ToolLabels {
  const profileTool = wholeSession(session).profile?.tools.get(entry.name);
  const own = profileTool && labelsIn(profileTool);
  const key = own ?? entry;
  let ofTool = made.get(entry);
  if (ofTool === undefined) {
    ofTool = new WeakMap();
    made.set(entry, ofTool);
  }
  let labels = ofTool.get(key);
  if (labels === undefined) {
    labels = read(entry, own);
    ofTool.set(key, labels);
  }
  return labels;
}

/** The schemas of a tool from another source may make it less trusted, but never more. */
function read({ internals }: ToolEntry, own: FieldLabels | undefined): ToolLabels {
  const { input, output, origin, outside } = internals;
  const told = outside?.labels;
  return {
    roles: inputRoles({
      schema: input.json,
      paths: both(told?.roles, own?.roles),
      schemaMayLoosen: input.trusted,
    }),
    output: outputLabels({
      origin,
      schema: output?.json,
      paths: both(told?.origins, own?.origins),
      schemaMayTrust: input.trusted,
    }),
  };
}

/** Labels by path. If two have the same path, the second one counts. */
function both<L>(
  first: Readonly<Record<string, L>> | undefined,
  second: Readonly<Record<string, L>> | undefined,
): Readonly<Record<string, L>> | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second)]);
}

// The labels that profiles give to tools.

/** The labels of a tool in a profile; undefined if there are none. */
export function labelsIn({ more }: ProfileTool): FieldLabels | undefined {
  return more?.origins === undefined && more?.roles === undefined
    ? undefined
    : (more as FieldLabels);
}

export const profileTools: ProfileTools = {
  read(keys, where, path) {
    // The table of the part takes only maps.
    const { origins, roles } = keys as Readonly<Record<string, JsonObject>>;
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
