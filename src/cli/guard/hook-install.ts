/**
 * `hook install`: puts a guard where the agent's own tools may not write, and adds it to the
 * agent's settings.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { agentNames } from '../../surfaces/agents/agent-names.ts';
import type { Agent, HookGroups } from '../../surfaces/agents/hooks.ts';
import { messageOf } from '../../values/errors/index.ts';
import { makeFolder } from '../../values/files/private-folder.ts';
import { placeOf } from '../../values/files/same-file.ts';
import { replaceFileSync } from '../../values/files/whole-file.ts';
import type { Command } from '../command.ts';
import { failure, usageFault } from '../fault.ts';
import { jsonText, printable } from '../printable.ts';
import { shownPath } from '../shown-path.ts';
import { userHome } from '../user-home.ts';
import { withHooks } from './agent-settings.ts';
import { agentNamed, guardCommand } from './guard-command.ts';
import { guardFiles, guardFolder } from './guard-folder.ts';
import { installGuard, ownFile, type RulesSource } from './install-guard.ts';

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
    const settings = settingsAt(file, added, agent);
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
      ...jsonText({ hooks: added }, 2)
        .split('\n')
        .map((line) => `     ${line}`),
      `3. ${agent.setup.trust}`,
      `4. Check that the agent runs it: \`npx host-tools hook check ${agent.name}\`.`,
    ];
    return {
      exit: 0,
      text: text.map((line) => printable(line)).join('\n'),
      json: {
        ...{ agent: agent.name, installed: !options.print, folder, rules, command, file },
        settings: { hooks: added },
        trust: agent.setup.trust,
      },
    };
  },
};

/** The settings with the hooks; undefined if they have them already. @throws CliFault 1 */
function settingsAt(file: string, added: HookGroups, { name }: Agent): string | undefined {
  try {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    return withHooks(text, added, join('host-tools', 'guard', name, guardFiles.launcher));
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
