/** `gateway import`: writes a gateway with the servers that an MCP client has. */
import { resolve } from 'node:path';
import { messageOf } from '../../errors/index.ts';
import { createFile } from '../../files/whole-file.ts';
import type { JsonValue } from '../../json/index.ts';
import type { CliIo } from '../cli-io.ts';
import type { Answer, Command } from '../command.ts';
import { failure, usageFault } from '../fault.ts';
import { npxArguments } from '../optional-packages.ts';
import { printable } from '../printable.ts';
import { readTextFile } from '../read-text.ts';
import { shownPath } from '../shown-path.ts';
import { clientFiles, existing } from './client-files.ts';
import { type Converted, convertServers } from './convert-servers.ts';
import { withoutComments } from './without-comments.ts';

const target = 'gateway.yaml';
/** The servers' own hints do not loosen a rule, so the file says what does. */
const hint = `\
# A server's word that a tool only reads does not count. Until you label such tools, the rule
# above asks about them too. In the server's entry:
#   labels:
#     "read_*": { annotations: { readOnly: true, destructive: false } }
`;
/** What a gateway needs in addition to this package. */
const optionalPackages = ['@modelcontextprotocol/client', '@modelcontextprotocol/server'] as const;
/** Claude Code keeps much other data in the same file. */
const maxBytes = 64 * 1_048_576;

export const gatewayImport: Command = {
  name: 'gateway import',
  usage: '[FILE]',
  summary: `write ${target} with the MCP servers of a client such as Cursor`,
  notes: [
    'FILE is the configuration of a client, in JSON with or without comments. Without FILE, the ' +
      'command looks for',
    'those of Claude Desktop, Cursor, VS Code and Claude Code. If there are several, it lists ' +
      'them and ends with exit code 2.',
    `${target} is written to this folder, and only its owner can read it. An existing file is ` +
      'not overwritten: exit code 1.',
    'It does not change any file of a client.',
  ],
  options: [],
  operands: ['[FILE]'],
  writes: target,
  async run({ io, operands: [given] }) {
    const path = given === undefined ? await onlyClient(io) : resolve(io.cwd, given);
    const shown = shownPath(path, io.cwd);
    const converted = convertServers(await readConfig(path, shown, io));
    if (converted === undefined || Object.keys(converted.servers).length === 0)
      throw failure(`\`${shown}\` names no MCP servers that can be taken over.`);
    const written = resolve(io.cwd, target);
    await write(written, converted);
    return answer(written, shown, converted);
  },
};

/** The only configuration that exists. @throws CliFault */
async function onlyClient(io: CliIo): Promise<string> {
  const places = clientFiles({ cwd: io.cwd, env: io.env, platform: process.platform });
  const found = await existing(places);
  const [first] = found;
  if (first === undefined)
    throw failure(
      'Found no configuration of an MCP client. Name it: `host-tools gateway import FILE`. ' +
        `Looked at ${places.map(({ path }) => `\`${path}\``).join(', ')}.`,
    );
  if (found.length > 1)
    throw usageFault(
      'Found several configurations. Name one of them: ' +
        `${found.map(({ client, path }) => `\`${path}\` (${client})`).join(', ')}.`,
    );
  return first.path;
}

async function readConfig(path: string, shown: string, io: CliIo): Promise<JsonValue> {
  const text = await readTextFile(path, io, maxBytes).catch((error: unknown) => {
    throw io.signal.aborted ? error : failure(`Cannot read \`${shown}\`: ${messageOf(error)}.`);
  });
  try {
    return JSON.parse(withoutComments(text.replace(/^\uFEFF/, ''))) as JsonValue;
  } catch (error) {
    throw failure(`Expected \`${shown}\` to be JSON: ${messageOf(error)}.`);
  }
}

async function write(path: string, { servers }: Converted): Promise<void> {
  const { stringify } = await import('yaml');
  const text = stringify({
    mcpServers: servers,
    rules: [{ id: 'ask-before-harm', effect: 'ask', annotations: { destructive: true } }],
  });
  const content = `# For: npx host-tools serve ${target}\n${text}${hint}`;
  const isNew = await createFile(path, content).catch((error: unknown) => {
    throw failure(`Cannot write \`${path}\`: ${messageOf(error)}.`);
  });
  if (!isNew)
    throw failure(
      `\`${path}\` exists already, and nothing was written. Rename it, or use another folder.`,
    );
}

function answer(path: string, from: string, converted: Converted): Answer {
  const { servers, variables, warnings, isVsCode } = converted;
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
    text: [...lines.map((line) => printable(line)), JSON.stringify(entry, undefined, 2)].join('\n'),
    json: { path, servers: names, variables, warnings, entry },
  };
}
