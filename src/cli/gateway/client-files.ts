/** Where MCP clients keep their configured servers. */
import { access, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

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
