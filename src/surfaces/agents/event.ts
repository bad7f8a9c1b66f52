/** Reads an event from the text that an agent has sent. */
import { isAbsolute } from 'node:path';
import { describe } from '../../values/errors/index.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import type { Agent, AgentEvent, CallAbout } from './agent.ts';

/** Why an event cannot be judged, as a text for a person. */
export class HookFault extends Error {
  override readonly name = 'HookFault';
}

/** Largest event, in characters. */
export const maxEventChars = 16_000_000;

/** An event with the members that every agent sends. */
export interface ReadEvent {
  readonly sessionId: string;
  /** An absolute path, or `""`. */
  readonly cwd: string;
  readonly event: AgentEvent;
}

/** @throws HookFault */
export function readEvent(agent: Agent, text: string): ReadEvent {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new HookFault(
      `Expected one event of ${agent.title} as JSON on standard input, got ` +
        `${text.trim() === '' ? 'nothing' : 'something else'}.`,
    );
  }
  const copy = copyJson(parsed, { maxDepth: 64, maxValues: 1_000_000 });
  if (!copy.ok || !isJsonObject(copy.value))
    throw new HookFault(`Expected an event of ${agent.title}, got ${describe(parsed)}.`);
  const event = copy.value;
  const { sessionMember = 'session_id' } = agent;
  const sessionId = textOf(event, sessionMember);
  if (sessionId.length > 1_024) throw new HookFault(`Expected a shorter \`${sessionMember}\`.`);
  return {
    sessionId,
    cwd: folderOf(event),
    event: agent.read(textOf(event, 'hook_event_name'), event),
  };
}

/** The folder that the agent works in. @throws HookFault */
function folderOf(event: JsonObject): string {
  const cwd = memberOf(event, 'cwd') ?? '';
  if (cwd === '' || (typeof cwd === 'string' && isAbsolute(cwd))) return cwd;
  throw new HookFault(
    `Expected \`cwd\` of the event to be an absolute path, got ` +
      `${typeof cwd === 'string' ? JSON.stringify(cwd.slice(0, 100)) : describe(cwd)}.`,
  );
}

/** A member that must be a text that is not empty. @throws HookFault */
export function textOf(event: JsonObject, member: string): string {
  const value = memberOf(event, member);
  if (typeof value === 'string' && value !== '') return value;
  throw new HookFault(`Expected \`${member}\` of the event to be a text, got ${describe(value)}.`);
}

/** The call of an event, from the members that the agents share. @throws HookFault */
export function callOf(event: JsonObject): CallAbout {
  const input = memberOf(event, 'tool_input') ?? {};
  if (!isJsonObject(input))
    throw new HookFault(
      `Expected \`tool_input\` of the event to be an object, got ${describe(input)}.`,
    );
  const id = memberOf(event, 'tool_use_id');
  return {
    tool: textOf(event, 'tool_name'),
    input,
    id: typeof id === 'string' && id !== '' ? id.slice(0, 256) : undefined,
  };
}

/**
 * An event of a kind that needs no decision. One that is about a call needs one, whatever its name
 * is: it may be of a later version, of another agent, or misspelt.
 * @throws HookFault
 */
export function otherEvent(name: string, event: JsonObject, agent: string): AgentEvent {
  if (memberOf(event, 'tool_name') === undefined && memberOf(event, 'tool_input') === undefined)
    return { kind: 'other' };
  throw new HookFault(
    `Expected an event about a call that is known for ${agent}, got ` +
      `${JSON.stringify(name.slice(0, 100))}. Remove it from the hooks in the agent's settings.`,
  );
}

/** An own member; undefined if there is none. */
export function memberOf(event: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(event, member) ? event[member] : undefined;
}
