/**
 * `mcp pin`: compares the tools of an MCP server with those that were accepted before. A change is
 * accepted only by a person or by name.
 */

import { isMisuseError } from '../core.ts';
import type { ImportedMcpTools, McpConnection } from '../surfaces/mcp/index.ts';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import type { Command } from './command.ts';
import { failure, untilInterrupted, usageFault } from './fault.ts';
import {
  type Change,
  changeLines,
  changeOf,
  type PinnedTool,
  pinnedOf,
  readPinFile,
  writePinFile,
} from './mcp-pin-file.ts';
import type { Options } from './options.ts';
import { printable } from './printable.ts';
import { discardTyped, readLine } from './read-text.ts';
import type { Screen } from './screen.ts';

export const mcpPin: Command = {
  name: 'mcp pin',
  usage: 'CONNECTION... --pins FILE [--accept NAME]... [--yes]',
  summary: "compare an MCP server's tools with those that were accepted, and accept changes",
  notes: [
    'CONNECTION is an http(s) address. Or it is a command with its arguments after `--`: `mcp ' +
      'pin --pins pins.json -- npx -y some-server`.',
    'On a terminal, you are shown each change and asked about it. `--yes` accepts the tools that ' +
      '`--accept` names without asking, and nothing else.',
    'The exit code is 0 if everything is accepted, and 1 if something is not.',
  ],
  options: ['pins', 'accept', 'yes', 'prefix', 'env', 'header'],
  operands: ['CONNECTION'],
  packages: () => ['@modelcontextprotocol/client'],
  many: true,
  async run({ io, screen, options, operands }) {
    const { pins: path, accept, yes } = options.mcp;
    if (path === undefined) throw usageFault('`mcp pin` needs `--pins FILE`.');
    if (yes && accept.length === 0)
      throw usageFault('`--yes` accepts nothing by itself. Name each tool with `--accept NAME`.');
    const connection = connectionOf(operands, options, io);
    const before = await readPinFile(path, io);
    const imported = await open(connection, before, options, io);
    try {
      return await review(imported, before, path, { io, screen, options });
    } finally {
      await imported.close();
    }
  },
};

function connectionOf(
  [first = '', ...rest]: readonly string[],
  { mcp: { env, header } }: Options,
  io: CliIo,
): McpConnection {
  const variableOf = (variable: string): string => {
    const value = Object.hasOwn(io.env, variable) ? io.env[variable] : undefined;
    if (value === undefined)
      throw usageFault(`The environment variable \`${variable}\` is not set.`);
    return value;
  };
  if (/^https?:\/\//i.test(first)) {
    if (rest.length > 0) throw usageFault(`Nothing may follow an address, but got \`${rest[0]}\`.`);
    if (env.length > 0)
      throw usageFault(
        '`--env` is for a server that is started. For a server at an address, give `--header ' +
          'NAME=VARIABLE`.',
      );
    const headers = header.map((one): [string, string] => {
      const [, name, variable] = /^([^=\s]+)=(.+)$/.exec(one) ?? [];
      if (name === undefined || variable === undefined)
        throw usageFault(`Expected \`--header NAME=VARIABLE\`, got \`${one}\`.`);
      return [name, variableOf(variable)];
    });
    return { url: first, headers: Object.fromEntries(headers) };
  }
  if (header.length > 0)
    throw usageFault(
      '`--header` is for a server at an address. For a server that is started, give `--env NAME`.',
    );
  return {
    command: first,
    args: rest,
    env: Object.fromEntries(env.map((name) => [name, variableOf(name)])),
    cwd: io.cwd,
  };
}

async function open(
  connection: McpConnection,
  before: ReadonlyMap<string, PinnedTool>,
  { mcp: { prefix } }: Options,
  { signal }: CliIo,
): Promise<ImportedMcpTools> {
  const { importMcpTools } = await import('../surfaces/mcp/index.ts');
  const pins = Object.fromEntries(
    [...before].map(([name, { fingerprint }]) => [name, fingerprint]),
  );
  const opening = importMcpTools(connection, { pins, ...(prefix === undefined ? {} : { prefix }) });
  try {
    return await untilInterrupted(opening, signal);
  } catch (error) {
    // If the command was interrupted, a connection that opens late is closed again.
    opening.then((late) => late.close()).catch(() => {});
    throw isMisuseError(error) && error.code !== 'missing_dependency'
      ? error
      : failure(printable(messageOf(error)));
  }
}

interface Surroundings {
  readonly io: CliIo;
  readonly screen: Screen;
  readonly options: Options;
}

async function review(
  imported: ImportedMcpTools,
  before: ReadonlyMap<string, PinnedTool>,
  path: string,
  { io, screen, options }: Surroundings,
) {
  const foundOf = (name: string): PinnedTool | undefined => {
    const found = imported.found(name);
    return found === undefined ? undefined : pinnedOf(found);
  };
  // The present definitions are compared. Later changes of the server are compared in the next run.
  const changes = imported.drift.map(({ name }) => ({
    change: changeOf(name, before.get(name), foundOf(name)),
    found: foundOf(name),
  }));
  const names = new Set(changes.map(({ change }) => change.name));
  const unknown = options.mcp.accept.find((name) => !names.has(name) && !before.has(name));
  if (unknown !== undefined)
    throw usageFault(`The server has no tool \`${unknown}\`, so it cannot be accepted.`);
  const pins = new Map(before);
  const accepted: string[] = [];
  const left: Change[] = [];
  for (const { change, found } of changes) {
    const named = options.mcp.accept.includes(change.name);
    const asks = options.mcp.accept.length === 0 || named;
    if (!((named && options.mcp.yes) || (asks && (await agrees(change, io, screen))))) {
      left.push(change);
      continue;
    }
    accepted.push(change.name);
    if (found === undefined) pins.delete(change.name);
    else pins.set(change.name, found);
  }
  if (accepted.length > 0) await writePinFile(path, pins, io);
  const { source, failed, warnings, appOnly } = imported;
  return {
    exit: left.length === 0 ? (0 as const) : (1 as const),
    text: textOf({ source, accepted, left, failed, warnings, appOnly, pinned: pins.size }),
    json: {
      source,
      accepted,
      drift: left,
      failed,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(appOnly.length === 0 ? {} : { appOnly }),
      pinned: [...pins.keys()].sort(),
    },
  };
}

/** Shows a change and asks about it. Without a terminal, the answer is no. */
async function agrees(
  change: Change,
  { stdin, stderr, signal }: CliIo,
  screen: Screen,
): Promise<boolean> {
  if (stdin.isTTY !== true || stderr.isTTY !== true || signal.aborted) return false;
  await discardTyped(stdin, signal);
  if (signal.aborted) return false;
  const release = screen.ask(
    [
      ...changeLines(change),
      'Accept ' +
        `\`${printable(change.name)}\`${change.kind === 'gone' ? ' as gone' : ' as it is now'}? ` +
        '[y/N] ',
    ].join('\n'),
  );
  const line = await readLine(stdin, signal);
  release(line !== undefined);
  return line !== undefined && /^\s*y(?:es)?\s*$/i.test(line);
}

interface Outcome {
  readonly source: string;
  readonly accepted: readonly string[];
  readonly left: readonly Change[];
  readonly failed: ImportedMcpTools['failed'];
  readonly warnings: ImportedMcpTools['warnings'];
  readonly appOnly: readonly string[];
  readonly pinned: number;
}

function textOf({ source, accepted, left, failed, warnings, appOnly, pinned }: Outcome): string {
  const lines: string[] = [];
  for (const change of left) lines.push(...changeLines(change));
  for (const { name, reason } of failed)
    lines.push(`${printable(name)} cannot be imported: ${printable(reason)}`);
  for (const { name, path, message } of warnings)
    lines.push(
      `${printable(name)}: only the server checks ${printable(path)}. ${printable(message)}`,
    );
  for (const name of appOnly)
    lines.push(`${printable(name)} is hidden from models: it is only for the app of its server.`);
  if (accepted.length > 0) lines.push(`Accepted: ${accepted.map(printable).join(', ')}.`);
  lines.push(
    left.length === 0
      ? `${printable(source)}: ${pinned} ${pinned === 1 ? 'tool is' : 'tools are'} pinned, and ` +
          'nothing else is offered.'
      : `${printable(source)}: ${left.length} ` +
          `${left.length === 1 ? 'change is' : 'changes are'} not accepted.`,
  );
  return lines.join('\n');
}
