/** The building blocks of definitions for an agent's own tools. */
import { type AnyTool, type CallInfo, defineTool, type ToolAnnotations } from '../../core.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { lineFacts } from './effects/line-effects.ts';
import type { FileKind } from './files/file-kind.ts';
import { fileKinds } from './files/file-kinds.ts';
import { readPatch } from './patch.ts';
import { type PathFacts, type Place, pathFacts } from './place.ts';
import { hostsOfWord } from './shell/hosts.ts';
import { type ShellParser, shellParser } from './shell/shell-parser.ts';

/** One row of an agent's table of tools. */
export interface ToolRow {
  readonly name: string;
  readonly description: string;
  readonly annotations?: ToolAnnotations;
  /** The origin of the text of its output. @default by `openWorld` */
  readonly origin?: 'trusted' | 'untrusted';
  /** Members of the input that rules can rely on. They must be present, and be texts. */
  readonly required?: readonly string[];
  /** Members that are paths: rules read `NAME@inside`, `NAME@path` and `NAME@name`. */
  readonly paths?: readonly string[];
  /** Whether such a member may also be a list of paths. */
  readonly manyPaths?: boolean;
  /** The member that is a command line: rules read `NAME@commands` and so on. */
  readonly shell?: string;
  /** Whether the model can write to a program that its command line has started, unseen. */
  readonly feeds?: boolean;
  /** The member that names the folder in which the tool works: its paths are relative to it. */
  readonly folder?: string;
  /** The member that is a patch: rules read `NAME@paths` and `NAME@outside`. */
  readonly patch?: string;
  /** The member that is a web address: rules read `NAME@host`. */
  readonly url?: string;
  /** The member that is a text with web addresses in it: rules read `NAME@hosts`. */
  readonly addresses?: string;
  /** Members that are free texts rather than targets, for rules about origins. */
  readonly content?: readonly string[];
}

/** Where a call would run. */
export type PlaceOf = (call: CallInfo) => Place;

/**
 * Defines a tool that the agent runs. Its input may have members that are not named here.
 * @param labels Whether some rule tests the origins of values. Labels alone would make a session
 * remember what the user wrote.
 * @param timeoutMs Milliseconds until a call that has not ended counts as timed out. The registry's
 * default if it is left out.
 * @param told Hears what the rules are told
 */
export function agentTool(
  row: ToolRow,
  place: PlaceOf,
  labels: boolean,
  timeoutMs?: number,
  told?: Told,
): AnyTool {
  const { name, description, annotations = {}, origin, required = [], content = [] } = row;
  const named = [
    ...required,
    ...(row.paths ?? []),
    ...content,
    row.shell,
    row.folder,
    row.patch,
    row.url,
    row.addresses,
  ];
  const properties: Record<string, JsonObject> = {};
  for (const member of named)
    if (member !== undefined)
      properties[member] = {
        type: row.manyPaths && row.paths?.includes(member) ? ['string', 'array'] : 'string',
        ...(labels && content.includes(member) ? { 'x-role': 'content' } : {}),
      };
  const attributes = attributesOf(row, place);
  return defineTool({
    name,
    description,
    parameters: { type: 'object', properties, required: [...required] },
    annotations,
    external: true,
    attributes: told === undefined ? attributes : telling(attributes, told),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(origin === undefined || !labels ? {} : { origin }),
  }) as AnyTool;
}

/** Hears what rules were told about a member of the input. */
export type Told = (member: string, facts: JsonObject) => void;

function telling(attributes: Readonly<Record<string, Ask>>, told: Told): Record<string, Ask> {
  const heard = Object.entries(attributes).map(([member, ask]) => {
    const asking: Ask = async (value, call) => {
      const facts = await ask(value, call);
      told(member, facts);
      return facts;
    };
    return [member, asking] as const;
  });
  return Object.fromEntries(heard);
}

type Ask = (value: unknown, call: CallInfo) => JsonObject | Promise<JsonObject>;

function attributesOf(
  { paths = [], shell, feeds = false, patch, url, addresses }: ToolRow,
  place: PlaceOf,
): Record<string, Ask> {
  const attributes: Record<string, Ask> = {};
  for (const member of paths)
    attributes[member] = (value, call) =>
      filesFacts(Array.isArray(value) ? value : [value], place(call)) as unknown as JsonObject;
  let parser: Promise<ShellParser> | undefined;
  if (shell !== undefined)
    attributes[shell] = async (value, call) => {
      parser ??= shellParser();
      return lineFacts(String(value), place(call), await parser, feeds) as unknown as JsonObject;
    };
  if (patch !== undefined)
    attributes[patch] = (value, call) => ({ ...patchFacts(String(value), place(call)) });
  if (addresses !== undefined)
    attributes[addresses] = (value) => ({ hosts: [...new Set(hostsOfWord(String(value)))] });
  if (url !== undefined) attributes[url] = (value) => ({ host: hostOf(String(value)) });
  return attributes;
}

/** Of several paths, all must be inside. */
function filesFacts(values: readonly unknown[], place: Place): FileFacts {
  const all = values.map((value) => fileFacts(String(value), place));
  return {
    inside: all.every(({ inside }) => inside),
    path: all.flatMap(({ path }) => path),
    name: all[0]?.name ?? '',
    kind: [...new Set(all.flatMap(({ kind }) => kind))],
  };
}

/** An agent may remove the space around a path before it opens the file. */
function fileFacts(text: string, place: Place): FileFacts {
  const trimmed = pathFacts(text.trim(), place);
  const { inside, path } = text === text.trim() ? noPath : pathFacts(text, place);
  const paths = [...path, ...trimmed.path];
  return {
    inside: inside && trimmed.inside,
    path: paths,
    name: trimmed.name,
    kind: kindsOf(paths, place),
  };
}

/** What rules can read of a file: `file_path@kind` is what kind of file it is. */
interface FileFacts extends PathFacts {
  readonly kind: readonly FileKind[];
}

const noPath = { inside: true, path: [] };

function kindsOf(paths: readonly string[], place: Place): FileKind[] {
  return [...new Set(paths.flatMap((path) => fileKinds(path, place)))];
}

function patchFacts(patch: string, place: Place): PatchFacts {
  const { files, faults } = readPatch(patch);
  const outside = [...faults];
  const paths = files.flatMap((file) => {
    const { path, inside } = pathFacts(file, place);
    const isOwn = kindsOf(path, place).every(
      (kind) => kind === 'own-notes' || kind === 'temporary',
    );
    if (!inside && !isOwn) outside.push(file);
    return path;
  });
  return { paths, outside, changes: kindsOf(paths, place) };
}

/** What rules can read of a patch. */
interface PatchFacts {
  readonly paths: readonly string[];
  readonly outside: readonly string[];
  /** The kinds of its files. */
  readonly changes: readonly FileKind[];
}

/** `""` for a text that is not a web address. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
}

/** The names of the tools of MCP servers, with most agents: `mcp__SERVER__TOOL`. */
export const mcpNames = /^mcp__.+__.+$/;

/** The definition of a tool of an MCP server, whose input is unknown here. */
export function mcpTool(name: string, timeoutMs?: number): AnyTool {
  return defineTool({
    name,
    description: 'A tool of an MCP server.',
    parameters: { type: 'object' },
    annotations: { destructive: true, openWorld: true },
    tags: ['mcp'],
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    external: true,
  }) as AnyTool;
}
