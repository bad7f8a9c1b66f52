/** Pinned definitions: a name keeps the first definition it was registered with in a session. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../values/json/index.ts';
import type { Pause } from '../../../values/limits/stretches.ts';
import type { RelayedDefinition, ToolsDocument } from '../ports/documents.ts';
import type { FailedTool } from './read-definitions.ts';

/** Most names that a session remembers. */
const maxPins = 5_000;

/**
 * Accepts a definition if it is the first with its name or equal to the first. Other definitions
 * fail, and the pinned one remains.
 * @param pause called between definitions, because comparing many of them takes a while
 */
export async function pinDefinitions(
  definitions: readonly RelayedDefinition[],
  before: ToolsDocument['pins'],
  pause: Pause,
): Promise<{
  definitions: RelayedDefinition[];
  failed: FailedTool[];
  pins: Record<string, string>;
}> {
  const pins = new Map(Object.entries(before ?? {}));
  const failed: FailedTool[] = [];
  const kept: RelayedDefinition[] = [];
  for (const definition of definitions) {
    await pause();
    const { name } = definition;
    const hash = createHash('sha256').update(definitionText(definition)).digest('base64url');
    const pinned = pins.get(name);
    if (pinned === undefined && pins.size < maxPins) pins.set(name, hash);
    if (pins.get(name) === hash) {
      kept.push(definition);
      continue;
    }
    const error =
      pinned === undefined
        ? `definition_pinned: this session has had ${maxPins} names, and remembers no more.`
        : 'definition_pinned: this session had another definition under this name, and ' +
          'definitions are pinned. Use another name.';
    failed.push({ toolName: name, error, recoverable: false });
  }
  return { definitions: kept, failed, pins: Object.fromEntries(pins) };
}

/** The definition as canonical JSON, which does not depend on the order of members. */
export function definitionText(definition: RelayedDefinition): string {
  return canonicalJson({ ...definition });
}
