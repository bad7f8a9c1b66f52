/**
 * What each part adds to hosts. A registry without the part refuses all of it (`missing_part`), and
 * names the import to add.
 */

import type { AbsentPart, Place } from '../core/part.ts';
import { defineRegistryMethods } from '../core/registry/registry.ts';
import { defineSessionMethods } from '../core/session/session.ts';

/** One part, with what it adds by place. */
export interface PartRow extends Readonly<Partial<Record<Place, readonly string[]>>> {
  /** The name of its function. */
  readonly part: string;
  /** Its subpath of the package. */
  readonly subpath: string;
}

export const partTable: readonly PartRow[] = [
  { part: 'idempotency', subpath: 'idempotency', registry: ['idempotency', 'store'] },
  {
    part: 'jsonSchemas',
    subpath: 'json-schema',
    schemas: ['json'],
    tests: ['matches'],
    sessionValues: ['repair: "safe"'],
    call: ['strictNulls'],
  },
  { part: 'lookAlikes', subpath: 'look-alikes', tests: ['alike'] },
  {
    part: 'origins',
    subpath: 'origins',
    registry: ['origins'],
    session: ['origins'],
    profileTool: ['origins', 'roles'],
    ruleKeys: ['origins'],
    tests: ['origin'],
    sessionMethods: ['originOf', 'said'],
  },
  {
    part: 'quotas',
    subpath: 'quotas',
    registry: ['quotas', 'quotaStore', 'store'],
    session: ['quotas'],
    profile: ['quotas'],
    registryMethods: ['addQuotas'],
  },
  {
    part: 'offload',
    subpath: 'offload',
    registry: ['offload', 'store'],
    tool: ['outputStrategy: "offload"'],
  },
  {
    part: 'discovery',
    subpath: 'discovery',
    session: ['discovery'],
    sessionMethods: ['search'],
  },
  {
    part: 'explain',
    subpath: 'explain',
    tool: ['attributes', 'external'],
    rule: ['shadow'],
    sessionMethods: ['authorize', 'explain'],
  },
  {
    part: 'durableApprovals',
    subpath: 'approvals',
    registry: ['approvals', 'store'],
    profile: ['approvers'],
    profileTool: ['approvers'],
    tool: ['requiresApproval.approvers'],
    askKeys: ['approvers'],
    sessionValues: ['approvalMode: "suspend"'],
    registryMethods: ['approvals.pending', 'approvals.list', 'approvals.get', 'approvals.answer'],
    sessionMethods: ['approvals.pending', 'approvals.resume', 'approvals.outcome'],
  },
  {
    part: 'codeMode',
    subpath: 'code',
    registry: ['store'],
    session: ['code'],
    sessionMethods: ['declarations'],
  },
  {
    part: 'scopes',
    subpath: 'scopes',
    session: ['scopes'],
    tool: ['scopes'],
    profileTool: ['scopes'],
  },
  {
    part: 'undo',
    subpath: 'undo',
    registry: ['undo', 'store'],
    tool: ['revert'],
    sessionMethods: ['revert'],
  },
  {
    part: 'delegation',
    subpath: 'delegation',
    registry: ['maxDelegationDepth'],
    ruleKeys: ['actor'],
    sessionMethods: ['delegate'],
  },
  {
    part: 'credentials',
    subpath: 'credentials',
    registry: ['credentials'],
    tool: ['credentials'],
    registryMethods: ['credentials.granted'],
  },
  { part: 'diagnostics', subpath: 'diagnostics' },
  { part: 'versions', subpath: 'versions', names: ['range', 'second version'] },
  { part: 'ruleReview', subpath: 'rule-review', registry: ['strictRules'] },
  { part: 'secrets', subpath: 'secrets', registry: ['redact'], marks: ['secret'] },
];

/** The part that adds an option, a key or a method, or acts upon a mark. */
export function partOf(place: Place, name: string): AbsentPart | undefined {
  const row = partTable.find((one) => namesOf(one, place).includes(name));
  if (row === undefined) return undefined;
  const { part, subpath } = row;
  return { part, importLine: `import { ${part} } from 'host-tools/${subpath}'` };
}

/** What all parts have in a place. Several may have the same, such as the option `store`. */
export function namesIn(place: Place): readonly string[] {
  return [...new Set(partTable.flatMap((row) => namesOf(row, place)))];
}

function namesOf(row: PartRow, place: Place): readonly string[] {
  return Object.hasOwn(row, place) ? (row[place] ?? []) : [];
}

defineRegistryMethods(namesIn('registryMethods'));
defineSessionMethods(namesIn('sessionMethods'));
