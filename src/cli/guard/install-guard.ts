/** Writes a guard, once its hook has judged a call by the rules. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Agent } from '../../surfaces/agents/hooks.ts';
import { makeFolder, openPrivateFolder } from '../../values/files/private-folder.ts';
import { replaceFileSync } from '../../values/files/whole-file.ts';
import { failure } from '../fault.ts';
import { type RunningBundle, runBundle } from '../hook-code.ts';
import type * as Judge from '../hook-judge.ts';
import type { HookEnd } from '../hook-run.ts';
import type { HookTask } from '../hook-task.ts';
import { launcher } from './guard-command.ts';
import {
  compiledName,
  digestOf,
  guardFiles,
  mayNameModules,
  parsedName,
  recordName,
} from './guard-folder.ts';

/** Where the rules of a guard come from. */
export interface RulesSource {
  readonly path: string;
  readonly text: string;
}

/** The file of a published package that is there; undefined if none is. */
export function ownFile(...paths: readonly string[]): string | undefined {
  return paths
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
}

/** Writes the guard. Nothing is changed if that fails. @throws CliFault 1 */
export async function installGuard(
  agent: Agent,
  folder: string,
  rules: RulesSource,
): Promise<void> {
  if (mayNameModules(rules.text))
    throw failure(
      `${rules.path} names a module. The hook of a guard runs no code but its own, so its tools ` +
        'have no `module`. Nothing was changed.',
    );
  const files = new Map<string, Uint8Array>([
    [guardFiles.rules, Buffer.from(rules.text)],
    [guardFiles.launcher, Buffer.from(launcher())],
  ]);
  for (const name of [guardFiles.hook, guardFiles.judge]) files.set(name, bundled(name));
  openPrivateFolder(folder, { closed: true, danger: 'change the rules' });
  const draft = join(dirname(folder), `.${randomUUID()}`);
  makeFolder(draft);
  try {
    for (const [name, content] of files) replaceFileSync(join(draft, name), content);
    for (const [name, content] of await tried(agent, draft, rules.path)) files.set(name, content);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  const digests = Object.fromEntries(
    [...files].map(([name, content]) => [name, digestOf(content)]),
  );
  // Those of an earlier install may not be needed any more.
  for (const name of [compiledName, parsedName]) rmSync(join(folder, name), { force: true });
  for (const [name, content] of files)
    replaceFileSync(join(folder, name), content, {
      mode: name === guardFiles.launcher ? 0o700 : 0o600,
    });
  const record = JSON.stringify({ agent: agent.name, digests }, null, 2);
  replaceFileSync(join(folder, recordName), `${record}\n`);
}

function bundled(name: string): Uint8Array {
  const path = ownFile(`./hook/${name}`, `../../../dist/hook/${name}`);
  if (path === undefined)
    throw failure('The package is not whole: `dist/hook` is missing. Install host-tools again.');
  return readFileSync(path);
}

/**
 * Judges a call with the files of a draft, and its end.
 * @returns further files: what makes the hook start faster
 * @throws CliFault 1 if the rules do not load
 */
async function tried(
  { name, setup }: Agent,
  draft: string,
  shown: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const rules = join(draft, guardFiles.rules);
  const [before, after] = Object.keys(setup.hooks(''));
  const judge = async (bundle: RunningBundle, more: Partial<HookTask>): Promise<void> => {
    const { judgeEvent } = bundle.exports as typeof Judge;
    for (const hook_event_name of [before, after]) {
      const event = JSON.stringify({
        ...{ session_id: 'install', cwd: draft, hook_event_name, tool_use_id: 'install' },
        ...{ tool_name: setup.shell, tool_input: { command: 'git status' }, tool_response: '' },
      });
      const task = {
        argv: ['hook', name, '--host-tools', rules, '--audit', join(draft, 'try.jsonl')],
        env: { HOME: draft, XDG_STATE_HOME: join(draft, 'state') },
        cwd: draft,
        ...more,
      };
      const end = await new Promise<HookEnd>((resolve, reject) => {
        const block = (why: string): void => resolve({ exit: 2, stderr: why });
        judgeEvent(Readable.from([Buffer.from(event)]), task, block).then(resolve, reject);
      });
      if (end.exit === 0) continue;
      const why = end.stderr.trim().replace(/^host-tools: /, '');
      const stop = /[.?!]$/.test(why) ? '' : '.';
      throw failure(`${why.replaceAll(rules, shown)}${stop} Nothing was changed.`);
    }
  };
  const bundle = (): RunningBundle => runBundle(join(draft, guardFiles.judge), undefined);
  const first = bundle();
  await judge(first, {});
  const content = await (first.exports as typeof Judge).rulesOnly(rules);
  if (content === undefined) return new Map([[compiledName, first.compiled()]]);
  // Without what only reads files, the compiled code is smaller.
  const second = bundle();
  await judge(second, { known: { path: rules, content } });
  return new Map([
    [compiledName, second.compiled()],
    [parsedName, Buffer.from(JSON.stringify(content))],
  ]);
}
