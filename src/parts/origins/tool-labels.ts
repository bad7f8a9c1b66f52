/**
 * What a session knows about the texts of a tool, from its definition, its schemas and the profile.
 */

import type { Binding } from '../../core/call/binding.ts';
import type { FieldLabels } from '../../core/tool/definition.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { type OutputLabels, outputLabels } from './output-labels.ts';
import { labelsIn } from './profile-tools.ts';
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
  const profileTool = session.profile?.tools.get(entry.name);
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
