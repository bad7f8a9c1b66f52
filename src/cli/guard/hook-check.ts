/** `hook check`: whether the guard of an agent is whole, and whether the agent runs its hook. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { agentNames } from '../../surfaces/agents/agent.ts';
import type { Agent } from '../../surfaces/agents/hooks.ts';
import { messageOf } from '../../values/errors/index.ts';
import type { CliIo } from '../cli-io.ts';
import type { Command } from '../command.ts';
import { printable } from '../printable.ts';
import { userHome } from '../user-home.ts';
import { agentNamed, eventsWith, guardCommand } from './agent-settings.ts';
import {
  checkFile,
  checkVariable,
  guardFolder,
  readRecord,
  verifiedFiles,
} from './guard-folder.ts';

/** How long an agent may take to start its hook, in milliseconds. */
const probeMs = 60_000;

/** One thing that was looked at. */
interface Finding {
  /** Undefined if it could not be found out. */
  readonly ok: boolean | undefined;
  readonly text: string;
}

export const hookCheck: Command = {
  name: 'hook check',
  usage: 'AGENT',
  summary: 'say whether a coding agent really runs the hook that `hook install` has set up',
  notes: [
    `AGENT is one of ${agentNames.join(', ')}. It is started in this folder, without a model.`,
    'The exit code is 0 if the hook is active, and 1 if it is not or if that is not known.',
  ],
  options: [],
  operands: ['AGENT'],
  async run({ io, operands: [name = ''] }) {
    const agent = await agentNamed(name);
    const findings = [
      guardFinding(agent, io),
      settingsFinding(agent, io),
      await startFinding(agent, io),
      ...switchFindings(agent, io),
    ];
    const isSetUp = findings.every(({ ok }) => ok);
    if (isSetUp) findings.push(await agentFinding(agent, io));
    const isActive = findings.every(({ ok }) => ok === true);
    const isKnown = isActive || findings.some(({ ok }) => ok === false);
    const marks = { true: 'ok', false: 'no', undefined: '??' } as const;
    const lines = findings.map(({ ok, text }) => `${marks[`${ok}`]}  ${printable(text)}`);
    const verdict = isKnown
      ? `The hook is ${isActive ? '' : 'not '}active in ${agent.title}.`
      : `It is not known whether the hook is active in ${agent.title}.`;
    lines.push(isSetUp && !isActive ? `${verdict} ${agent.setup.trust}` : verdict);
    return {
      exit: isActive ? 0 : 1,
      text: lines.join('\n'),
      json: { agent: agent.name, active: isActive, findings },
    };
  },
};

function guardFinding({ name }: Agent, io: CliIo): Finding {
  const folder = guardFolder(name, { env: io.env, home: userHome(io.env) });
  try {
    verifiedFiles(folder, readRecord(folder));
    return { ok: true, text: `${folder} is as it was installed.` };
  } catch (error) {
    return { ok: false, text: messageOf(error) };
  }
}

function settingsFinding(agent: Agent, io: CliIo): Finding {
  const at = { env: io.env, home: userHome(io.env) };
  const file = agent.setup.file(at);
  const command = guardCommand(agent, at);
  try {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    if (agent.setup.plugin !== undefined)
      return text === agent.setup.plugin(command)
        ? { ok: true, text: `${file} has the plugin.` }
        : { ok: false, text: `${file} is not the plugin that \`hook install\` writes.` };
    const found = eventsWith(text, command);
    const missing = Object.keys(agent.setup.hooks(command)).filter((one) => !found.includes(one));
    return missing.length === 0
      ? { ok: true, text: `${file} has the hook.` }
      : { ok: false, text: `${file} has no such hook for ${missing.join(', ')}.` };
  } catch (error) {
    return { ok: false, text: `${file} cannot be read: ${messageOf(error)}.` };
  }
}

/** Settings of the project and of the folders above it that turn the hook off. */
function switchFindings({ title, setup: { switches = [] } }: Agent, io: CliIo): Finding[] {
  const findings: Finding[] = [];
  for (let folder = io.cwd, last = ''; folder !== last; last = folder, folder = dirname(folder))
    for (const file of switches.map((one) => join(folder, one)))
      if (existsSync(file) && /"disableAllHooks"\s*:\s*true/.test(readFileSync(file, 'utf8')))
        findings.push({
          ok: false,
          text: `${file} has \`disableAllHooks\`. ${title} runs no hook if you trust its folder.`,
        });
  return findings;
}

/** Runs the command as an agent does, with an event that needs no decision. */
async function startFinding(agent: Agent, io: CliIo): Promise<Finding> {
  const command = guardCommand(agent, { env: io.env, home: userHome(io.env) });
  const { code, text } = await ran('sh', ['-c', command], io, {}, (stdin) =>
    stdin.end(
      JSON.stringify({
        [agent.sessionMember ?? 'session_id']: 'check',
        ...{ cwd: io.cwd, hook_event_name: 'SessionStart' },
      }),
    ),
  );
  return code === 0
    ? { ok: true, text: 'The command of the hook starts it.' }
    : { ok: false, text: `The command of the hook ends with ${code}: ${text.slice(0, 500)}` };
}

async function agentFinding(agent: Agent, io: CliIo): Promise<Finding> {
  const { program, probe } = agent.setup;
  if (probe.kind === 'none')
    return { ok: undefined, text: `${agent.title} cannot be asked whether it runs the hook.` };
  const folders = (io.env.PATH ?? '').split(delimiter).filter((one) => one !== '');
  const path = folders.map((one) => join(one, program)).find((one) => existsSync(one));
  if (path === undefined)
    return { ok: undefined, text: `\`${program}\` is not in PATH, so it was not asked.` };
  return probe.kind === 'prompt' ? prompted(agent, path, io) : listed(agent, path, io);
}

/** Starts the agent with a prompt. Its hook notes that it runs, and stops the prompt. */
async function prompted(
  { title, setup: { probe } }: Agent,
  path: string,
  io: CliIo,
): Promise<Finding> {
  if (probe.kind !== 'prompt') throw new Error('The agent takes no prompt.');
  const number = randomBytes(16).toString('hex');
  const file = checkFile(number) as string;
  // A model is asked only if no hook runs. This one has no answer.
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const env = { ...probe.env(url), [checkVariable]: number };
    const { text } = await ran(path, probe.args, io, env, (stdin) => stdin.end());
    return existsSync(file)
      ? { ok: true, text: `${title} ran the hook before a prompt.` }
      : { ok: false, text: `${title} did not run the hook before a prompt: ${text.slice(-300)}` };
  } finally {
    rmSync(file, { force: true });
    server.close();
    server.closeAllConnections();
  }
}

/** Asks the agent for the list of its hooks. */
async function listed(agent: Agent, path: string, io: CliIo): Promise<Finding> {
  const { title, setup } = agent;
  const command = guardCommand(agent, { env: io.env, home: userHome(io.env) });
  const trusted = new Map<string, boolean>();
  let isAnswered = false;
  const args = setup.probe.kind === 'none' ? [] : setup.probe.args;
  const { text } = await ran(path, args, io, {}, (stdin, stdout, end) => {
    const send = (message: object): unknown => stdin.write(`${JSON.stringify(message)}\n`);
    const clientInfo = { name: 'host-tools', version: '1' };
    send({ id: 1, method: 'initialize', params: { clientInfo } });
    createInterface({ input: stdout }).on('line', (line) => {
      const { id, result } = objectOf(line);
      if (id === 1) {
        send({ method: 'initialized' });
        send({ id: 2, method: 'hooks/list', params: { cwds: [io.cwd] } });
      }
      if (id !== 2) return;
      isAnswered = result !== undefined;
      for (const { eventName, command: one, trustStatus, enabled } of hooksIn(result))
        if (one === command) trusted.set(eventName, trustStatus === 'trusted' && enabled !== false);
      end();
    });
  });
  if (!isAnswered)
    return { ok: undefined, text: `${title} did not list its hooks: ${text.slice(-300)}` };
  const wanted = Object.keys(setup.hooks(command)).length;
  const ok = trusted.size >= wanted && [...trusted.values()].every(Boolean);
  const state =
    trusted.size < wanted ? 'does not list all of the hooks' : 'does not trust the hooks';
  return { ok, text: ok ? `${title} trusts the hooks.` : `${title} ${state}.` };
}

function objectOf(line: string): { id?: unknown; result?: unknown } {
  try {
    const value = JSON.parse(line) as { id?: unknown; result?: unknown } | null;
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

interface ListedHook {
  readonly eventName: string;
  readonly command?: unknown;
  readonly trustStatus?: unknown;
  readonly enabled?: unknown;
}

/** The hooks in the answer of Codex 0.171: those of each folder. */
function hooksIn(result: unknown): readonly ListedHook[] {
  const { data } = (result ?? {}) as { data?: readonly { hooks?: readonly ListedHook[] }[] };
  return Array.isArray(data) ? data.flatMap(({ hooks }) => hooks ?? []) : [];
}

/** Runs a program until it ends, or until its time is over. Never rejects. */
function ran(
  path: string,
  args: readonly string[],
  io: CliIo,
  env: Readonly<Record<string, string>>,
  talk: (stdin: NodeJS.WritableStream, stdout: NodeJS.ReadableStream, end: () => void) => unknown,
): Promise<{ readonly code: number | undefined; readonly text: string }> {
  return new Promise((resolve) => {
    const child = spawn(path, [...args], { cwd: io.cwd, env: { ...io.env, ...env } });
    let text = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), probeMs);
    const stop = (): void => void child.kill('SIGKILL');
    io.signal.addEventListener('abort', stop, { once: true });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text = (text + chunk).slice(-4_000);
      });
    const done = (code: number | undefined): void => {
      clearTimeout(timer);
      io.signal.removeEventListener('abort', stop);
      resolve({ code, text: text.trim() });
    };
    child.on('error', (error) => {
      text += error.message;
      done(undefined);
    });
    child.on('close', (code) => done(code ?? undefined));
    child.stdin.on('error', () => {});
    talk(child.stdin, child.stdout, stop);
  });
}
