/** `acp`: rules between an editor and an agent of the Agent Client Protocol. */
import { type ChildProcess, spawn } from 'node:child_process';
import { userInfo } from 'node:os';
import { basename } from 'node:path';
import { messageOf } from '../../values/errors/index.ts';
import type { CliIo } from '../cli-io.ts';
import { type Command, worldOptions } from '../command.ts';
import { failure, usageFault } from '../fault.ts';
import type { Options } from '../options.ts';
import { printable } from '../printable.ts';
import { userHome } from '../user-home.ts';
import { AcpProxy } from './acp-proxy.ts';
import { LineWriter, linesOf } from './lines.ts';

/**
 * How much may wait for a reader before no more is read for it. What goes back to the writer itself
 * may be much more, since a side that writes a long line may read nothing meanwhile.
 */
const fewChars = 1_000_000;
const manyChars = 64_000_000;

export const acp: Command = {
  name: 'acp',
  usage: '--host-tools FILE -- COMMAND...',
  summary: 'put rules between an editor and an agent of the Agent Client Protocol',
  notes: [
    'Let the editor start this in place of COMMAND, which starts the agent.',
    'What the agent asks is answered by the rules of FILE; where none matches, or one asks, by ' +
      "the editor's user.",
    'What it does unasked is recorded as such, and cannot be stopped here. With ' +
      '--cancel-unasked, the turn is cancelled if the rules refuse it.',
    'It ends with the exit code of COMMAND.',
  ],
  options: [...worldOptions, 'store', 'principal', 'cancel-unasked'],
  operands: ['COMMAND'],
  many: true,
  gateway: { records: true },
  keeps: true,
  fallback: 'ask',
  async run({ io, screen, options, operands: [program = '', ...args], world }) {
    checkUsage(program, options);
    const loaded = await world();
    loaded.requireRules();
    const child = startAgent(io, program, args);
    const ended = endOf(child, program);
    const stop = (): void => void child.kill();
    io.signal.addEventListener('abort', stop, { once: true });
    const principal = options.session.principal ?? userInfo().username;
    const toEditor = new LineWriter(io.stdout, io.signal);
    const toAgent = new LineWriter(child.stdin, io.signal);
    const proxy = new AcpProxy({
      agent: await agentOf([program, ...args]),
      place: { cwd: io.cwd, project: io.cwd, home: userHome(io.env) },
      openSession: (sessionId) => loaded.session({ sessionId, principal }),
      onUnasked: options.cancelUnasked ? 'cancel' : 'record',
      toEditor: (line) => toEditor.write(line),
      toAgent: (line) => toAgent.write(line),
      note: (text) => screen.note(`host-tools acp: ${printable(text)}`),
    });
    const editor = (async () => {
      for await (const line of linesOf(io.stdin)) {
        proxy.fromEditor(line);
        await toAgent.room(fewChars);
        await toEditor.room(manyChars);
      }
    })()
      .catch(() => undefined)
      .then(() => {
        proxy.editorGone();
        child.stdin.end();
      });
    try {
      for await (const line of linesOf(child.stdout)) {
        proxy.fromAgent(line);
        await toEditor.room(fewChars);
        await toAgent.room(manyChars);
        await proxy.room();
      }
      const exit = await ended;
      await proxy.agentGone();
      // A process that ends loses what it has not written yet.
      await toEditor.room(0);
      return { exit, text: '', json: undefined, silent: true };
    } finally {
      io.signal.removeEventListener('abort', stop);
      io.stdin.destroy();
      await editor;
    }
  },
};

function checkUsage(program: string, { sources }: Options): void {
  if (program === '') throw usageFault('`acp` needs COMMAND, got an empty word.');
  if (sources.length === 0)
    throw usageFault('`acp` needs the file with the rules: `--host-tools FILE`.');
}

function startAgent({ cwd, env }: CliIo, program: string, args: readonly string[]) {
  const stdio: ['pipe', 'pipe', 'inherit'] = ['pipe', 'pipe', 'inherit'];
  const child = spawn(program, args, { cwd, env: { ...env }, stdio });
  child.stdin.on('error', () => undefined);
  return child;
}

/** The agent that a command line starts, by the names in it. */
async function agentOf(words: readonly string[]): Promise<string> {
  const { agents } = await import('../../surfaces/agents/hooks.ts');
  const names = words.map((word) => basename(word));
  const known = [...agents.values()].find(({ setup }) =>
    names.some((one) => one.includes(setup.program)),
  );
  return known?.name ?? 'other';
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
