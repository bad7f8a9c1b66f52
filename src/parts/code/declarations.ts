/** What a program may call, as TypeScript: one function for each tool. */

import type { FoundTool, SearchOptions } from '../../api/session.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { Listing } from '../../core/session/view.ts';
import { shownDescription } from '../../core/tool/deprecation.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { shownSchema } from '../../values/schema/to-json-schema.ts';
import { takenNames } from './settings.ts';
import { comment, memberName, TypeText } from './type-text.ts';

/** Characters that a token has on average. */
const charsPerToken = 4;
/** Most tools that one search returns. */
const maxFound = 8;

const cached = new WeakMap<ToolEntry, string>();

/** The tool as a member of `tools`. */
function memberOf(entry: ToolEntry): string {
  const known = cached.get(entry);
  if (known !== undefined) return known;
  const { definition, name } = entry;
  const parameters = shownSchema(definition.parameters as JsonObject);
  const { required } = parameters;
  const mark = Array.isArray(required) && required.length > 0 ? '' : '?';
  const input = new TypeText(parameters).write('  ');
  const { outputSchema } = definition;
  const output =
    outputSchema === undefined ? 'unknown' : new TypeText(outputSchema as JsonObject).write('  ');
  const text =
    `${comment(shownDescription(definition), '  ')}` +
    `  ${memberName(name)}(input${mark}: ${input}): Promise<${output}>;\n`;
  cached.set(entry, text);
  return text;
}

/** The tools that programs of a session may call. */
export function callable(session: SessionState, { entries }: Listing): readonly ToolEntry[] {
  return [...entries.values()].filter((entry) => isCallable(session, entry));
}

function isCallable({ registry }: SessionState, { definition, name }: ToolEntry): boolean {
  return !registry.ports.tools.own.has(definition) && !takenNames.includes(name);
}

/**
 * The declarations of tools, as many as the budget has room for.
 * @param hidden How many more a search finds, beside those that have no room.
 */
export function declare(
  entries: readonly ToolEntry[],
  hidden: number,
  maxTokens: number,
  finds: boolean,
): string {
  let room = maxTokens * charsPerToken - 400;
  const members: string[] = [];
  for (const entry of entries) {
    const text = memberOf(entry);
    if (text.length > room) continue;
    room -= text.length;
    members.push(text);
  }
  const left = entries.length - members.length + hidden;
  return `declare const tools: {\n${members.join('')}${extras(left, finds)}};\n`;
}

function extras(left: number, finds: boolean): string {
  const more = left === 0 ? '' : ` ${left} more tools can be called once they were found.`;
  const find =
    `${comment(`Declarations of tools, found by what they do.${more}`, '  ')}` +
    '  find(query: string): Promise<string>;\n';
  const unseen = left === 0 || finds ? '' : `  // ${left} more tools have no room here.\n`;
  const sleep = `${comment('Waits.', '  ')}  sleep(ms: number): Promise<null>;\n`;
  return `${sleep}${finds ? find : ''}${unseen}`;
}

type Search = (
  session: SessionState,
  query: unknown,
  options: SearchOptions | undefined,
) => readonly FoundTool[];

/** Whether programs can search: the registry has the part for it. */
export function canFind({ registry }: SessionState): boolean {
  return registry.ports.sessions.methods.has('search');
}

/** The declarations of the tools that a text describes. @throws MisuseError for a wrong text. */
export function findDeclarations(session: SessionState, query: string): string {
  const search = session.registry.ports.sessions.methods.get('search') as Search | undefined;
  const found = search?.(session, query, { limit: maxFound }) ?? [];
  const { entries } = session.registry.viewOf(session);
  return found
    .flatMap(({ name }) => entries.get(name) ?? [])
    .filter((entry) => isCallable(session, entry))
    .map(memberOf)
    .join('');
}
