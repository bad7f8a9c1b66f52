/** `acp`: rules between an editor and an agent of the Agent Client Protocol. */
import { type ChildProcess, spawn } from 'node:child_process';
import { userInfo } from 'node:os';
import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import { messageOf } from '../../values/errors/index.ts';
import type { CliOutput } from '../cli-io.ts';
import { type Command, worldOptions } from '../command.ts';
import { failure, usageFault } from '../fault.ts';
import { printable } from '../printable.ts';
import { userHome } from '../user-home.ts';
import { AcpProxy } from './acp-proxy.ts';
import { linesOf } from './lines.ts';

export const acp: Command = {
  name: 'acp',
  usage: '--host-tools FILE -- COMMAND...',
  summary: 'put rules between an editor and an agent of the Agent Client Protocol',
  notes: [
    'Let the editor start this in place of COMMAND, which starts the agent.',
    'What the agent asks is answered by the rules of FILE; where none matches, or one asks, by ' +
      "the editor's user.",
    'What it does unasked is recorded as such, and cannot be stopped here.',
    'It ends with the exit code of COMMAND.',
  ],
  options: [...worldOptions, 'store', 'principal'],
  operands: ['COMMAND'],
  many: true,
  gateway: { records: true },
  keeps: true,
  fallback: 'ask',
  async run({ io, screen, options, operands: [program = '', ...args], world }) {
    if (program === '') throw usageFault('`acp` needs COMMAND, got an empty word.');
    if (options.sources.length === 0)
      throw usageFault('`acp` needs the file with the rules: `--host-tools FILE`.');
    const loaded = await world();
    loaded.requireRules();
    const child = spawn(program, args, {
      cwd: io.cwd,
      env: { ...io.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = endOf(child, program);
    const stop = (): void => void child.kill();
    io.signal.addEventListener('abort', stop, { once: true });
    const principal = options.principal ?? userInfo().username;
    const names = [program, ...args].map((word) => basename(word));
    const { agents } = await import('../../surfaces/agents/hooks.ts');
    const known = [...agents.values()].find(({ setup }) =>
      names.some((one) => one.includes(setup.program)),
    );
    const proxy = new AcpProxy({
      agent: known?.name ?? 'other',
      place: { cwd: io.cwd, project: io.cwd, home: userHome(io.env) },
      openSession: (sessionId) => loaded.session({ sessionId, principal }),
      toEditor: writer(io.stdout),
      toAgent: writer(child.stdin),
      note: (text) => screen.note(`host-tools acp: ${printable(text)}`),
    });
    child.stdin.on('error', () => undefined);
    const editor = (async () => {
      for await (const line of linesOf(io.stdin)) proxy.fromEditor(line);
    })()
      .catch(() => undefined)
      .then(() => {
        proxy.editorGone();
        child.stdin.end();
      });
    try {
      for await (const line of linesOf(child.stdout)) proxy.fromAgent(line);
      const exit = await ended;
      await proxy.agentGone();
      return { exit, text: '', json: undefined, silent: true };
    } finally {
      io.signal.removeEventListener('abort', stop);
      io.stdin.destroy();
      await editor;
    }
  },
};

/** Writes lines. */
function writer(output: CliOutput | Writable): (line: string) => void {
  return (line) => void output.write(`${line}\n`);
}

/** The exit code of a process. */
function endOf(child: ChildProcess, program: string): Promise<number> {
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => {
      reject(failure(`Cannot start \`${printable(program)}\`: ${messageOf(error)}`));
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
  ended.catch(() => undefined);
  return ended;
}
