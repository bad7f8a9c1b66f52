/**
 * `hook install`: puts a guard where the agent's own tools may not write, and adds it to the
 * agent's settings.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { agentNames } from '../../surfaces/agents/agent.ts';
import type { Agent, HookGroups } from '../../surfaces/agents/hooks.ts';
import { messageOf } from '../../values/errors/index.ts';
import { makeFolder, openPrivateFolder } from '../../values/files/private-folder.ts';
import { placeOf } from '../../values/files/same-file.ts';
import { replaceFileSync } from '../../values/files/whole-file.ts';
import type { Command } from '../command.ts';
import { failure, usageFault } from '../fault.ts';
import { type RunningBundle, runBundle } from '../hook-code.ts';
import type * as Judge from '../hook-judge.ts';
import type { HookEnd } from '../hook-run.ts';
import type { HookTask } from '../hook-task.ts';
import { jsonText, printable, shownPath } from '../printable.ts';
import { userHome } from '../user-home.ts';
import { agentNamed, guardCommand, launcher, withHooks } from './agent-settings.ts';
import {
  compiledName,
  digestOf,
  guardFiles,
  guardFolder,
  mayNameModules,
  parsedName,
  recordName,
} from './guard-folder.ts';

export const hookInstall: Command = {
  name: 'hook install',
  usage: 'AGENT [--rules FILE] [--print]',
  summary: "put `hook` and its rules before a coding agent's tools",
  notes: [
    `AGENT is one of ${agentNames.join(', ')}.`,
    'It writes to ~/.config/host-tools/guard/AGENT (or below XDG_CONFIG_HOME).',
    "It adds the hook to the agent's settings in your home, such as ~/.claude/settings.json, which",
    'are those of all your projects. --print first shows all of it, and changes nothing.',
    'Run it again after you have edited the rules there.',
  ],
  options: ['rules', 'print'],
  wording: {
    rules: {
      value: 'FILE',
      file: 'read',
      help: 'the rules; default: those that are installed, or else the starter rules of the agent',
    },
  },
  operands: ['AGENT'],
  async run({ io, options, operands: [name = ''] }) {
    const agent = await agentNamed(name);
    const user = { env: io.env, home: userHome(io.env) };
    const folder = guardFolder(agent.name, user);
    const file = placeOf(agent.setup.file(user));
    const command = guardCommand(agent, user);
    const added = agent.setup.hooks(command);
    const plugin = agent.setup.plugin?.(command);
    const settings = settingsAt(file, added, agent, plugin);
    const rules = join(folder, guardFiles.rules);
    const source = rulesSource(agent, rules, options.rules, io.cwd);
    if (!options.print) {
      await installGuard(agent, folder, source);
      if (settings !== undefined) {
        makeFolder(dirname(file));
        const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600;
        replaceFileSync(file, settings, { mode: mode & 0o777 });
      }
    }
    const from =
      source.path === rules ? 'which were there' : `from ${shownPath(source.path, io.cwd)}`;
    const [wrote, put] = options.print
      ? ['It would write', 'It would add this to']
      : [
          'The hook and its rules are in',
          settings === undefined ? 'They are already in' : 'Added to',
        ];
    const text = [
      `1. ${wrote} ${folder}, with the rules ${from}.`,
      `   Edit ${rules}, and run this command again to accept the edit.`,
      '   Until then, the changed rules block every call.',
      `2. ${put} ${file}:`,
      ...(plugin ?? jsonText({ hooks: added }, 2)).split('\n').map((line) => `     ${line}`),
      `3. ${agent.setup.trust}`,
      `4. Check that the agent runs it: \`npx host-tools hook check ${agent.name}\`. ` +
        'Do that in each project, since its settings may turn hooks off.',
    ];
    return {
      exit: 0,
      text: text.map((line) => printable(line)).join('\n'),
      json: {
        ...{ agent: agent.name, installed: !options.print, folder, rules, command, file },
        settings: plugin === undefined ? { ...agent.setup.beside, hooks: added } : { plugin },
        trust: agent.setup.trust,
      },
    };
  },
};

/** The settings with the hooks; undefined if they have them already. @throws CliFault 1 */
function settingsAt(
  file: string,
  added: HookGroups,
  { name, setup }: Agent,
  plugin: string | undefined,
): string | undefined {
  try {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    if (plugin !== undefined) return text === plugin ? undefined : plugin;
    const program = join('host-tools', 'guard', name, guardFiles.launcher);
    return withHooks(text, added, program, setup.beside);
  } catch (error) {
    throw failure(
      `Cannot add the hook to ${file}: ${messageOf(error)}. Nothing was changed. Fix that file, ` +
        'or run this command with `--print` and add what it prints yourself.',
    );
  }
}

/** @throws CliFault */
function rulesSource(
  { name }: Agent,
  installed: string,
  given: string | undefined,
  cwd: string,
): RulesSource {
  const starter = (): string | undefined =>
    ownFile(...['..', '../..', '../../..'].map((up) => `${up}/rules/${name}.yaml`));
  const kept = existsSync(installed) ? installed : undefined;
  const path = given === undefined ? (kept ?? starter()) : resolve(cwd, given);
  if (path === undefined) throw usageFault(`Give the rules of ${name}: \`--rules FILE\`.`);
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch (error) {
    throw failure(`Cannot read the rules in ${path}: ${messageOf(error)}. Nothing was changed.`);
  }
}

// Writes a guard, once its hook has judged a call by the rules.

/** Where the rules of a guard come from. */
interface RulesSource {
  readonly path: string;
  readonly text: string;
}

/** The file of a published package that is there; undefined if none is. */
function ownFile(...paths: readonly string[]): string | undefined {
  return paths
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
}

/** Writes the guard. Nothing is changed if that fails. @throws CliFault 1 */
async function installGuard(agent: Agent, folder: string, rules: RulesSource): Promise<void> {
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
  { name, setup, sessionMember = 'session_id' }: Agent,
  draft: string,
  shown: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const rules = join(draft, guardFiles.rules);
  const [before, after] = Object.keys(setup.hooks(''));
  const judge = async (bundle: RunningBundle, more: Partial<HookTask>): Promise<void> => {
    const { judgeEvent } = bundle.exports as typeof Judge;
    for (const hook_event_name of [before, after]) {
      const event = JSON.stringify({
        ...{ [sessionMember]: 'install', cwd: draft, hook_event_name, tool_use_id: 'install' },
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
