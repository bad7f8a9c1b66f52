/** `gateway import`: writes a gateway with the servers that an MCP client has. */
import { resolve } from 'node:path';
import { registryStateOf } from '../../core/registry/state-of.ts';
import { HostToolRegistry } from '../../index.ts';
import { reviewOf } from '../../parts/rule-review/review-of.ts';
import type { ServerStatus } from '../../surfaces/gateway/server-status.ts';
import { messageOf } from '../../values/errors/index.ts';
import { createFile, replaceFile } from '../../values/files/whole-file.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { type OptionalPackage, versioned } from '../../values/packages/install-line.ts';
import type { CliIo } from '../cli-io.ts';
import type { Answer, Command } from '../command.ts';
import { failure, untilInterrupted, usageFault } from '../fault.ts';
import { openGateway } from '../open-gateway.ts';
import { jsonText, printable, shownPath } from '../printable.ts';
import type { Screen } from '../screen.ts';
import { clientFiles, existing } from './client-files.ts';
import { type Found, foundServers } from './found-servers.ts';

// Asks the servers of a new gateway once which of their tools only read.

/** `npx` may have to download a server first. One that takes longer gets no labels. */
const startedWithinMs = 30_000;

/** Starts the servers of a file, and ends them. @throws CliFault if it is interrupted */
async function askServers(
  path: string,
  io: CliIo,
  screen: Screen,
): Promise<readonly ServerStatus[]> {
  const registry = new HostToolRegistry();
  // Only the tools are read here.
  reviewOf(registryStateOf(registry)).isOff = true;
  const options = { starts: true, records: false, keeps: false, cwd: io.cwd, pin: false };
  const gateway = await openGateway(registry, options, io, screen);
  try {
    const { loadHostTools } = await import('../../surfaces/config/index.ts');
    await loadHostTools(path, registry);
    await untilInterrupted(gateway.settled(startedWithinMs), io.signal);
    return gateway.statuses();
  } finally {
    await registry.close();
    await gateway.close();
  }
}

const target = 'gateway.yaml';
const review = `\
# The labels say which tools only read, by the word of their servers. Review them: a tool without
# such a label needs an approval.
`;
/** What the file says about itself, after its rules. */
const remarks = `\
# If several clients use this file, each has a log of its own: audit.jsonl, audit-2.jsonl, …
# Many clients cannot show a question. To keep their calls for an answer on a page, start one
# gateway with --http:
# approvals: { dir: approvals, page: true }
`;
/** What a gateway needs in addition to this package. */
const optionalPackages = ['@modelcontextprotocol/client', '@modelcontextprotocol/server'] as const;
const header = `\
# For: npx ${npxArguments(optionalPackages).join(' ')} serve ${target}
`;

export const gatewayImport: Command = {
  name: 'gateway import',
  usage: '[FILE]... [--no-calls]',
  summary: `write ${target} with the MCP servers of a client such as Claude Code or Cursor`,
  notes: [
    'FILE is the configuration of a client: JSON, also with comments, or the TOML of Codex.',
    'Without FILE, the command looks for those of Claude Code, Codex, Gemini CLI, Claude ' +
      'Desktop, Cursor and VS Code.',
    'It takes all files of one client. If several clients have servers, it lists their files and ' +
      'ends with exit code 2.',
    'It starts each server once, and labels the tools that only read by their own word. With ' +
      '--no-calls, it starts none.',
    `It writes ${target} to this folder, and only its owner can read it. An existing file is not ` +
      'overwritten: exit code 1.',
    'It does not change any file of a client.',
  ],
  options: ['no-calls'],
  wording: { 'no-calls': { help: 'do not start the servers, and write no labels' } },
  operands: ['[FILE]'],
  many: true,
  writes: target,
  packages: ({ calls }) => (calls ? ['@modelcontextprotocol/client'] : []),
  async run({ io, screen, options, operands }) {
    const { found, from } =
      operands.length === 0 ? await onlyClient(io) : await named(operands, io);
    if (Object.keys(found.servers).length === 0) {
      for (const warning of found.warnings) screen.note(`warning: ${warning}`);
      throw failure(`${from} names no MCP servers that can be taken over.`);
    }
    const path = resolve(io.cwd, target);
    await create(path, await contentOf(found, new Map()));
    const asked = options.calls ? await ask(path, io, screen) : [];
    const labels = labelsFrom(asked);
    if (labels.size > 0) await replaceFile(path, await contentOf(found, labels));
    return answer(path, from, found, asked);
  },
};

async function named(
  operands: readonly string[],
  io: CliIo,
): Promise<{ readonly found: Found; readonly from: string }> {
  const paths = operands.map((one) => resolve(io.cwd, one));
  const from = paths.map((path) => `\`${shownPath(path, io.cwd)}\``).join(', ');
  return { found: await foundServers(paths, io), from };
}

/** The files of the only client that has servers. @throws CliFault */
async function onlyClient(io: CliIo): Promise<{ readonly found: Found; readonly from: string }> {
  const places = await clientFiles({ cwd: io.cwd, env: io.env, platform: process.platform });
  const files = await existing(places);
  const withServers: (typeof files)[number][] = [];
  for (const file of files) {
    // A file that cannot be read is named as well, so that its error is shown once it is chosen.
    const found = await foundServers([file.path], io).catch(() => undefined);
    if (found === undefined || Object.keys(found.servers).length > 0) withServers.push(file);
  }
  if (withServers.length === 0)
    throw failure(
      'Found no configuration of an MCP client. Name one that has servers: `host-tools gateway ' +
        `import FILE\`. Looked at ${places.map(({ path }) => `\`${path}\``).join(', ')}.`,
    );
  if (new Set(withServers.map(({ client }) => client)).size > 1)
    throw usageFault(
      'Found the configurations of several clients. Name the files to import: ' +
        `${withServers.map(({ client, path }) => `\`${path}\` (${client})`).join(', ')}.`,
    );
  return named(
    withServers.map(({ path }) => path),
    io,
  );
}

/** The states of the servers, by which their tools are labelled. */
async function ask(path: string, io: CliIo, screen: Screen): Promise<readonly ServerStatus[]> {
  screen.note('Starting the servers once, to see which of their tools only read.');
  return askServers(path, io, screen);
}

/** The server's own names of tools that only read, by server. */
function labelsFrom(statuses: readonly ServerStatus[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    statuses.flatMap(({ name, reads = [] }) => {
      // In a label, these would stand for other names as well.
      const plain = reads.filter((tool) => !/[*?]/.test(tool));
      return plain.length === 0 ? [] : [[name, plain] as const];
    }),
  );
}

async function contentOf(
  { servers, denied }: Found,
  reads: ReadonlyMap<string, readonly string[]>,
): Promise<string> {
  const { Document } = await import('yaml');
  const labelled = Object.entries(servers).map(([name, server]): [string, JsonObject] => {
    const tools = reads.get(name) ?? [];
    if (tools.length === 0) return [name, server];
    const label = { annotations: { readOnly: true, destructive: false } };
    const own = (server.labels ?? {}) as JsonObject;
    const labels = { ...own, ...Object.fromEntries(tools.map((tool) => [tool, label])) };
    return [name, { ...server, labels }];
  });
  const document = new Document(
    {
      mcpServers: Object.fromEntries(labelled),
      rules: [
        ...(denied.length === 0
          ? []
          : [
              {
                id: 'not-in-the-client',
                effect: 'deny',
                tools: denied,
              },
            ]),
        { id: 'ask-before-changes', effect: 'ask', annotations: { readOnly: false } },
      ],
      audit: { path: 'audit.jsonl' },
    },
    { aliasDuplicateObjects: false },
  );
  // One line for each tool, because somebody reads them all.
  for (const [name, { labels = {} }] of labelled)
    for (const tool of Object.keys(labels as JsonObject))
      (document.getIn(['mcpServers', name, 'labels', tool]) as { flow?: boolean }).flow = true;
  const text = document.toString({ lineWidth: 0 });
  return `${header}${reads.size > 0 ? review : ''}${text}${remarks}`;
}

async function create(path: string, content: string): Promise<void> {
  const isNew = await createFile(path, content).catch((error: unknown) => {
    throw failure(`Cannot write \`${path}\`: ${messageOf(error)}.`);
  });
  if (!isNew)
    throw failure(
      `\`${path}\` exists already, and nothing was written. Rename it, or use another folder.`,
    );
}

/** The entry for Codex. A JSON string is one of TOML as well. */
function tomlOf({
  command,
  args,
}: {
  readonly command: string;
  readonly args: readonly string[];
}): string {
  return [
    '[mcp_servers.gateway]',
    `command = ${jsonText(command)}`,
    `args = [${args.map((one) => jsonText(one)).join(', ')}]`,
    '# The first start may have to download packages.',
    'startup_timeout_sec = 60',
  ].join('\n');
}

function answer(path: string, from: string, found: Found, asked: readonly ServerStatus[]): Answer {
  const { servers, variables, isVsCode, isCodex } = found;
  const unasked = asked
    .filter(({ state }) => state !== 'ready')
    .map(
      ({ name }) =>
        `\`${name}\`: it did not start, so nothing says which of its tools only read. Each call ` +
        'to it needs an approval. Label its tools by hand.',
    );
  const warnings = [...found.warnings, ...unasked];
  // A client may start the gateway in any folder. There, `npx` loads optional packages only if they
  // are named.
  const server = { command: 'npx', args: [...npxArguments(optionalPackages), 'serve', path] };
  const entry = isVsCode
    ? { servers: { gateway: { type: 'stdio', ...server } } }
    : { mcpServers: { gateway: server } };
  const names = Object.keys(servers);
  const lines = [
    `Wrote ${path} with ${names.length} ${names.length === 1 ? 'server' : 'servers'} of ${from}: ` +
      `${names.join(', ')}.`,
    ...warnings.map((warning) => `warning: ${warning}`),
    ...(variables.length === 0
      ? []
      : [`Set these variables where the gateway starts: ${variables.join(', ')}.`]),
    'Put this one server into the client in place of the others:',
  ];
  return {
    exit: 0,
    text: [
      ...lines.map((line) => printable(line)),
      isCodex ? tomlOf(server) : jsonText(entry, 2),
    ].join('\n'),
    json: { path, servers: names, variables, warnings, entry },
  };
}

/**
 * The arguments of `npx` for a command of this library with optional packages. `npx` has a folder
 * of its own, in which it finds a package only if it is named.
 */
function npxArguments(packages: readonly OptionalPackage[]): readonly string[] {
  return [
    '-y',
    ...['host-tools', ...packages.map(versioned)].flatMap((one) => ['-p', one]),
    'host-tools',
  ];
}
