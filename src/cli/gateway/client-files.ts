/** Where MCP clients keep their configured servers. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';

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

/** All places that are checked, those of the project first. */
export function clientFiles({ cwd, env, platform }: Surroundings): readonly ClientFile[] {
  const home = platform === 'win32' ? env.USERPROFILE : env.HOME;
  const project: ClientFile[] = [
    { client: 'Cursor', path: join(cwd, '.cursor/mcp.json') },
    { client: 'VS Code', path: join(cwd, '.vscode/mcp.json') },
    { client: 'Claude Code', path: join(cwd, '.mcp.json') },
  ];
  if (home === undefined || home === '') return project;
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
  ];
}

/** The files that exist, each once. */
export async function existing(files: readonly ClientFile[]): Promise<readonly ClientFile[]> {
  const found = new Map<string, ClientFile>();
  for (const file of files) {
    const exists = await access(file.path).then(
      () => true,
      () => false,
    );
    if (exists) found.set(file.path, file);
  }
  return [...found.values()];
}
