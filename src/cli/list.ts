/** `list`: shows the tools that a model gets, and why the others are hidden. */

import type { EffectiveTools, HostTool, ToolAnnotations } from '../core.ts';
import type { ServerStatus } from '../surfaces/gateway/server-status.ts';
import { type Answer, type Command, worldOptions } from './command.ts';
import { columns, headline, printable } from './printable.ts';

const flagWords = {
  readOnly: 'read-only',
  destructive: 'destructive',
  idempotent: 'idempotent',
  openWorld: 'open-world',
  reversible: 'reversible',
} as const satisfies Record<keyof ToolAnnotations, string>;

export const list: Command = {
  name: 'list',
  usage: '',
  summary: 'show the tools that a model gets, and why the others are hidden',
  notes: [],
  options: worldOptions,
  operands: [],
  async run({ world }) {
    const loaded = await world();
    loaded.requireRules();
    return answer(loaded.session().effectiveTools(), loaded.gateway.statuses());
  },
};

function answer(effective: EffectiveTools, servers: readonly ServerStatus[]): Answer {
  const { tools, dropped, prerequisites, hash } = effective;
  // A column with the same value for every tool would be useless.
  const showsPlace = tools.some(({ executor }) => executor !== 'inline');
  const lines =
    tools.length === 0
      ? ['A model gets no tools.']
      : columns(
          tools.map((tool) => [
            printable(tool.name),
            ...(showsPlace ? [tool.executor] : []),
            flagsOf(tool, servers),
            headline(tool.title ?? tool.description),
          ]),
        );
  if (dropped.length > 0)
    lines.push(
      '',
      'Hidden:',
      ...columns(
        dropped.map(({ name, code }) => [printable(name), printable(code)]),
        '  ',
      ),
    );
  if (prerequisites.length > 0)
    lines.push(
      '',
      ...prerequisites.map(({ tool, fact, unlocks }) =>
        printable(`${tool} provides the fact ${fact}, which unlocks ${unlocks.join(', ')}.`),
      ),
    );
  if (servers.length > 0) lines.push('', 'Servers:', ...serverLines(servers));
  // Without their tools the list is not whole.
  const areReady = servers.every(({ state }) => state === 'ready');
  return {
    exit: areReady ? 0 : 1,
    text: lines.join('\n'),
    json: {
      tools: tools.map(jsonOf),
      dropped,
      prerequisites,
      hash,
      ...(servers.length === 0 ? {} : { servers }),
    },
  };
}

function serverLines(servers: readonly ServerStatus[]): readonly string[] {
  const lines = columns(servers.map(serverRow), '  ');
  for (const { name, drift, failed, warnings = [], appOnly = [] } of servers) {
    for (const tool of drift)
      lines.push(printable(`  ${name}: ${tool} differs from its pin, and is withheld.`));
    for (const one of failed)
      lines.push(printable(`  ${name}: ${one.name} cannot be taken: ${one.reason}`));
    for (const one of warnings) {
      const said = saidOf(one);
      if (said !== undefined) lines.push(printable(`  ${name}: ${one.name}: ${said}`));
    }
    for (const tool of appOnly)
      lines.push(
        printable(
          `  ${name}: ${tool} is hidden from models: it is only for the app of its server.`,
        ),
      );
  }
  for (const { name, saysReadOnly = [] } of servers)
    if (saysReadOnly.length > 0) lines.push(printable(readersOf(name, saysReadOnly)));
  return lines;
}

/** Undefined for what standard error has said already: globs of the entry without effect. */
function saidOf({ path, message }: NonNullable<ServerStatus['warnings']>[number]) {
  if (['/operations', '/labels', '/security'].includes(path)) return undefined;
  // About the parameters as a whole: it names one that is no part of the schema.
  return path === '/parameters' ? message : `only the server checks ${path}. ${message}`;
}

function serverRow({ name, state, error, tools }: ServerStatus): readonly string[] {
  const said = error ?? `${tools} ${tools === 1 ? 'tool' : 'tools'}`;
  return [printable(name), state, printable(said)];
}

/** Most tools that are named in a hint. */
const maxNamed = 20;

/**
 * A server chooses the names of its tools. So only plain names are shown, and none of them in the
 * example.
 */
function readersOf(server: string, tools: readonly string[]): string {
  const named = tools.filter((tool) => /^[\w.-]{1,64}$/.test(tool)).slice(0, maxNamed);
  const more = tools.length > named.length ? ` and ${tools.length - named.length} more` : '';
  return (
    `  ${server}: it says that these only read: ${named.join(', ')}${more}. They count as ` +
    'destructive until you label them: labels: { NAME: { annotations: { readOnly: true, ' +
    'destructive: false } } }'
  );
}

function flagsOf(tool: HostTool, servers: readonly ServerStatus[]): string {
  const { annotations, requiresApproval, deprecated } = tool;
  const flags: string[] = (Object.keys(flagWords) as (keyof ToolAnnotations)[])
    .filter((key) => annotations[key] === true)
    .map((key) =>
      key === 'destructive' && claimsToRead(tool, servers)
        ? 'destructive (no label; its server says: read-only)'
        : flagWords[key],
    );
  if (deprecated !== undefined) flags.push('deprecated');
  return [...(requiresApproval ? ['approval'] : []), ...flags].join(', ') || '-';
}

/** Whether only the server's word makes the tool one that reads. */
function claimsToRead({ name, source }: HostTool, servers: readonly ServerStatus[]): boolean {
  return servers.some(
    (server) =>
      source === `mcp:${server.name}` &&
      server.saysReadOnly?.some((own) => server.prefix + own === name) === true,
  );
}

function jsonOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
  requiresApproval,
  source,
  executor,
  fingerprint,
  version,
  deprecated,
  tags,
}: HostTool): object {
  // JSON leaves out members that are undefined.
  return {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    requiresApproval,
    source,
    executor,
    fingerprint,
    version,
    deprecated,
    tags,
  };
}
