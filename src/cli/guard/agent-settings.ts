/** The hooks in the settings of an agent, and the line that starts one. All agents share a form. */

import { join } from 'node:path';
import { agentNames } from '../../surfaces/agents/agent.ts';
import type { Agent, HookGroups, UserHome } from '../../surfaces/agents/hooks.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { usageFault } from '../fault.ts';
import { withoutComments } from '../gateway/read-toml.ts';
import { meant } from '../options.ts';
import { guardFiles, guardFolder } from './guard-folder.ts';

/**
 * Adds hooks to settings. Those of an earlier install are replaced: their command names the same
 * program. Everything else stays as it is.
 * @param text The settings; undefined if there is no file.
 * @param program What the command of our hooks contains, and no other.
 * @param beside What they need besides, unless they have it.
 * @returns undefined if the settings have the hooks already
 * @throws Error if the settings are not of that form
 */
export function withHooks(
  text: string | undefined,
  hooks: HookGroups,
  program: string,
  beside: JsonObject = {},
): string | undefined {
  const settings = parsed(text);
  const { hooks: found = {} } = settings;
  if (!isJsonObject(found)) throw new Error('`hooks` is not an object');
  const all = new Map<string, JsonValue>(Object.entries(found));
  for (const [event, groups] of Object.entries(hooks)) {
    const before = all.get(event) ?? [];
    if (!Array.isArray(before)) throw new Error(`\`hooks.${event}\` is not a list`);
    all.set(event, [...before.flatMap((group) => withoutOurs(group, program)), ...groups]);
  }
  const merged = { ...beside, ...settings, hooks: Object.fromEntries(all) };
  if (JSON.stringify(merged) === JSON.stringify(settings)) return undefined;
  const [, indent = '  '] = /^\s*\{\s*\n([ \t]+)/.exec(text ?? '') ?? [];
  return `${JSON.stringify(merged, null, indent)}\n`;
}

/**
 * The events of settings that have a hook with this command, whatever else they have. Comments are
 * no fault: Gemini CLI allows them, and such a file is written by hand.
 */
export function eventsWith(text: string | undefined, command: string): readonly string[] {
  const { hooks } = parsed(text === undefined ? undefined : withoutComments(text));
  if (!isJsonObject(hooks)) return [];
  return Object.entries(hooks)
    .filter(([, groups]) => commandsOf(groups).includes(command))
    .map(([event]) => event);
}

function parsed(text: string | undefined): JsonObject {
  if (text === undefined || text.trim() === '') return {};
  const settings = JSON.parse(text) as JsonValue;
  if (!isJsonObject(settings)) throw new Error('it is not an object');
  return settings;
}

function commandsOf(groups: JsonValue | undefined): readonly string[] {
  return (Array.isArray(groups) ? groups : [])
    .flatMap((group) =>
      isJsonObject(group) && Array.isArray(group.hooks)
        ? (group.hooks as readonly JsonValue[])
        : [group],
    )
    .flatMap((hook) => commandOf(hook) ?? []);
}

/** Copilot CLI has a command for each shell. */
function commandOf(hook: JsonValue): string | undefined {
  if (!isJsonObject(hook)) return undefined;
  const command = hook.command ?? hook.bash;
  return typeof command === 'string' ? command : undefined;
}

/** The group without our hooks; nothing if it had no others. */
function withoutOurs(group: JsonValue, program: string): readonly JsonValue[] {
  const isOurs = commandsOf([group]).some((one) => one.includes(program));
  if (!isOurs || !isJsonObject(group)) return [group];
  const hooks = (Array.isArray(group.hooks) ? (group.hooks as readonly JsonValue[]) : []).filter(
    (hook) => !commandOf(hook)?.includes(program),
  );
  return hooks.length === 0 ? [] : [{ ...group, hooks }];
}

// The agent of a command line, and the line by which it starts the hook of a guard.

/** @throws CliFault 2 */
export async function agentNamed(name: string): Promise<Agent> {
  // Loaded here, because no other command needs the definitions of the agents' tools.
  const { agents } = await import('../../surfaces/agents/hooks.ts');
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
export function guardCommand({ name }: Agent, user: UserHome): string {
  const program = join(guardFolder(name, user), guardFiles.launcher);
  const path = program.startsWith(join(user.home, '.config/'))
    ? `"$HOME${quotable(program.slice(user.home.length))}"`
    : `"${quotable(program)}"`;
  // Agents take every exit code but 2 for "go on".
  return `${path} || exit 2`;
}

/** What starts the hook. With Node named here, the agent's settings outlive an update of Node. */
export function launcher(): string {
  const { hook } = guardFiles;
  const missing = 'host-tools: the guard has no hook.cjs: run `npx host-tools hook install` again.';
  return [
    '#!/bin/sh',
    '# Installed by `npx host-tools hook install`.',
    `[ -f "\${0%/*}/${hook}" ] || { echo '${missing} The call is blocked.' >&2; exit 2; }`,
    `exec "${quotable(process.execPath)}" "\${0%/*}/${hook}"`,
    '',
  ].join('\n');
}

/** Text between double quotes in a shell. */
function quotable(text: string): string {
  return text.replace(/["$`\\]/g, '\\$&');
}
