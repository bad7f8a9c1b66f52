/** Reads the files of clients, and merges the servers of their scopes. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { messageOf } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { CliIo } from '../cli-io.ts';
import { failure } from '../fault.ts';
import { shownPath } from '../printable.ts';
import { readTextFile } from '../read-text.ts';
import { clientOf, homeOf, offIn, own, type Scope, scopesOf } from './client-files.ts';
import { type Converted, convertServers } from './convert-servers.ts';
import { readToml, withoutComments } from './read-toml.ts';

/** The servers of all files. */
export interface Found extends Converted {
  /** Whether the files call their servers `servers`, as VS Code does. */
  readonly isVsCode: boolean;
  /** Whether all files are TOML, as that of Codex is. */
  readonly isCodex: boolean;
}

/** Claude Code keeps much other data in the same file. */
const maxBytes = 64 * 1_048_576;

/** @throws CliFault for a file that cannot be read */
export async function foundServers(paths: readonly string[], io: CliIo): Promise<Found> {
  const folders = [...new Set([io.cwd, await realpath(io.cwd).catch(() => io.cwd)])];
  const warnings: string[] = [];
  const found: { readonly scope: Scope; readonly converted: Converted }[] = [];
  let isVsCode = false;
  const isCodex = paths.every((path) => clientOf(path) === 'Codex');
  for (const path of paths) {
    const shown = shownPath(path, io.cwd);
    const config = await readConfig(path, shown, io);
    const scopes = scopesOf(config, folders, shown);
    const off = await offElsewhere(path, folders, io);
    const isOff = (name: string): boolean => scopes.isOff(name) || off.has(name);
    warnings.push(...scopes.notes.map((note) => `${shown}: ${note}`));
    isVsCode ||= scopes.isVsCode;
    const isGemini = clientOf(path) === 'Gemini CLI';
    for (const scope of scopes.scopes) {
      const servers = withPlaces(scope.servers, path, io.cwd);
      const rank = rankOf(path, io.cwd, scope.rank);
      found.push({
        scope: { ...scope, rank },
        converted: convertServers(servers, isOff, isGemini),
      });
    }
  }
  return { ...(await loadable(merged(found, warnings))), isVsCode, isCodex };
}

/** Leaves out what a gateway refuses, because nothing of its file would load otherwise. */
async function loadable(converted: Converted): Promise<Converted> {
  const { serverFault } = await import('../../surfaces/config/server-format.ts');
  const servers: [string, JsonObject][] = [];
  const warnings = [...converted.warnings];
  for (const [name, server] of Object.entries(converted.servers)) {
    const fault = serverFault(server);
    if (fault === undefined) servers.push([name, server]);
    else warnings.push(`\`${name}\`: it is left out, because a gateway refuses it: ${fault}.`);
  }
  return { ...converted, servers: Object.fromEntries(servers), warnings };
}

/** A file of the project overrides one of the user, and an extension overrides nothing. */
function rankOf(path: string, cwd: string, rank: number): number {
  if (basename(path) === 'gemini-extension.json') return 3;
  return rank === 2 && path.startsWith(cwd + sep) ? 1 : rank;
}

function merged(
  found: readonly { readonly scope: Scope; readonly converted: Converted }[],
  warnings: string[],
): Converted {
  const servers = new Map<string, JsonObject>();
  const denied: string[] = [];
  const variables = new Set<string>();
  for (const { scope, converted } of [...found].sort((a, b) => a.scope.rank - b.scope.rank)) {
    warnings.push(...converted.warnings);
    for (const [name, server] of Object.entries(converted.servers)) {
      if (servers.has(name)) {
        warnings.push(`\`${name}\` of ${scope.name} is left out: another scope overrides it.`);
        continue;
      }
      servers.set(name, server);
      denied.push(...converted.denied.filter((tool) => tool.startsWith(`${name}.`)));
    }
    for (const one of converted.variables) variables.add(one);
  }
  return { servers: Object.fromEntries(servers), denied, variables: [...variables], warnings };
}

/** The servers of a file that other files of its client switch off. */
async function offElsewhere(
  path: string,
  folders: readonly string[],
  io: CliIo,
): Promise<ReadonlySet<JsonValue>> {
  const folder = dirname(path);
  const home = homeOf({ cwd: io.cwd, env: io.env, platform: process.platform });
  const read = async (...place: string[]): Promise<JsonValue | undefined> => {
    const text = await readTextFile(resolve(...place), io, maxBytes).catch(() => undefined);
    try {
      return text === undefined ? undefined : (JSON.parse(withoutComments(text)) as JsonValue);
    } catch {
      return undefined;
    }
  };
  if (basename(path) === '.mcp.json') {
    const config = home === undefined ? undefined : await read(home, '.claude.json');
    const projects = own(config, 'projects');
    return offIn(
      await read(folder, '.claude/settings.json'),
      await read(folder, '.claude/settings.local.json'),
      home === undefined ? undefined : await read(home, '.claude/settings.json'),
      ...[folder, ...folders].map((one) => own(projects, one)),
    );
  }
  if (clientOf(path) !== 'Gemini CLI' || home === undefined) return new Set();
  const enablement = await read(home, '.gemini/mcp-server-enablement.json');
  const off = isJsonObject(enablement)
    ? Object.entries(enablement).filter(([, state]) => own(state, 'enabled') === false)
    : [];
  return new Set(off.map(([name]) => name));
}

/** Fills in the places that an extension of Gemini CLI may name. */
function withPlaces(servers: JsonObject, path: string, cwd: string): JsonObject {
  if (basename(path) !== 'gemini-extension.json') return servers;
  const places = new Map([
    ['extensionPath', dirname(path)],
    ['workspacePath', cwd],
    ['/', sep],
    ['pathSeparator', sep],
  ]);
  const fill = (value: JsonValue): JsonValue => {
    if (typeof value === 'string')
      return value.replace(/\$\{([\w/]+)\}/g, (whole, name: string) => places.get(name) ?? whole);
    if (Array.isArray(value)) return value.map((one: JsonValue) => fill(one));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]));
  };
  return fill(servers) as JsonObject;
}

async function readConfig(path: string, shown: string, io: CliIo): Promise<JsonValue> {
  const given = await readTextFile(path, io, maxBytes).catch((error: unknown) => {
    throw io.signal.aborted ? error : failure(`Cannot read \`${shown}\`: ${messageOf(error)}.`);
  });
  const text = given.replace(/^\uFEFF/, '');
  const isToml = path.endsWith('.toml');
  try {
    return isToml ? readToml(text) : (JSON.parse(withoutComments(text)) as JsonValue);
  } catch (error) {
    throw failure(`Expected \`${shown}\` to be ${isToml ? 'TOML' : 'JSON'}: ${messageOf(error)}.`);
  }
}
