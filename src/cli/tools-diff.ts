/** `tools diff`: says whether the tools of one place can take the place of another's. */
import { resolve } from 'node:path';
import { registryStateOf } from '../core/registry/state-of.ts';
import { type AnyTool, isMisuseError } from '../core.ts';
import { compareDefinitions, type DefinitionChange, HostToolRegistry } from '../index.ts';
import { outputsOf } from '../parts/offload/outputs-of.ts';
import type { CliIo } from './cli-io.ts';
import type { Command } from './command.ts';
import { failure, untilInterrupted } from './fault.ts';
import { printable } from './printable.ts';
import { kindOfFile } from './sources.ts';

/** What became of one tool. */
interface ToolDiff {
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly compatible: boolean;
  readonly changes: readonly DefinitionChange[];
}

export const toolsDiff: Command = {
  name: 'tools diff',
  usage: 'OLD NEW',
  summary: 'say whether the tools of NEW can replace those of OLD',
  notes: [
    'OLD and NEW are modules, directories with a package.json, or YAML or JSON files. Modules ' +
      'are imported and run.',
    'If a tool has several versions, the newest one that is not a pre-release is compared.',
    'The exit code is 1 if a tool is gone or a change is not compatible.',
  ],
  options: [],
  operands: ['OLD', 'NEW'],
  async run({ io, operands: [old = '', now = ''] }) {
    const [before, after] = [await toolsOf(old, io), await toolsOf(now, io)];
    const tools = diff(before, after);
    const compatible = tools.every((tool) => tool.compatible);
    return { exit: compatible ? 0 : 1, text: textOf(tools), json: { compatible, tools } };
  },
};

/** The tools of a file or a module, by name. */
async function toolsOf(path: string, io: CliIo): Promise<ReadonlyMap<string, AnyTool>> {
  const registry = new HostToolRegistry<never>();
  outputsOf(registryStateOf(registry)).onDemand = {};
  const absolute = resolve(io.cwd, path);
  const { loadHostTools, loadHostToolsModule } = await import('../surfaces/config/index.ts');
  const { checksOnly } = await import('../surfaces/config/file-host.ts');
  const { setFileHost } = await import('../surfaces/config/loaded-files.ts');
  setFileHost(registry, checksOnly);
  const load = kindOfFile(absolute) === 'file' ? loadHostTools : loadHostToolsModule;
  const report = await untilInterrupted(load(absolute, registry), io.signal).catch(
    (error: unknown) => {
      // The message names the file.
      throw isMisuseError(error) ? failure(error.message) : error;
    },
  );
  const [first] = report.failed;
  if (first !== undefined)
    throw failure(`Cannot load \`${path}\`: ${first.name ?? first.section}: ${first.reason}`);
  const { own: ownTools } = registryStateOf(registry).ports.tools;
  return new Map(
    registry
      .listNames()
      .map((name) => [name, registry.get(name) as AnyTool] as const)
      .filter(([, tool]) => !ownTools.has(tool)),
  );
}

function diff(
  before: ReadonlyMap<string, AnyTool>,
  after: ReadonlyMap<string, AnyTool>,
): readonly ToolDiff[] {
  const found: ToolDiff[] = [];
  for (const [name, old] of before) {
    const now = after.get(name);
    const versions = { from: old.version ?? null, to: now?.version ?? null };
    if (now === undefined) {
      const change: DefinitionChange = {
        path: 'name',
        kind: 'changed',
        compatible: false,
        message: 'is gone',
      };
      found.push({ name, ...versions, compatible: false, changes: [change] });
    } else found.push({ name, ...versions, ...compareDefinitions(old, now) });
  }
  for (const [name, { version }] of after)
    if (!before.has(name)) {
      const change: DefinitionChange = {
        path: 'name',
        kind: 'changed',
        compatible: true,
        message: 'is new',
      };
      found.push({ name, from: null, to: version ?? null, compatible: true, changes: [change] });
    }
  return found;
}

function textOf(tools: readonly ToolDiff[]): string {
  const lines = tools.flatMap(({ name, from, to, compatible, changes }) => {
    if (changes.length === 0) return [];
    const versions = from === to ? '' : ` ${from ?? 'none'} → ${to ?? 'none'}`;
    return [
      printable(`${name}${versions}: ${compatible ? 'compatible' : 'not compatible'}`),
      ...changes.map((one) =>
        printable(`  ${one.compatible ? '+' : '!'} ${one.path} ${one.message}`),
      ),
    ];
  });
  return lines.length === 0 ? 'The tools are the same.' : lines.join('\n');
}
