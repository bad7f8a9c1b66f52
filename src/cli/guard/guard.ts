/** `guard`: starts a coding agent in a sandbox of the operating system. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Agent, UserHome } from '../../surfaces/agents/hooks.ts';
import { type HostPattern, isLoopback } from '../../surfaces/config/host-pattern.ts';
import { messageOf } from '../../values/errors/index.ts';
import type { CliIo } from '../cli-io.ts';
import type { Command } from '../command.ts';
import { failure, usageFault } from '../fault.ts';
import { printable, shownPath } from '../printable.ts';
import type { Screen } from '../screen.ts';
import { userHome } from '../user-home.ts';
import { guardFiles, guardFolder, readRecord, verifiedFiles } from './guard-folder.ts';
import { guardLayout } from './guard-layout.ts';
import { createGuardProxy } from './guard-proxy.ts';
import { findBubblewrap, type RunningGuard, startSandboxed } from './guard-sandbox.ts';
import { createPlaceholders, guardsTurn, removePlaceholders } from './mounts.ts';

export const guard: Command = {
  name: 'guard',
  usage: '[--host-tools FILE] -- COMMAND...',
  summary:
    'start a coding agent in a sandbox that limits what it writes and which hosts it reaches',
  notes: [
    'The agent writes in this folder, in a temporary folder of its own and in its own state; not ' +
      'in its settings, its hooks and the rules of its guard.',
    'It reaches the hosts that `network` of FILE lists. Without FILE, it is the rules that ' +
      '`hook install` has set up for the agent that COMMAND names.',
    'It needs bubblewrap (`bwrap`), and ends with the exit code of COMMAND.',
  ],
  options: ['host-tools'],
  wording: {
    'host-tools': { value: 'FILE', file: 'read', help: 'the file with the hosts, as `network`' },
  },
  operands: ['COMMAND'],
  many: true,
  async run({ io, screen, options: { sources }, operands: command }) {
    const [source, another] = sources;
    if (another !== undefined) throw usageFault('`guard` takes one `--host-tools FILE`.');
    if (command[0] === '') throw usageFault('`guard` needs COMMAND, got an empty word.');
    const user = { env: io.env, home: userHome(io.env) };
    const { agents } = await import('../../surfaces/agents/hooks.ts');
    const all = [...agents.values()];
    const agent = all.find(({ setup }) => setup.program === basename(command[0] ?? ''));
    const file =
      source === undefined ? installedRules(agent, all, user) : resolve(io.cwd, source.name);
    const { hosts, log } = await networkIn(file, source !== undefined, io, screen);
    const layout = guardLayout({
      ...{ project: io.cwd, user, agents: all, agent, command },
      file: source === undefined ? undefined : file,
      log: source === undefined ? undefined : log,
    });
    const bwrap = findBubblewrap(io.env.PATH ?? '', layout, process.platform);
    const proxy = hosts.length === 0 ? undefined : createGuardProxy(hosts);
    const turn = await guardsTurn(user);
    let isReleased = false;
    const release = (): void => {
      if (!isReleased) turn.release();
      isReleased = true;
    };
    let stop: (() => void) | undefined;
    try {
      createPlaceholders(layout.missing);
      const running = startSandboxed(bwrap, {
        ...{ layout, command, proxy, cwd: io.cwd, env: io.env, started: release },
        hostname: `host-tools-${randomBytes(4).toString('hex')}`,
        ports: loopbackPorts(hosts, portsHere),
      });
      stop = io.onSignal?.((name) => passOn(running, name));
      const exit = await running.ended;
      for (const [host, count] of proxy?.refused ?? [])
        screen.note(
          `host-tools guard: refused ${printable(host)}${count > 1 ? ` (${count} times)` : ''}.`,
        );
      return { exit, text: '', json: undefined, silent: true };
    } finally {
      stop?.();
      proxy?.close();
      release();
      const last = await guardsTurn(user);
      await removePlaceholders(layout.missing);
      last.release();
    }
  },
};

/** @throws CliFault 2 */
function installedRules(agent: Agent | undefined, all: readonly Agent[], user: UserHome): string {
  const rules =
    agent === undefined ? undefined : join(guardFolder(agent.name, user), guardFiles.rules);
  if (rules !== undefined && existsSync(rules)) {
    verified(dirname(rules));
    return rules;
  }
  throw usageFault(
    agent === undefined
      ? '`guard` needs `--host-tools FILE`: COMMAND is none of ' +
          `${all.map(({ setup }) => setup.program).join(', ')}.`
      : '`guard` needs `--host-tools FILE`, or a guard: `npx host-tools hook install ' +
          `${agent.name}\`.`,
  );
}

/** @throws CliFault 1 if the guard is not as it was installed */
function verified(folder: string): void {
  try {
    verifiedFiles(folder, readRecord(folder));
  } catch (error) {
    throw failure(messageOf(error));
  }
}

/** The hosts of a file. @throws CliFault 1 */
async function networkIn(file: string, isGiven: boolean, io: CliIo, screen: Screen) {
  const [{ networkOf }, { readHost }] = await Promise.all([
    import('../../surfaces/config/network-of.ts'),
    import('../../surfaces/config/host-pattern.ts'),
  ]);
  const found = await networkOf(file).catch((error: unknown) => {
    throw failure(messageOf(error));
  });
  const shown = shownPath(file, io.cwd);
  if (found.hosts === undefined && !found.unused.includes('rules'))
    throw failure(
      `${shown} has neither \`network\` nor \`rules\`, so it says nothing about a guard.`,
    );
  if (found.hosts === undefined)
    screen.note(`host-tools guard: ${shown} has no \`network\`, so the agent reaches no host.`);
  if (isGiven && found.unused.length > 0)
    screen.note(
      `host-tools guard: the sandbox does not use ` +
        `${found.unused.map((name) => `\`${name}\``).join(', ')} of ${shown}.`,
    );
  const hosts = (found.hosts ?? []).flatMap((text): readonly HostPattern[] => {
    const host = readHost(text);
    return host === undefined ? [] : [host];
  });
  return { hosts, log: found.log };
}

function portsHere(): readonly number[] {
  return ['tcp', 'tcp6'].flatMap((name) => {
    try {
      return listeningPorts(readFileSync(`/proc/net/${name}`, 'utf8'));
    } catch {
      return [];
    }
  });
}

/** Passes a signal on, unless the terminal has sent it to the command too. */
function passOn(running: RunningGuard, name: NodeJS.Signals): void {
  if (name === 'SIGINT' && isInForeground()) return;
  running.signal(name);
}

/** Whether this process is in the group that gets the signals of its terminal. */
function isInForeground(): boolean {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group === foreground;
}

// The ports of this machine's loopback that a list of hosts opens to a sandbox.

/**
 * The ports on which programs listen for connections of this machine.
 * @param table `/proc/net/tcp`
 */
function listeningPorts(table: string): readonly number[] {
  const ports = new Set<number>();
  for (const line of table.split('\n')) {
    const [, address, port, state] =
      /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]{2})/.exec(line) ?? [];
    if (state !== '0A' || address === undefined || port === undefined) continue;
    const isHere =
      /^0+$/.test(address) || /7F$/.test(address.slice(0, 8)) || /^0{24}01000000$/.test(address);
    if (isHere) ports.add(Number.parseInt(port, 16));
  }
  return [...ports];
}

/** The ports of the loopback that the list opens. `all`: those on which programs listen now. */
function loopbackPorts(
  hosts: readonly HostPattern[],
  all: () => readonly number[],
): readonly { readonly address: string; readonly port: number }[] {
  return hosts
    .filter(({ host, below }) => isLoopback(host) && !below)
    .flatMap(({ host, port }) =>
      (port === undefined ? all() : [port]).map((one) => ({ address: host, port: one })),
    );
}
