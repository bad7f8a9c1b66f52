/** Where MCP clients keep their configured servers, and for which folders each of them counts. */
import { access, readdir } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { cleanLine } from '../../surfaces/shared/outside-text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';

/** A configuration of a client. */
export interface ClientFile {
  /** Such as `Claude Desktop`. */
  readonly client: string;
  readonly path: string;
}

/** The environment that determines where clients keep their files. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As `process.platform`. */
  readonly platform: string;
}

/** All places that are checked. Of one client, a file overrides those that follow. */
export async function clientFiles(around: Surroundings): Promise<readonly ClientFile[]> {
  const { cwd, env, platform } = around;
  const home = homeOf(around);
  const project: ClientFile[] = [
    { client: 'Cursor', path: join(cwd, '.cursor/mcp.json') },
    { client: 'VS Code', path: join(cwd, '.vscode/mcp.json') },
    { client: 'Claude Code', path: join(cwd, '.mcp.json') },
    { client: 'Codex', path: join(cwd, '.codex/config.toml') },
    { client: 'Gemini CLI', path: join(cwd, '.gemini/settings.json') },
  ];
  if (home === undefined) return [...project, ...(await extensions(cwd))];
  const settings =
    platform === 'win32'
      ? (env.APPDATA ?? join(home, 'AppData/Roaming'))
      : platform === 'darwin'
        ? join(home, 'Library/Application Support')
        : join(home, '.config');
  return [
    ...project,
    { client: 'Claude Desktop', path: join(settings, 'Claude/claude_desktop_config.json') },
    { client: 'Cursor', path: join(home, '.cursor/mcp.json') },
    { client: 'VS Code', path: join(settings, 'Code/User/mcp.json') },
    { client: 'Claude Code', path: join(home, '.claude.json') },
    { client: 'Codex', path: join(env.CODEX_HOME || join(home, '.codex'), 'config.toml') },
    { client: 'Gemini CLI', path: join(home, '.gemini/settings.json') },
    ...(await extensions(cwd)),
    ...(await extensions(home)),
  ];
}

/** The folder of the user; undefined if the environment does not name it. */
export function homeOf({ env, platform }: Surroundings): string | undefined {
  return (platform === 'win32' ? env.USERPROFILE : env.HOME) || undefined;
}

/** The extensions of Gemini CLI, which may have servers. */
async function extensions(folder: string): Promise<readonly ClientFile[]> {
  const place = join(folder, '.gemini/extensions');
  const names = await readdir(place).catch(() => []);
  return names.sort().map((name) => ({
    client: 'Gemini CLI',
    path: join(place, name, 'gemini-extension.json'),
  }));
}

/** The client of a file that a user has named, as far as its path tells. */
export function clientOf(path: string): string | undefined {
  const [name, folder] = [basename(path), basename(dirname(path))];
  if (name === 'gemini-extension.json' || (name === 'settings.json' && folder === '.gemini'))
    return 'Gemini CLI';
  if (name === '.claude.json' || name === '.mcp.json') return 'Claude Code';
  return name.endsWith('.toml') ? 'Codex' : undefined;
}

/** The files that exist, each once. */
export async function existing(files: readonly ClientFile[]): Promise<readonly ClientFile[]> {
  const found = new Map<string, ClientFile>();
  for (const file of files) {
    const exists = await access(file.path).then(
      () => true,
      () => false,
    );
    if (exists && !found.has(file.path)) found.set(file.path, file);
  }
  return [...found.values()];
}

// The servers in a client's file, by scope, and those that the client has switched off.

/** The servers of one scope. */
export interface Scope {
  readonly servers: JsonObject;
  /** Of several scopes with a server of one name, the lowest number counts. */
  readonly rank: number;
  /** The name of the scope, for notes. */
  readonly name: string;
}

/** What a file says. */
export interface Scopes {
  readonly scopes: readonly Scope[];
  /** Whether the client does not use a server. */
  isOff(name: string): boolean;
  /** Notes for a person. */
  readonly notes: readonly string[];
  /** Whether the file calls its servers `servers`, as VS Code does. */
  readonly isVsCode: boolean;
}

/** Most projects that are named. */
const maxProjects = 20;

/**
 * Finds the servers.
 * @param folders the working folder, by each of its names
 */
export function scopesOf(config: JsonValue, folders: readonly string[], shown: string): Scopes {
  const at = (name: string): JsonValue | undefined => own(config, name);
  const named = at('mcpServers') ?? at('mcp_servers');
  const vsCode = at('servers') ?? own(at('mcp'), 'servers');
  const notes: string[] = [];
  const scopes: Scope[] = [];
  const user = named ?? vsCode;
  if (isJsonObject(user)) scopes.push({ servers: user, rank: 2, name: shown });
  const projects = at('projects');
  const here = nearest(projects, folders);
  for (const [path, project] of isJsonObject(projects) ? Object.entries(projects) : []) {
    const servers = own(project, 'mcpServers');
    if (!isJsonObject(servers) || Object.keys(servers).length === 0) continue;
    if (path === here) scopes.push({ servers, rank: 0, name: `${shown} for this folder` });
    else if (notes.length < maxProjects)
      notes.push(
        `the project \`${cleanLine(path, 300)}\` has servers of its own, which are left out: ` +
          `${Object.keys(servers)
            .map((name) => `\`${cleanLine(name, 64)}\``)
            .join(', ')}. To import them, run this command in that folder.`,
      );
  }
  for (const [name, profile] of entriesOf(at('profiles')))
    if (own(profile, 'mcp_servers') !== undefined)
      notes.push(`the servers of the profile \`${cleanLine(name, 64)}\` are left out.`);
  const off = offIn(config, own(projects, here ?? ''));
  const allowed = own(at('mcp'), 'allowed') ?? at('allowMCPServers');
  const isAllowed = (name: string): boolean => !Array.isArray(allowed) || allowed.includes(name);
  return {
    scopes,
    notes,
    isOff: (name) => off.has(name) || !isAllowed(name),
    isVsCode: named === undefined && vsCode !== undefined,
  };
}

/** The names that a configuration of a client, or its entry for a project, switches off. */
export function offIn(...configs: readonly (JsonValue | undefined)[]): ReadonlySet<JsonValue> {
  const off = new Set<JsonValue>();
  for (const config of configs) {
    const lists = ['disabledMcpServers', 'disabledMcpjsonServers', 'excludeMCPServers'];
    for (const list of [
      ...lists.map((name) => own(config, name)),
      own(own(config, 'mcp'), 'excluded'),
    ])
      if (Array.isArray(list)) for (const name of list) off.add(name as JsonValue);
  }
  return off;
}

/** The project whose folder is the working folder, or the nearest one around it. */
function nearest(projects: JsonValue | undefined, folders: readonly string[]): string | undefined {
  const names = new Map(entriesOf(projects).map(([path]) => [path.replaceAll('\\', '/'), path]));
  for (const folder of folders)
    for (let at = folder; ; at = dirname(at)) {
      const found = names.get(sep === '/' ? at : at.replaceAll('\\', '/'));
      if (found !== undefined) return found;
      if (dirname(at) === at) break;
    }
  return undefined;
}

function entriesOf(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

/** A member of an object; undefined for anything else. */
export function own(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
