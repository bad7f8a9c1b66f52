// tsx examples/host-loop.ts: the coding-agent preset in a host loop, with a scripted model on a
// temporary repository; then its log, replayed.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostToolRegistry } from '../src/index.ts';
import { type ScriptedTurn, scriptedModel } from '../src/surfaces/testing/index.ts';
import {
  codingAgentPreset,
  createWorkflow,
  replayTrace,
  runHostLoop,
  serializeState,
  writeTrace,
} from '../src/surfaces/workflow/index.ts';
import type { HostServices } from './coding-agent/files.ts';
import { codingAgentTools } from './coding-agent/tools.ts';
import { planLine, transcript } from './coding-agent/transcript.ts';

const FILES = {
  'README.md': '# Greeter\n\nCall `greet(name)`.\n',
  'src/greet.js': 'export function greet(name) {\n  return "Hello " + name;\n}\n',
};
const PATCH = [
  '*** Begin Patch',
  '*** Update File: src/greet.js',
  '@@',
  '-  return "Hello " + name;',
  '+  return "Hello, " + name + "!";',
  '*** End Patch',
].join('\n');

/** What the model says; `closeHost` ends the host session while it thinks about its fifth turn. */
const script = (closeHost: () => void): ScriptedTurn[] => [
  { text: 'I open the host session.', toolCalls: [{ name: 'host.session.open' }] },
  {
    text: 'I look at the code.',
    toolCalls: [
      { name: 'host.fs.read_file', arguments: { path: 'src/greet.js' } },
      { name: 'host.fs.grep', arguments: { text: 'greet' } },
    ],
  },
  {
    text: 'I change it, and look again.',
    toolCalls: [
      { name: 'host.fs.apply_patch', arguments: { patch: PATCH } },
      { name: 'host.fs.stat', arguments: { path: 'README.md' } },
      {
        name: 'host.fs.write_file',
        arguments: { path: 'docs/changes.md', content: 'Greets politely.\n' },
      },
      { name: 'host.fs.read_file', arguments: { path: 'src/greet.js', startLine: 2, maxLines: 1 } },
    ],
  },
  {
    text: 'I try what is not for me.',
    toolCalls: [
      { name: 'host.exec', arguments: { program: 'node', args: ['--eval', 'process.exit()'] } },
      { name: 'host.exec', arguments: { program: 'node', args: ['--version'] } },
      { name: 'host.fs.read_file', arguments: { path: '../secret.txt' } },
      {
        name: 'host.fs.edit_file',
        arguments: { path: 'README.md', oldText: 'Call', newText: 'Use' },
      },
    ],
  },
  () => {
    closeHost();
    return { text: 'One more look.', toolCalls: [{ name: 'host.fs.list_dir' }] };
  },
  'greet() is polite now. The host session is closed.',
];

async function main(): Promise<boolean> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'host-tools-loop-')));
  const root = join(folder, 'repository');
  const registry = new HostToolRegistry<HostServices>();
  try {
    await mkdir(join(root, 'src'), { recursive: true });
    for (const [path, content] of Object.entries(FILES)) await writeFile(join(root, path), content);
    registry.registerAll(codingAgentTools);

    const services: HostServices = {
      reads: { now: 0, most: 0 },
      writes: { now: 0, most: 0 },
      openHostSession() {
        session.setFacts({ 'hostSession.id': 'host-1', 'hostSession.status': 'ready' });
        return 'host-1';
      },
    };
    const session = registry.createSession({ sessionId: 'host-loop', cwd: root, services });
    const model = scriptedModel(script(() => session.setFacts({ 'hostSession.status': 'closed' })));

    const workflow = createWorkflow(codingAgentPreset());
    const plans: string[] = [];
    const run = await runHostLoop({
      workflow,
      session,
      generate: model,
      input: 'Make greet() polite.',
      onEvent: (event, now) => event.type === 'tool_calls_observed' && plans.push(planLine(now)),
    });
    const print = (...lines: readonly string[]) => console.log(lines.join('\n'));
    print(...transcript(run, model.requests, plans), '');
    print(
      `stopped: ${run.stopped}${run.error === undefined ? '' : ` (${run.error.message})`}; ` +
        `${run.results.length} calls`,
    );
    print(`at the same time, at most: ${services.reads.most} reads, ${services.writes.most} write`);

    const file = join(folder, 'trace.jsonl');
    await writeFile(file, writeTrace(workflow, run.events));
    const replayed = replayTrace(await readFile(file, 'utf8'));
    const hash = `sha256:${createHash('sha256').update(serializeState(run.state)).digest('hex')}`;
    print(`state:    ${hash}`);
    print(
      replayed.same
        ? `replayed: ${replayed.hash}`
        : `line ${replayed.line} differs at ${replayed.at}: ${replayed.expected} was ` +
            `${replayed.found}`,
    );
    return (
      run.stopped === 'completed' &&
      services.reads.most > 1 &&
      replayed.same &&
      replayed.hash === hash
    );
  } finally {
    await registry.close();
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
