/** `list`: shows the tools that a model gets, and why the others are hidden. */
import type { ServerStatus } from '../gateway/gateway-server.ts';
import type { EffectiveTools, HostTool, ToolAnnotations } from '../index.ts';
import { type Answer, type Command, worldOptions } from './command.ts';
import { columns, headline, printable } from './printable.ts';

const flagWords = {
  readOnly: 'read-only',
  destructive: 'destructive',
  idempotent: 'idempotent',
  openWorld: 'open-world',
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
  // A column that says the same of every tool would say nothing.
  const showsPlace = tools.some(({ executor }) => executor !== 'inline');
  const lines =
    tools.length === 0
      ? ['A model gets no tools.']
      : columns(
          tools.map((tool) => [
            printable(tool.name),
            ...(showsPlace ? [tool.executor] : []),
            flagsOf(tool),
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
  if (servers.length > 0) lines.push('', 'Servers:', ...columns(servers.map(serverRow), '  '));
  for (const { name, drift, failed } of servers) {
    for (const tool of drift)
      lines.push(printable(`  ${name}: ${tool} differs from its pin, and is withheld.`));
    for (const one of failed)
      lines.push(printable(`  ${name}: ${one.name} cannot be taken: ${one.reason}`));
  }
  return {
    exit: 0,
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

function serverRow({ name, state, error, tools }: ServerStatus): readonly string[] {
  const said = error ?? `${tools} ${tools === 1 ? 'tool' : 'tools'}`;
  return [printable(name), state, printable(said)];
}

function flagsOf({ annotations, requiresApproval, deprecated }: HostTool): string {
  const flags: string[] = (Object.keys(flagWords) as (keyof ToolAnnotations)[])
    .filter((key) => annotations[key] === true)
    .map((key) => flagWords[key]);
  if (deprecated !== undefined) flags.push('deprecated');
  return [...(requiresApproval ? ['approval'] : []), ...flags].join(', ') || '-';
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
