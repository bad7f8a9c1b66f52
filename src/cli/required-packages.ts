/** Checks at once that the optional packages are installed that a command needs. */
import { resolve } from 'node:path';
import { isInstalled } from '../packages/missing-package.ts';
import type { Command } from './command.ts';
import { failure } from './fault.ts';
import { secretInAddress } from './gateway/plain-secrets.ts';
import { npxArguments, type OptionalPackage, versioned } from './optional-packages.ts';
import type { Options } from './options.ts';

/**
 * Refuses a command before it does anything, if packages are missing.
 * @param argv the command line, for the line to copy
 * @param has whether a package is installed
 * @throws CliFault 1
 */
export async function requirePackages(
  command: Command,
  options: Options,
  argv: readonly string[],
  cwd: string,
  has: (name: OptionalPackage) => boolean = isInstalled,
): Promise<void> {
  const needed = [...(command.packages?.(options) ?? [])];
  const client = '@modelcontextprotocol/client';
  if (!needed.includes(client) && !has(client) && (await startsServers(command, options, cwd)))
    needed.unshift(client);
  const missing = needed.filter((name) => !has(name));
  if (missing.length === 0) return;
  const names = missing.map((name) => `\`${name}\``).join(' and ');
  const line = ['npx', ...npxArguments(needed), ...argv.map(word)].join(' ');
  const them = missing.length === 1 ? 'it' : 'them';
  throw failure(
    `\`${command.name}\` needs ${names}, which npm does not install with host-tools. Run the ` +
      `command with ${them}: \`${line}\`. ` +
      `Or install ${them} with host-tools, and run it again: ` +
      `\`npm install ${missing.map(versioned).join(' ')} host-tools\`.`,
  );
}

/** Whether a file of the command line names MCP servers, which the command starts. */
async function startsServers(command: Command, options: Options, cwd: string): Promise<boolean> {
  if (!command.options.includes('host-tools-module')) return false;
  const { readFile } = await import('../surfaces/config/read-file.ts');
  for (const { kind, name } of options.sources) {
    if (kind !== 'file') continue;
    // What is wrong with a file is reported when it is loaded.
    const file = await readFile(resolve(cwd, name)).catch(() => undefined);
    if (file !== undefined && file.mcpServers.length > 0) return true;
  }
  return false;
}

/** A word of a command line, quoted if a shell would read it in another way. */
function word(text: string): string {
  if (secretInAddress(text) !== undefined) return '…';
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
