/** Checks at once that the optional packages are installed that a command needs. */
import { resolve } from 'node:path';
import {
  installLine,
  isRunByNpx,
  type OptionalPackage,
  type Surroundings,
  shellWord,
} from '../values/packages/install-line.ts';
import { isInstalled } from '../values/packages/missing-package.ts';
import type { Command } from './command.ts';
import { failure } from './fault.ts';
import { secretArguments } from './gateway/common-entry.ts';
import type { Options } from './options.ts';
import { printable } from './printable.ts';

/**
 * Refuses a command before it does anything, if packages are missing.
 * @param argv the command line, for the line to copy
 * @param has whether a package is installed
 * @param around where this library is, and who started it
 * @throws CliFault 1
 */
export async function requirePackages(
  command: Command,
  options: Options,
  argv: readonly string[],
  cwd: string,
  has: (name: OptionalPackage) => boolean = isInstalled,
  around?: Surroundings,
): Promise<void> {
  const needed = [...(command.packages?.(options) ?? [])];
  for (const name of await neededByFiles(command, options, cwd, has))
    if (!needed.includes(name)) needed.unshift(name);
  const missing = needed.filter((name) => !has(name));
  if (missing.length === 0) return;
  const names = missing.map((name) => `\`${name}\``).join(' and ');
  const them = missing.length === 1 ? 'it' : 'them';
  const line = installLine(isRunByNpx(around) ? needed : missing, shownWords(argv), around);
  throw failure(
    `\`${command.name}\` needs ${names}, which npm does not install with host-tools. ` +
      (isRunByNpx(around)
        ? `Run the command with ${them}: \`${line}\`.`
        : `Install ${them} beside host-tools, and run the command again: \`${line}\`.`),
  );
}

/** The missing packages for what files name: MCP servers, programs of models, tokens. */
async function neededByFiles(
  command: Command,
  options: Options,
  cwd: string,
  has: (name: OptionalPackage) => boolean,
): Promise<ReadonlySet<OptionalPackage>> {
  const client = '@modelcontextprotocol/client';
  const needed = new Set<OptionalPackage>();
  const all = [client, 'run', 'jose'] as const;
  if (!command.options.includes('host-tools-module') || all.every(has)) return needed;
  const { readFile } = await import('../surfaces/config/read-file.ts');
  for (const { kind, name } of options.sources) {
    if (kind !== 'file') continue;
    // What is wrong with a file is reported when it is loaded.
    const file = await readFile(resolve(cwd, name)).catch(() => undefined);
    if (file === undefined) continue;
    if (file.mcpServers.length > 0 && !has(client)) needed.add(client);
    const hasTokens = file.authorization !== undefined && options.listen.http !== undefined;
    if (hasTokens && !has('jose')) needed.add('jose');
    const runsPrograms = file.code !== undefined && file.code.value !== false;
    if (runsPrograms && command.runsPrograms === true && !has('run')) needed.add('run');
  }
  return needed;
}

/** Longest command line that is repeated. */
const maxOfLine = 2_000;

/** The words of a command line, for a shell, without what is secret or could not be copied. */
function shownWords(argv: readonly string[]): string {
  const hidden = secretArguments(argv);
  const words = argv.map((text, at) =>
    hidden.includes(`args[${at}]`) || printable(text) !== text ? '…' : shellWord(text),
  );
  const line = words.join(' ');
  return line.length > maxOfLine ? '…' : line;
}
