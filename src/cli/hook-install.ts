/**
 * `hook install`: puts a guard where the agent's own tools may not write, and adds it to the agent's
 * settings.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../errors/index.ts';
import { makeFolder, openPrivateFolder } from '../files/private-folder.ts';
import { placeOf } from '../files/same-file.ts';
import { replaceFileSync } from '../files/whole-file.ts';
import { agentNames } from '../surfaces/agents/agent-names.ts';
import type * as Hooks from '../surfaces/agents/hooks.ts';
import type { Agent } from '../surfaces/agents/hooks.ts';
import type { Command } from './command.ts';
import { failure, usageFault } from './fault.ts';
import { type RunningBundle, runBundle } from './hook-code.ts';
import type * as Judge from './hook-judge.ts';
import type { HookEnd } from './hook-run.ts';
import type { HookTask } from './hook-task.ts';
import { meant } from './options.ts';
import { shownPath } from './shown-path.ts';
import { userHome } from './user-home.ts';

/** The folder of this module: `src/cli`, or `dist`. */
const own = fileURLToPath(new URL('.', import.meta.url));

export const hookInstall: Command = {
  name: 'hook install',
  usage: 'AGENT [--rules FILE] [--print]',
  summary: "put `hook` and its rules before a coding agent's tools",
  notes: [
    `AGENT is one of ${agentNames.join(', ')}.`,
    'It writes to ~/.config/host-tools/guard/AGENT (or below XDG_CONFIG_HOME), and adds the hook to',
    "the agent's settings in your home. Run it again after you have edited the rules there.",
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
    // Loaded here, because no other command needs the definitions of the agents' tools.
    const hooks = await import('../surfaces/agents/hooks.ts');
    const agent = agentNamed(name, hooks);
    const at = { env: io.env, home: userHome(io.env) };
    const folder = hooks.guardFolder(agent.name, at);
    const file = placeOf(agent.setup.file(at));
    const command = guardCommand(agent, at, hooks);
    const added = agent.setup.hooks(command);
    const settings = settingsAt(file, added, agent, hooks);
    const rules = join(folder, hooks.guardFiles.rules);
    const source = rulesSource(agent, rules, options.rules, io.cwd);
    if (!options.print) {
      await installGuard(agent, folder, source, hooks);
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
      ...JSON.stringify({ hooks: added }, null, 2)
        .split('\n')
        .map((line) => `     ${line}`),
      `3. ${agent.setup.trust}`,
      `4. Check that the agent runs it: \`host-tools hook check ${agent.name}\`.`,
    ];
    return {
      exit: 0,
      text: text.join('\n'),
      json: {
        ...{ agent: agent.name, installed: !options.print, folder, rules, command, file },
        settings: { hooks: added },
        trust: agent.setup.trust,
      },
    };
  },
};

/** @throws CliFault 2 */
export function agentNamed(name: string, { agents }: typeof Hooks): Agent {
  const agent = agents.get(name);
  if (agent !== undefined) return agent;
  throw usageFault(
    `Unknown agent \`${name}\`. ${meant(name, agentNames)}Agents are ${agentNames.join(', ')}.`,
  );
}

/**
 * The line by which an agent starts the hook of a guard. It does not depend on the rules, so that
 * Codex need not trust it again after each edit. The path below the home is written with `$HOME`: a
 * file of settings may be shared between computers.
 */
export function guardCommand(
  { name }: Agent,
  at: Hooks.GuardHome,
  { guardFolder, guardFiles }: typeof Hooks,
): string {
  const program = join(guardFolder(name, at), guardFiles.launcher);
  const path = program.startsWith(join(at.home, '.config/'))
    ? `"$HOME${quotable(program.slice(at.home.length))}"`
    : `"${quotable(program)}"`;
  // Agents take every exit code but 2 for "go on".
  return `${path} || exit 2`;
}

/** What starts the hook. With Node named here, the agent's settings outlive an update of Node. */
function launcher({ hook }: typeof Hooks.guardFiles): string {
  const missing = 'host-tools: the guard has no hook.cjs: run `host-tools hook install` again.';
  return [
    '#!/bin/sh',
    '# Installed by `host-tools hook install`.',
    `[ -f "\${0%/*}/${hook}" ] || { echo '${missing} The call is blocked.' >&2; exit 2; }`,
    `exec "${quotable(process.execPath)}" "\${0%/*}/${hook}"`,
    '',
  ].join('\n');
}

/** Text between double quotes in a shell. */
function quotable(text: string): string {
  return text.replace(/["$`\\]/g, '\\$&');
}

/** The settings with the hooks; undefined if they have them already. @throws CliFault 1 */
function settingsAt(
  file: string,
  added: ReturnType<Agent['setup']['hooks']>,
  { name }: Agent,
  { withHooks, guardFiles }: typeof Hooks,
): string | undefined {
  try {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    return withHooks(text, added, join('host-tools', 'guard', name, guardFiles.launcher));
  } catch (error) {
    throw failure(
      `Cannot add the hook to ${file}: ${messageOf(error)}. Nothing was changed. Fix that file, or ` +
        'run this command with `--print` and add what it prints yourself.',
    );
  }
}

interface RulesSource {
  readonly path: string;
  readonly text: string;
}

/** @throws CliFault */
function rulesSource(
  { name }: Agent,
  installed: string,
  given: string | undefined,
  cwd: string,
): RulesSource {
  const starter = ['..', '../..'].map((up) => join(own, up, 'rules', `${name}.yaml`));
  const path =
    given === undefined
      ? [installed, ...starter].find((one) => existsSync(one))
      : resolve(cwd, given);
  if (path === undefined) throw usageFault(`Give the rules of ${name}: \`--rules FILE\`.`);
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch (error) {
    throw failure(`Cannot read the rules in ${path}: ${messageOf(error)}. Nothing was changed.`);
  }
}

/** Writes the guard, once its hook has judged a call by the rules. @throws CliFault 1 */
async function installGuard(
  agent: Agent,
  folder: string,
  rules: RulesSource,
  hooks: typeof Hooks,
): Promise<void> {
  const { digestOf, guardFiles, mayNameModules, recordName } = hooks;
  if (mayNameModules(rules.text))
    throw failure(
      `${rules.path} names a module. The hook of a guard runs no code but its own, so its tools ` +
        'have no `module`. Nothing was changed.',
    );
  const files = new Map<string, Uint8Array>([
    [guardFiles.rules, Buffer.from(rules.text)],
    [guardFiles.launcher, Buffer.from(launcher(guardFiles))],
  ]);
  for (const name of [guardFiles.hook, guardFiles.judge]) files.set(name, bundled(name));
  openPrivateFolder(folder, { closed: true, danger: 'change the rules' });
  const draft = mkdtempSync(join(dirname(folder), '.draft-'));
  try {
    for (const [name, content] of files) writeFileSync(join(draft, name), content);
    for (const [name, content] of await tried(agent, draft, rules.path, hooks))
      files.set(name, content);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  const digests = Object.fromEntries(
    [...files].map(([name, content]) => [name, digestOf(content)]),
  );
  // Those of an earlier install may not be needed any more.
  for (const name of [hooks.compiledName, hooks.parsedName])
    rmSync(join(folder, name), { force: true });
  for (const [name, content] of files)
    replaceFileSync(join(folder, name), content, {
      mode: name === guardFiles.launcher ? 0o700 : 0o600,
    });
  const record = JSON.stringify({ agent: agent.name, digests }, null, 2);
  replaceFileSync(join(folder, recordName), `${record}\n`);
}

function bundled(name: string): Uint8Array {
  const places = ['hook', '../../dist/hook'].map((folder) => join(own, folder, name));
  const path = places.find((one) => existsSync(one));
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
  { compiledName, guardFiles, parsedName }: typeof Hooks,
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
      throw failure(`${why.replaceAll(rules, shown)} Nothing was changed.`);
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
