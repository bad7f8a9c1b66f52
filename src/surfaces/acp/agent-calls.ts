/**
 * The tools of agents: what a call is named, and the input that rules judge. Loaded with the first
 * call, since the tables and what reads command lines are large.
 */
import { resolve } from 'node:path';
import {
  type AnyTool,
  type Authorization,
  type CallOptions,
  isMisuseError,
  type ToolSession,
} from '../../core.ts';
import { inspectSession, inspectTool } from '../../extend.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { shellWord } from '../../values/packages/install-line.ts';
import { agentTool, mcpNames, mcpTool, type PlaceOf, type ToolRow } from '../agents/agent-tools.ts';
import { agents } from '../agents/hooks.ts';
import type { Place } from '../agents/place.ts';
import type { ToldCall } from './told-call.ts';

/** A call as the rules judge it. */
export interface Described {
  readonly tool: string;
  readonly input: JsonObject;
  /** Whether a part of the input was made of what the agent shows to people. */
  readonly inferred: boolean;
  readonly row: ToolRow | undefined;
}

/** A tool may run as long as the agent lets it. A call that never ends is forgotten after a day. */
const longestMs = 86_400_000;

const path = { paths: ['path'], manyPaths: true } as const;
const destructive = { destructive: true } as const;
const readOnly = { readOnly: true } as const;

/** The tools of an agent that is not known, by their kinds. */
const kindRows: readonly ToolRow[] = [
  {
    name: 'execute',
    description: 'Runs a command line.',
    annotations: { destructive: true, openWorld: true },
    required: ['command'],
    shell: 'command',
    content: ['command'],
  },
  { name: 'read', description: 'Reads files.', annotations: readOnly, ...path },
  { name: 'edit', description: 'Changes files.', annotations: destructive, ...path },
  { name: 'delete', description: 'Deletes files.', annotations: destructive, ...path },
  { name: 'move', description: 'Moves files.', annotations: destructive, ...path },
  { name: 'search', description: 'Searches.', annotations: readOnly, ...path },
  {
    name: 'fetch',
    description: 'Reads from the network.',
    annotations: { readOnly: true, openWorld: true },
    url: 'url',
  },
  { name: 'think', description: 'Thinks or plans.' },
  { name: 'switch_mode', description: 'Goes on in another mode.' },
  {
    name: 'other',
    description: 'Does something else.',
    annotations: { destructive: true, openWorld: true },
  },
];

/** The rows of an agent's table by kind, for a call whose name it does not tell. */
const byKind: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'claude-code': { execute: 'Bash', edit: 'Write', read: 'Read' },
  codex: { execute: 'Bash' },
  'gemini-cli': { execute: 'run_shell_command', edit: 'write_file', read: 'read_file' },
};

/** What an agent asks its client to do, by the method of the protocol. */
const clientRows = {
  'fs/read_text_file': {
    name: 'fs.read_text_file',
    description: 'Reads a file by the client.',
    annotations: readOnly,
    required: ['path'],
    paths: ['path'],
  },
  'fs/write_text_file': {
    name: 'fs.write_text_file',
    description: 'Writes a file by the client.',
    annotations: destructive,
    required: ['path', 'content'],
    paths: ['path'],
    content: ['content'],
  },
  'terminal/create': {
    name: 'terminal.create',
    description: 'Runs a command line by the client.',
    annotations: { destructive: true, openWorld: true },
    required: ['command'],
    shell: 'command',
    folder: 'cwd',
    content: ['command'],
  },
} as const satisfies Readonly<Record<string, ToolRow>>;

/** A method by which an agent uses its client. */
export type ClientMethod = keyof typeof clientRows;

/** A request to the client, as the rules judge it. */
export function describeRequest(method: ClientMethod, params: JsonObject): Described {
  const row: ToolRow = clientRows[method];
  const { sessionId: _, _meta: __, args, ...input } = params;
  // Some clients give the command to a shell and others do not, so it is read as a shell would.
  const words = isWords(args) ? args.map(shellWord) : [];
  const line =
    method === 'terminal/create' && typeof input.command === 'string'
      ? { command: [input.command, ...words].join(' ') }
      : {};
  const given = Object.entries({ ...input, ...line }).filter(([, value]) => value !== null);
  return { tool: row.name, input: Object.fromEntries(given), inferred: false, row };
}

/** A call whose own name cannot be judged. */
export function otherCall(described: Described): Described {
  const row = kindRows.at(-1) as ToolRow;
  return { ...described, tool: row.name, row };
}

/** What a call is, by the table of its agent. */
export function describeCall(agent: string, told: ToldCall): Described {
  const rows = agents.get(agent)?.tools ?? [];
  const named = (name: string | undefined): ToolRow | undefined =>
    rows.find((row) => row.name === name);
  const kind = kindRows.find((row) => row.name === told.kind) ?? (kindRows.at(-1) as ToolRow);
  const name = told.name ?? nameByAgent(agent, told, named, kind);
  if (name !== undefined && isMcp(agent, name))
    return { ...inputOf(told, undefined), tool: name, row: undefined };
  const row =
    name === undefined
      ? (named(byKind[agent]?.[kind.name]) ?? kind)
      : (named(name) ?? { ...kind, name });
  return { ...inputOf(told, row), tool: row.name, row };
}

/** The agent's name of the tool, from what only this agent sends. */
function nameByAgent(
  agent: string,
  { claudeName, id }: ToldCall,
  named: (name: string | undefined) => ToolRow | undefined,
  kind: ToolRow,
): string | undefined {
  if (agent === 'claude-code') return claudeName;
  if (agent !== 'gemini-cli') return undefined;
  // Gemini CLI makes its ids of the name, twice since 0.61, the time and a count.
  const name = /^([\w.-]+?)(?:__\1_\d+_\d+|-\d+(?:-\d+)?)$/.exec(id)?.[1];
  if (name !== undefined && isMcp(agent, name)) return name;
  const row = named(name);
  return row !== undefined && (row.shell === undefined) === (kind.shell === undefined)
    ? name
    : undefined;
}

function isMcp(agent: string, name: string): boolean {
  return (agents.get(agent)?.mcpNames ?? mcpNames).test(name);
}

/** Members that are not in the raw input are made of what the agent shows. */
function inputOf(
  { raw, title, paths }: ToldCall,
  row: ToolRow | undefined,
): { readonly input: JsonObject; readonly inferred: boolean } {
  const input: Record<string, JsonValue> = isJsonObject(raw)
    ? { ...raw }
    : raw === undefined
      ? {}
      : { input: raw };
  const { shell, paths: members = [], manyPaths = false, required = [] } = row ?? {};
  const [member] = members;
  let inferred = raw === undefined;
  if (shell !== undefined && typeof input[shell] !== 'string') {
    const words = input[shell];
    const line = isWords(words) ? words.map(shellWord).join(' ') : title;
    inferred ||= !isWords(words);
    if (line !== undefined) input[shell] = line;
  }
  const needed = member !== undefined && (manyPaths || required.includes(member));
  if (needed && input[member] === undefined && paths !== undefined) {
    const [first = '', ...more] = paths;
    input[member] = more.length > 0 && manyPaths ? [...paths] : first;
    inferred = true;
  }
  if (raw === undefined && shell === undefined && title !== undefined) input.title = title;
  return { input: inferred ? { ...input, inferred: true } : input, inferred };
}

function isWords(value: JsonValue | undefined): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

/** Where calls run that are being judged. */
const places = new WeakMap<ToolSession, Map<string, Place>>();

/**
 * Asks the gates about a call. Its paths are relative to the folder that it names.
 * @returns why the call cannot be judged, as a text
 */
export async function authorizeCall(
  session: ToolSession,
  { tool, input, row }: Described,
  place: Place,
  options: CallOptions & { readonly callId: string },
): Promise<Authorization | string> {
  const here = places.get(session) ?? new Map<string, Place>();
  places.set(session, here);
  const why = prepareTool(session, tool, row, ({ callId }) => here.get(callId) ?? place);
  if (why !== undefined) return why;
  const folder = row?.folder === undefined ? undefined : input[row.folder];
  const cwd = typeof folder === 'string' ? resolve(place.cwd, folder) : place.cwd;
  here.set(options.callId, { ...place, cwd });
  try {
    return await session.authorize(tool, input, options);
  } finally {
    here.delete(options.callId);
  }
}

/** Registers a tool, unless the session has it. @returns why it cannot be judged */
function prepareTool(
  session: ToolSession,
  tool: string,
  row: ToolRow | undefined,
  place: PlaceOf,
): string | undefined {
  const view = inspectSession(session);
  const known = view.definition(tool);
  if (known !== undefined)
    return inspectTool(known).runsIn === 'external'
      ? undefined
      : `\`${tool}\` is a tool of the host, which no agent runs itself.`;
  try {
    // Labels alone would make a session remember what the user wrote.
    const made: AnyTool =
      row === undefined
        ? mcpTool(tool, longestMs)
        : agentTool(row, place, view.remembersTexts, longestMs);
    session.register(made as AnyTool<unknown>);
    return undefined;
  } catch (error) {
    if (isMisuseError(error)) return error.message;
    throw error;
  }
}
